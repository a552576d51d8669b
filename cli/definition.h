/* Models as JSON definitions, for the transfer between machines: one, several, or a file in the
 * format of user_models.json. Pure. */
#ifndef QN_CLI_DEFINITION_H
#define QN_CLI_DEFINITION_H

#include "base/json.h"

#include <stdbool.h>

/* Appends the definition of a model from the server's entry: model_name, checkpoint or checkpoints,
 * recipe, labels, size, mmproj, image_defaults, recipe_options. Empty members are omitted. */
void qn_definition_write(const struct qn_jref *entry, struct qn_jw *w);

/* Iterates over the definitions of a document: an object with a checkpoint, an array of such
 * objects, or an object whose members are such objects under their names. *it must be zeroed before
 * the first call. False: no further definition. */
struct qn_definition_walk {
    struct qn_jref root, at;
    bool begun;
};
bool qn_definition_next(struct qn_definition_walk *walk, struct qn_jref *definition);

/* Appends the body of POST models/register. The name is `name`, else the definition's own, else its
 * key, prefixed with "user.". QN_EINVAL: the definition is incomplete or too long, as the message
 * says. */
qn_err qn_definition_register(const struct qn_jref *definition, const char *name,
                              struct qn_buf *out, struct qn_error *e);

#endif
