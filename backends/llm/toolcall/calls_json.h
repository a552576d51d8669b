/* Calls written as JSON objects that hold a name and its arguments, alone, in a list or one after
 * another: {"name": "f", "arguments": {...}}. */
#ifndef QN_LLM_TOOLCALL_CALLS_JSON_H
#define QN_LLM_TOOLCALL_CALLS_JSON_H

#include "llm/toolcall/calls_parse.h"

struct qn_json_calls {
    const char *close[2]; /* what may end the block, each of them; NULL: nothing does */
    bool name_is_key;     /* {"f": {...}} */

    /* How calls are written; NULL: nothing stands there. */
    const char *lead;           /* in front of the opener */
    const char *begin;          /* behind it: "[" */
    const char *before, *after; /* around a name; NULL: {"name": " and ", "arguments": */
    const char *between;        /* two calls; NULL: one call is made, or each has its own block */
    const char *end;            /* behind the last call: "]" */
    bool blocks;                /* each call has its own block: opener, begin, end and close */
    bool unclosed;              /* close[0] is not written */
};

extern const struct qn_form qn_calls_json; /* how: struct qn_json_calls */

#endif
