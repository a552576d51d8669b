/* The computing devices of this machine, as quince-probe prints them: the probe runs once, when the
 * information is first needed, and its output is kept. Drivers are loaded in that process only,
 * never in the router; a driver that hangs delays the caller by at most QN_DEVICES_LIMIT_MS. Loop
 * thread only. */
#ifndef QN_MODELS_DEVICES_H
#define QN_MODELS_DEVICES_H

#include "base/json.h"
#include "io/loop.h"

enum { QN_DEVICES_LIMIT_MS = 10000, QN_DEVICES_OUTPUT_MAX = 1024 * 1024 };

struct qn_devices;

/* Lent for the call. */
struct qn_devices_view {
    const struct qn_json *doc;           /* an object, see tools/probe/main.c; NULL: see error */
    const char *error;                   /* "" when doc is set */
    int64_t disk_bytes, disk_free_bytes; /* of the file system of the models' folder; -1: unknown */
};

typedef void (*qn_devices_fn)(void *ctx, const struct qn_devices_view *view);

/* program: path of quince-probe; models_dir: the folder of the models. Both are copied. */
struct qn_devices *qn_devices_new(struct qn_loop *l, const char *program, const char *models_dir);
void qn_devices_free(struct qn_devices *d); /* after the loop has been freed; NULL allowed */

/* fn is called exactly once, never from within this call. The call cannot be cancelled. */
void qn_devices_ask(struct qn_devices *d, qn_devices_fn fn, void *ctx);

#endif
