/* Calls whose name stands outside of the JSON of their arguments: begin f separator {...} end. */
#ifndef QN_LLM_TOOLCALL_CALLS_NAMED_H
#define QN_LLM_TOOLCALL_CALLS_NAMED_H

#include "llm/toolcall/calls_json.h"

struct qn_named_calls {
    const char *lead;         /* MAY: all up to and with this is skipped before the name */
    const char *prefix;       /* MAY: in front of names, no part of them */
    const char *separator[2]; /* what may follow the name */
    const char *id;           /* MAY: separates the name from an id */
    const char *kind;         /* MAY: stands in the name's place, and the name on a line of its own
                                 behind the separator */
    const char *end[4];       /* what may follow the arguments, in this order */
    const char *text;         /* MAY: the name that begins text */
    const struct qn_json_calls *list; /* MAY: where [ or { comes instead of a name */
    bool counted;                     /* the name ends in :0, and the whole of it is the id */
};

enum qn_step qn_calls_named(struct qn_parse *p); /* how: struct qn_named_calls */

#endif
