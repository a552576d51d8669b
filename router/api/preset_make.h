/* What a preset consists of when Ollama's create asks for one: members of the request over those of
 * the model that it is made from. Pure; any thread. */
#ifndef QN_API_PRESET_MAKE_H
#define QN_API_PRESET_MAKE_H

#include "base/arena.h"
#include "base/json.h"

/* Older clients send a Modelfile's text ("modelfile"): it becomes an object with the members that
 * newer ones send. *doc is the caller's; NULL: there is no such text. */
qn_err qn_preset_modelfile(const struct qn_jref *body, struct qn_json **doc, struct qn_error *e);

/* The preset as the catalog keeps it, in the arena. base: the preset that it starts from, or "{}".
 */
qn_err qn_preset_make(const struct qn_jref *body, const char *base, struct qn_arena *arena,
                      const char **out, struct qn_error *e);

#endif
