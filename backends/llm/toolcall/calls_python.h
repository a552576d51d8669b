/* The text after Llama's <|python_tag|>: a call in JSON, a built-in tool's
 * search.call(query="..."), or a program for the tool that runs programs. */
#ifndef QN_LLM_TOOLCALL_CALLS_PYTHON_H
#define QN_LLM_TOOLCALL_CALLS_PYTHON_H

#include "llm/toolcall/calls_literal.h"

struct qn_python_calls {
    const struct qn_json_calls *json;
    const struct qn_literal_calls *method;
};

extern const struct qn_form qn_calls_python; /* how: struct qn_python_calls */

#endif
