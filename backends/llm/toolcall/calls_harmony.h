/* OpenAI's harmony syntax: the output is a sequence of messages, each with a header that names its
 * channel and recipient. <|channel|>analysis<|message|> begins reasoning, other channels text, and
 * a header with to=functions.f a call of f. */
#ifndef QN_LLM_TOOLCALL_CALLS_HARMONY_H
#define QN_LLM_TOOLCALL_CALLS_HARMONY_H

#include "llm/toolcall/calls_parse.h"

extern const struct qn_form qn_calls_harmony;

#endif
