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
    /* What may follow the arguments, in this order. */
    bool fence;                       /* ``` */
    const char *end;                  /* MAY */
    const char *section_end;          /* MAY */
    const char *text;                 /* MAY: the name that begins text */
    const struct qn_json_calls *list; /* MAY: where [ or { comes instead of a name */
    bool counted;                     /* the name ends in :0, and the whole of it is the id */

    /* How calls are written. */
    const char
        *section; /* MAY: in front of the first opener; section_end then ends the last call */
    const char *between; /* two calls; NULL: one call is made */
    bool fenced;         /* with the kind, and a fence around the arguments */
};

extern const struct qn_form qn_calls_named; /* how: struct qn_named_calls */

#endif
