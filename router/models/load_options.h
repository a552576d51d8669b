/* The load options of a child, besides its files and its context: the options of its backend type,
 * each from the strongest layer that has it, and validation of their values. Pure. */
#ifndef QN_MODELS_LOAD_OPTIONS_H
#define QN_MODELS_LOAD_OPTIONS_H

#include "base/buf.h"
#include "base/json.h"
#include "contract/backend_types.h"

/* Facts that only the server knows. */
struct qn_load_places {
    /* Appends the path of the file of the model with that name. QN_ENOTFOUND. */
    qn_err (*model_file)(void *ctx, const char *name, struct qn_buf *path, struct qn_error *e);
    void *ctx;
    const char
        *data_dir; /* of the server: prefixes/ holds saved prompt caches, weights/ packed weights */
    const char *name; /* of the model that is loaded */
};

/* Appends to out a JSON object of those members of `object` that are options of this type: what a
 * load request asks for. A member with an invalid value is included. */
void qn_load_options_of(const struct qn_backend_type *type, const struct qn_jref *object,
                        struct qn_buf *out);

/* Checks a value for an option; null is valid and means unset. Accesses no file. QN_EINVAL with the
 * value's place in the document. */
qn_err qn_load_option_check(const struct qn_load_option *o, const struct qn_jref *v,
                            struct qn_error *e);

/* True when the JSON object `options` has a value for the option that an error's param is about
 * ("lora" for "lora[0].path"). NULL and "" allowed. */
bool qn_load_options_name(const char *options, const char *param);

/* The first option in the object, of any backend type, that has a value and that only admins may
 * set; NULL: none. The result is a string constant. */
const char *qn_load_options_for_admins(const struct qn_jref *object);

/* Why an option of Lemonade's clients has no effect in quince, as the end of a sentence about it;
 * NULL: unknown option. A load ignores such an option and reports that; it is never saved. */
const char *qn_load_option_idle(const char *name);

enum { QN_CONTEXT_MAX = 16 * 1024 * 1024 };

/* Checks ctx_size and the options of a model's type before they are saved or used for a load: an
 * invalid saved value would make every load fail. Other members are ignored, since they may belong
 * to other programs. type MAY be NULL. QN_EINVAL with the place in the document. */
qn_err qn_load_options_check(const struct qn_backend_type *type, const struct qn_jref *object,
                             struct qn_error *e);

/* Checks the length of the value of the option lora, before anything is done with its items. A
 * value that is not an array is ignored. QN_EINVAL, as by qn_load_options_check. */
qn_err qn_load_adapters_count(const struct qn_jref *list, struct qn_error *e);

/* Appends the JSON object for the child. layers [n]: JSON objects, strongest first; their members
 * that are not options of the type, or null, are left out. QN_EINVAL with the option as param. */
qn_err qn_load_options_merge(const struct qn_backend_type *type, const char *const *layers,
                             size_t n, const struct qn_load_places *places, struct qn_buf *out,
                             struct qn_error *e);

/* Appends a JSON object of the layers' options, as clients write them, that are plain values for
 * the child or choose an engine: the part that a health report may show. */
void qn_load_options_plain(const struct qn_backend_type *type, const char *const *layers, size_t n,
                           struct qn_buf *out);

#endif
