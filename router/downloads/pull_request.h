/* Makes orders from clients' requests: from a name, or from a request that says where files come
 * from. Loop thread; sends no request to a hub. */
#ifndef QN_DOWNLOADS_PULL_REQUEST_H
#define QN_DOWNLOADS_PULL_REQUEST_H

#include "base/arena.h"
#include "base/json.h"
#include "catalog/catalog.h"
#include "downloads/pull_order.h"
#include "models/models.h"

#include <stdbool.h>

/* The environment for orders; outlives the loop. */
struct qn_puller {
    const struct qn_models *models;
    const struct qn_web *web; /* how other machines are reached; copy it to add a stop flag */
    const char *model_source; /* the setting: the hub of names without one */
    struct qn_pulls *pulls;
};

struct qn_pull_asked {
    struct qn_pull_order order; /* strings are in the arena */
    bool here; /* the model is on this machine and need not be downloaded; the order has its name,
                  recipe and main checkpoint */
    const char *admin_only; /* why only an admin may order this: a sentence, in the arena; NULL: all
                               clients that may pull */
};

/* From a name alone: a model of the catalog, of the built-in list, or, if ollama is set, anything
 * that Ollama's clients accept ("llama3.2:1b", "hf.co/owner/repo:Q8_0"). upgrade: an existing model
 * is looked up at its hub again. QN_ENOTFOUND with param "model": unknown; QN_EUNSUPPORTED: it
 * cannot be run here. */
qn_err qn_pull_by_name(const struct qn_puller *p, const char *name, bool ollama, bool upgrade,
                       struct qn_arena *a, struct qn_pull_asked *out, struct qn_error *e);

/* From the body of POST pull. An admin may redefine a name that is in use. Other clients may pull
 * what the name means already, or add a name without a meaning; otherwise admin_only is set and the
 * order is unset. QN_EINVAL: a member is invalid; the message names it. */
qn_err qn_pull_by_request(const struct qn_puller *p, const struct qn_jref *root, bool admin,
                          struct qn_arena *a, struct qn_pull_asked *out, struct qn_error *e);

/* True when the model's files come from the source that the order names. */
bool qn_pull_same_source(const struct qn_model_row *row, const struct qn_pull_order *order);

/* Copies what such a body says of a model besides its source into the order: labels, image_defaults
 * and recipe_options (checked by the order's recipe). */
qn_err qn_pull_describe(const struct qn_jref *root, struct qn_arena *a, struct qn_pull_order *out,
                        struct qn_error *e);

#endif
