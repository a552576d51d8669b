/* Makes a preset for Ollama's create: members of the request override those of the model that it is
 * made from. Pure; any thread. */
#ifndef QN_API_PRESET_MAKE_H
#define QN_API_PRESET_MAKE_H

#include "base/arena.h"
#include "base/json.h"

/* Older clients send a Modelfile's text ("modelfile"): it is converted to an object with the
 * members that newer clients send. The caller frees *doc; NULL: the body has no such text. */
qn_err qn_preset_modelfile(const struct qn_jref *body, struct qn_json **doc, struct qn_error *e);

/* Makes the preset in the form that the catalog stores, in the arena. base: the preset that it
 * starts from, or "{}". */
qn_err qn_preset_make(const struct qn_jref *body, const char *base, struct qn_arena *arena,
                      const char **out, struct qn_error *e);

#endif
