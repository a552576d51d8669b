/* What this machine computes with, as quince-probe prints it: asked for once, when somebody wants
 * to know, and kept. Drivers are loaded in that process, never here, and one that hangs costs the
 * asker QN_DEVICES_LIMIT_MS. Loop thread only. */
#ifndef QN_MODELS_DEVICES_H
#define QN_MODELS_DEVICES_H

#include "base/json.h"
#include "io/loop.h"

enum { QN_DEVICES_LIMIT_MS = 10000, QN_DEVICES_OUTPUT_MAX = 1024 * 1024 };

struct qn_devices;

/* Lent for the call. */
struct qn_devices_view {
    const struct qn_json *doc; /* an object, see tools/probe/main.c; NULL: error says why */
    const char *error;         /* "" when doc is there */
    int64_t disk_bytes, disk_free_bytes; /* where models are kept; -1: unknown */
};

typedef void (*qn_devices_fn)(void *ctx, const struct qn_devices_view *view);

/* program: quince-probe; models_dir: where models are kept. Both are copied. */
struct qn_devices *qn_devices_new(struct qn_loop *l, const char *program, const char *models_dir);
void qn_devices_free(struct qn_devices *d); /* after the loop has been freed; NULL allowed */

/* fn is called once, never from within. It cannot be called off. */
void qn_devices_ask(struct qn_devices *d, qn_devices_fn fn, void *ctx);

#endif
