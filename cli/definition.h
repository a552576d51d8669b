/* Models as JSON definitions, which travel between machines: one, several, or a file of the kind
 * that is called user_models.json. Pure. */
#ifndef QN_CLI_DEFINITION_H
#define QN_CLI_DEFINITION_H

#include "base/json.h"

#include <stdbool.h>

/* Appends the definition of a model as the server describes it: model_name, checkpoint or
 * checkpoints, recipe, labels, size, mmproj, image_defaults, recipe_options. What is empty is left
 * out. */
void qn_definition_write(const struct qn_jref *entry, struct qn_jw *w);

/* Steps through the definitions of a document: an object with a checkpoint, an array of such
 * objects, or an object whose members are such objects, named by their keys. The first call takes
 * *it zeroed. False: there are no more. */
struct qn_definition_walk {
    struct qn_jref root, at;
    bool begun;
};
bool qn_definition_next(struct qn_definition_walk *walk, struct qn_jref *definition);

/* Appends the body of POST models/register. The name is `name`, or the definition's own, or its
 * key, with "user." before it. QN_EINVAL says what is missing. */
qn_err qn_definition_register(const struct qn_jref *definition, const char *name,
                              struct qn_buf *out, struct qn_error *e);

#endif
