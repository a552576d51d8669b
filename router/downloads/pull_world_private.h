/* Shared by the files that implement pull_world.h. No other file includes this. */
#ifndef QN_DOWNLOADS_PULL_WORLD_PRIVATE_H
#define QN_DOWNLOADS_PULL_WORLD_PRIVATE_H

#include "downloads/pull_world.h"

#define QN_PULL_ARCHIVE "archive" /* the role of a file that is to be unpacked */

enum { QN_PULL_PLAN_BYTES_MAX = 64 * 1024 * 1024 };

/* ---- pull_world.c ---- */

/* The place of a file in the store. QN_EFORMAT: the catalog's row of it is damaged. */
qn_err qn_pull_spot(const struct qn_download_file *f, struct qn_store_spot *out,
                    struct qn_error *e);
/* True for a file of this machine that only has to be registered. */
bool qn_pull_is_local(const struct qn_download_file *f);

/* ---- the steps: see struct qn_pull_steps; ctx is a struct qn_pull_world ---- */

qn_err qn_pull_world_resolve(void *ctx, const struct qn_pull_order *order, const atomic_bool *stop,
                             struct qn_pull_plan **out, struct qn_error *e);
qn_err qn_pull_world_fetch(void *ctx, struct qn_pull_part *parts, size_t n, const atomic_bool *stop,
                           struct qn_error *e);
void qn_pull_world_finish(void *ctx, const struct qn_pull_order *order,
                          const struct qn_download_file *files, size_t n, const atomic_bool *stop,
                          void (*done)(void *arg, const struct qn_error *e), void *arg);

#endif
