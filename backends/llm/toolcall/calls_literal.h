/* Calls written like those of a programming language: f(a=1, b='x') as in Python, and Gemma's
 * call:f{a:1,b:<|"|>x<|"|>}. Values are converted to JSON as they arrive. */
#ifndef QN_LLM_TOOLCALL_CALLS_LITERAL_H
#define QN_LLM_TOOLCALL_CALLS_LITERAL_H

#include "llm/toolcall/calls_json.h"

struct qn_literal_calls {
    const char *before; /* before each name; "": none */
    const char *quote;  /* before and after strings, which then contain no escapes; NULL: ' and " as
                           in Python */
    char open, equals, end;           /* before, within and after the arguments: ( = ) or { : } */
    bool list;                        /* [f(), g()]; calls are also written as a list */
    const char *close[2];             /* texts that may follow the calls; the first is used for
                                         writing */
    const struct qn_json_calls *json; /* optional: parses an object that appears instead of a
                                         name */
    const char *method; /* optional: text between the name and the arguments that belongs to
                           neither */
};

extern const struct qn_form qn_calls_literal; /* how: struct qn_literal_calls */

#endif
