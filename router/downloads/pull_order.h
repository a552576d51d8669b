/* A download order: a model's name, and where its files come from. A plain value that is kept as
 * JSON in the catalog, so that a download can go on after a restart even if the list of models has
 * changed. */
#ifndef QN_DOWNLOADS_PULL_ORDER_H
#define QN_DOWNLOADS_PULL_ORDER_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum { QN_PULL_ROLES_MAX = 8, QN_PULL_ORDER_MAX = 64 * 1024 };

struct qn_pull_checkpoint {
    const char *role; /* "main", "mmproj", "vae", "text_encoder", "draft" ... */
    const char *ref;  /* as registry/ref.h reads it */
};

/* No string except owners is NULL; "" means unset. */
struct qn_pull_order {
    const char *model;  /* the name that the model will have */
    const char *recipe; /* "llamacpp"; "": chosen by the files */
    const char *source; /* the hub of names without one: "huggingface" or "modelscope" */
    const char *mmproj; /* the projector's file name in the main repository, or "auto" */
    const char *labels; /* JSON array of strings */
    const char
        *extras; /* JSON object: members that lists of models show unchanged (image_defaults) */
    const char *options; /* JSON object: load options that are saved with the model */
    const char *owners;  /* only for an order from the catalog: see pull_owners.h */
    bool local;          /* use files of this machine only, send no request */
    bool redefines; /* ordered by an admin: the name becomes this model whatever it means by then */
    struct qn_pull_checkpoint checkpoints[QN_PULL_ROLES_MAX]; /* "main" is the first */
    size_t n;
};

/* Appends the JSON object. */
void qn_pull_order_write(const struct qn_pull_order *o, struct qn_buf *out);

/* Appends a JSON object of the checkpoints' addresses by their roles, as the catalog stores it.
 * At most QN_PULL_ORDER_MAX bytes. */
void qn_pull_order_write_checkpoints(const struct qn_pull_order *o, struct qn_buf *out);

/* Parses what qn_pull_order_write wrote; strings are in the arena. QN_EFORMAT. */
qn_err qn_pull_order_read(const char *json, struct qn_arena *a, struct qn_pull_order *out,
                          struct qn_error *e);

/* A copy with its strings in the arena. */
void qn_pull_order_copy(const struct qn_pull_order *o, struct qn_arena *a,
                        struct qn_pull_order *out);

/* True when both have the same checkpoints, projector and hub, and so the same files. */
bool qn_pull_order_same(const struct qn_pull_order *a, const struct qn_pull_order *b);

#endif
