/* Calls written as JSON objects with a name and arguments, as a single object, in a list or one
 * after another: {"name": "f", "arguments": {...}}. */
#ifndef QN_LLM_TOOLCALL_CALLS_JSON_H
#define QN_LLM_TOOLCALL_CALLS_JSON_H

#include "llm/toolcall/calls_parse.h"

struct qn_json_calls {
    const char *close[2]; /* texts that may end the block; NULL: none */
    bool name_is_key;     /* {"f": {...}} */

    /* How calls are written; NULL: the text is omitted. */
    const char *lead;           /* before the opener */
    const char *begin;          /* after the opener: "[" */
    const char *before, *after; /* before and after a name; NULL: {"name": " and ", "arguments": */
    const char *between;        /* between two calls; NULL: only one call is made, or each has its
                                   own block */
    const char *end;            /* after the last call: "]" */
    bool blocks;                /* each call has its own block: opener, begin, end and close */
    bool unclosed;              /* close[0] is not written */
};

extern const struct qn_form qn_calls_json; /* how: struct qn_json_calls */

#endif
