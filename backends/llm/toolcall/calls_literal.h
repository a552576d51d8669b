/* Calls written in the way of a programming language: f(a=1, b='x') as in Python, and Gemma's
 * call:f{a:1,b:<|"|>x<|"|>}. Values become JSON while they come. */
#ifndef QN_LLM_TOOLCALL_CALLS_LITERAL_H
#define QN_LLM_TOOLCALL_CALLS_LITERAL_H

#include "llm/toolcall/calls_json.h"

struct qn_literal_calls {
    const char *before; /* in front of each name; "": nothing */
    const char *quote;  /* around strings, which then hold no escapes; NULL: ' and " as in Python */
    char open, equals, end;           /* around and within the arguments: ( = ) or { : } */
    bool list;                        /* [f(), g()]; written so */
    const char *close[2];             /* what may follow; the first is written */
    const struct qn_json_calls *json; /* MAY: where an object comes instead of a name */
    const char *method; /* MAY: may stand between the name and the arguments, no part of it */
};

extern const struct qn_form qn_calls_literal; /* how: struct qn_literal_calls */

#endif
