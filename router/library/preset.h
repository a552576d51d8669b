/* Presets: models made from other models, with a system message, parameters, a chat template and
 * the beginning of a conversation as defaults for requests. Applied to the jobs of any dialect.
 * Pure. */
#ifndef QN_LIBRARY_PRESET_H
#define QN_LIBRARY_PRESET_H

#include "dialects/dialect.h"

/* Largest size of a preset in bytes. It is limited because a preset is parsed for every request,
 * and listed, on the loop thread. */
enum { QN_PRESET_MAX = 1024 * 1024 };

/* preset: the catalog's JSON object:
 *   {"system": text, "jinja": chat template, "parameters": {as Ollama names them},
 *    "messages": [as in contract/message_json.h]}; other members are only shown.
 * Sets values of rq's jobs and its context that are unset. QN_EINVAL: the preset is damaged. */
qn_err qn_preset_apply(const char *preset, struct qn_request *rq, struct qn_error *e);

#endif
