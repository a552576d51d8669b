/* Calls written as JSON objects that hold a name and its arguments, alone, in a list or one after
 * another: {"name": "f", "arguments": {...}}. */
#ifndef QN_LLM_TOOLCALL_CALLS_JSON_H
#define QN_LLM_TOOLCALL_CALLS_JSON_H

#include "llm/toolcall/calls_parse.h"

struct qn_json_calls {
    const char *close[2]; /* what may end the block, each of them; NULL: nothing does */
    bool name_is_key;     /* {"f": {...}} */
};

enum qn_step qn_calls_json(struct qn_parse *p); /* how: struct qn_json_calls */

#endif
