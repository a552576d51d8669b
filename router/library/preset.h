/* Models made from other models: a system message, parameters, a chat template and the beginning of
 * a conversation that a request gets which does not bring its own. Applied to the jobs that any
 * dialect has made. Pure. */
#ifndef QN_LIBRARY_PRESET_H
#define QN_LIBRARY_PRESET_H

#include "dialects/dialect.h"

/* Bytes: a preset is read for each request, and shown, in a turn of the loop. */
enum { QN_PRESET_MAX = 1024 * 1024 };

/* preset: the catalog's JSON object:
 *   {"system": text, "jinja": chat template, "parameters": {as Ollama names them},
 *    "messages": [as in contract/message_json.h]}; further members are only shown.
 * Changes rq's jobs and context where they say nothing themselves. QN_EINVAL: the preset is
 * damaged. */
qn_err qn_preset_apply(const char *preset, struct qn_request *rq, struct qn_error *e);

#endif
