/* What somebody wants to be downloaded: a model's name, and where its files come from. The value is
 * plain and is kept as JSON in the catalog, so that a download goes on after a restart whatever has
 * become of the list that its name was found in. */
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

/* No string but the owners is NULL; "" says nothing. */
struct qn_pull_order {
    const char *model;   /* the name it will have */
    const char *recipe;  /* "llamacpp"; "": what the files need */
    const char *source;  /* the hub of names without one: "huggingface" or "modelscope" */
    const char *mmproj;  /* the projector's file name in the main repository, or "auto" */
    const char *labels;  /* JSON array of strings */
    const char *extras;  /* JSON object: what lists of models show as it is (image_defaults) */
    const char *options; /* JSON object: options of loading that are saved with it */
    const char *owners;  /* of one that the catalog keeps: see pull_owners.h */
    bool local;          /* use what is on this machine already, ask nobody */
    bool redefines;      /* an admin's: the name becomes this model whatever it means by then */
    struct qn_pull_checkpoint checkpoints[QN_PULL_ROLES_MAX]; /* "main" is the first */
    size_t n;
};

/* Appends the JSON object. */
void qn_pull_order_write(const struct qn_pull_order *o, struct qn_buf *out);

/* Reads what write has written; strings are the arena's. QN_EFORMAT. */
qn_err qn_pull_order_read(const char *json, struct qn_arena *a, struct qn_pull_order *out,
                          struct qn_error *e);

/* A copy whose strings are the arena's. */
void qn_pull_order_copy(const struct qn_pull_order *o, struct qn_arena *a,
                        struct qn_pull_order *out);

/* True when both mean the same files: checkpoints, projector and hub are the same. */
bool qn_pull_order_same(const struct qn_pull_order *a, const struct qn_pull_order *b);

#endif
