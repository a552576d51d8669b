/* Calls whose name is outside of the JSON of the arguments: begin f separator {...} end. */
#ifndef QN_LLM_TOOLCALL_CALLS_NAMED_H
#define QN_LLM_TOOLCALL_CALLS_NAMED_H

#include "llm/toolcall/calls_json.h"

struct qn_named_calls {
    const char *lead;         /* optional: everything up to its end is skipped before the name */
    const char *prefix;       /* optional: precedes names without being part of them */
    const char *separator[2]; /* what may follow the name */
    const char *id;           /* optional: separates the name from an id */
    const char *kind;         /* optional: a word in the position of the name; the name is then on a
                                 line of its own after the separator */
    /* What may follow the arguments, in this order. */
    bool fence;                       /* ``` */
    const char *end;                  /* optional */
    const char *section_end;          /* optional */
    const char *text;                 /* optional: a name that begins text instead of a call */
    const struct qn_json_calls *list; /* optional: parses [ or { in the position of a name */
    bool counted;                     /* the name ends in a counter such as :0, and the id is the
                                         name with the counter */

    /* How calls are written. */
    const char
        *section; /* optional: precedes the first opener; section_end then follows the last call */
    const char *between; /* between two calls; NULL: only one call is made */
    bool fenced;         /* written with the kind, and with a code fence around the arguments */
};

extern const struct qn_form qn_calls_named; /* how: struct qn_named_calls */

#endif
