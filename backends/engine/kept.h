/* Weights laid out for computing, kept on disk: the next load of the same model maps them and need
 * not lay them out again, in memory that every process on this machine shares.
 *
 * One file for each model, named by a hash of its path, in a folder of the user's own. What it
 * holds is used only if the model's files are those it was made of (number, size and times of the
 * inode) and this version lays weights out the same way; everything in it is checked before use
 * (formats/laidout.h). It is written in the background, at the lowest priority, beside its place,
 * and renamed when it is whole. The folder has a limit: what was used longest ago goes first. A
 * full disk, or anything else that stands in the way, is logged and costs time only. Compute thread
 * only. */
#ifndef QN_ENGINE_KEPT_H
#define QN_ENGINE_KEPT_H

#include "formats/laidout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct qn_kept;

/* path: the model's; identity: what its laid-out weights are made of. Opens what is there. Never
 * fails: then there is nothing yet. */
struct qn_kept *qn_kept_new(const char *folder, int64_t limit_bytes, const char *path,
                            uint64_t identity);
/* Stops writing and unmaps. NULL allowed. */
void qn_kept_free(struct qn_kept *k);

/* The laid-out bytes of this matrix, mapped and lent, or NULL. */
const void *qn_kept_find(struct qn_kept *k, const struct qn_laidout_matrix *which, size_t *bytes);
/* A matrix of this load, its bytes, which stay until qn_kept_free, and whether they came from
 * qn_kept_find. */
void qn_kept_add(struct qn_kept *k, const struct qn_laidout_matrix *which, const void *data,
                 bool found);
/* Begins to write all that was added, unless the file has it. */
void qn_kept_write(struct qn_kept *k);
void qn_kept_wait(struct qn_kept *k); /* until that is done */

#endif
