/* What a child is told to load with, besides its files and its context: the options of its backend
 * type, each from the strongest layer that names it, and which values they may have. Pure. */
#ifndef QN_MODELS_LOAD_OPTIONS_H
#define QN_MODELS_LOAD_OPTIONS_H

#include "base/buf.h"
#include "base/json.h"
#include "contract/backend_types.h"

/* What only the house knows. */
struct qn_load_places {
    /* Appends the file of the model of that name. QN_ENOTFOUND. */
    qn_err (*model_file)(void *ctx, const char *name, struct qn_buf *path, struct qn_error *e);
    void *ctx;
    const char
        *data_dir;    /* of the server: in prefixes/ past prompts lie, in weights/ laid-out ones */
    const char *name; /* of the model that is loaded */
};

/* Appends to out the JSON object of `object`'s members that are options of this type: what a load
 * request asks for. A false value is one, too. */
void qn_load_options_of(const struct qn_backend_type *type, const struct qn_jref *object,
                        struct qn_buf *out);

/* Is this a value that the option can have? null is one: it says nothing. Looks at no file.
 * QN_EINVAL with the place. */
qn_err qn_load_option_check(const struct qn_load_option *o, const struct qn_jref *v,
                            struct qn_error *e);

/* Does the JSON object `options` give a value to the option that an error's param is about ("lora"
 * for "lora[0].path")? NULL and "" allowed. */
bool qn_load_options_name(const char *options, const char *param);

/* The first option in the object, of whichever type, that has a value and that only admins may give
 * one; NULL: none. It is a static string. */
const char *qn_load_options_for_admins(const struct qn_jref *object);

/* Why an option of Lemonade's clients means nothing here, as the rest of a sentence about it; NULL:
 * nothing is known of it. A load goes on without such a one and says so; it is never saved. */
const char *qn_load_option_idle(const char *name);

enum { QN_CONTEXT_MAX = 16 * 1024 * 1024 };

/* ctx_size and the options of a model's type, to be saved with it or loaded with: a value that an
 * option cannot have would spoil every load. What else the object holds is other programs'
 * business. type MAY be NULL. QN_EINVAL with the place. */
qn_err qn_load_options_check(const struct qn_backend_type *type, const struct qn_jref *object,
                             struct qn_error *e);

/* Appends the JSON object for the child. layers [n]: JSON objects, strongest first; what else they
 * hold, and null, is left out. QN_EINVAL with the option as param. */
qn_err qn_load_options_merge(const struct qn_backend_type *type, const char *const *layers,
                             size_t n, const struct qn_load_places *places, struct qn_buf *out,
                             struct qn_error *e);

/* Appends the JSON object of what these layers say as clients write it, of options that are plain
 * values for the child, or choose an engine: what a health report may show. */
void qn_load_options_plain(const struct qn_backend_type *type, const char *const *layers, size_t n,
                           struct qn_buf *out);

#endif
