/* From a client's words to an order: what a name, or a request that says where files come from,
 * means for downloading. Loop thread; asks nobody. */
#ifndef QN_DOWNLOADS_PULL_REQUEST_H
#define QN_DOWNLOADS_PULL_REQUEST_H

#include "base/arena.h"
#include "base/json.h"
#include "catalog/catalog.h"
#include "downloads/pull_order.h"
#include "models/models.h"

#include <stdbool.h>

/* What orders are made with and given to; outlives the loop. */
struct qn_puller {
    const struct qn_models *models;
    const struct qn_web *web; /* how other machines are asked; copy it to give it a stop flag */
    const char *model_source; /* the setting: which hub plain names mean */
    struct qn_pulls *pulls;
};

struct qn_pull_asked {
    struct qn_pull_order order; /* strings are the arena's */
    bool here; /* the model is on this machine and there is nothing to ask for; the order has its
                  name, recipe and main checkpoint */
    const char *admin_only; /* why only an admin may ask for this: a sentence, the arena's; NULL:
                               anyone who may pull */
};

/* A name alone: a model of the catalog, of the built-in list, or, where ollama says so, anything
 * that Ollama's clients may type ("llama3.2:1b", "hf.co/owner/repo:Q8_0"). upgrade: a model that is
 * here is looked up at its hub again. QN_ENOTFOUND with param "model": nobody knows it;
 * QN_EUNSUPPORTED: it cannot be run here. */
qn_err qn_pull_by_name(const struct qn_puller *p, const char *name, bool ollama, bool upgrade,
                       struct qn_arena *a, struct qn_pull_asked *out, struct qn_error *e);

/* The body of POST pull. An admin may give a name that is in use another definition. Others pull
 * what the name means already, or add a name that means nothing yet; for anything else admin_only
 * is set; the order is nothing then. QN_EINVAL names the member that is wrong. */
qn_err qn_pull_by_request(const struct qn_puller *p, const struct qn_jref *root, bool admin,
                          struct qn_arena *a, struct qn_pull_asked *out, struct qn_error *e);

/* True when the model's files come from where the order's do. */
bool qn_pull_same_source(const struct qn_model_row *row, const struct qn_pull_order *order);

/* What such a body says of a model besides where it comes from: labels, image_defaults and
 * recipe_options (checked by the order's recipe), into the order. */
qn_err qn_pull_describe(const struct qn_jref *root, struct qn_arena *a, struct qn_pull_order *out,
                        struct qn_error *e);

#endif
