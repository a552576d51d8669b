/* OpenAI's harmony: an answer is messages, each with a header that says its channel and whom it is
 * for. <|channel|>analysis<|message|> begins reasoning, other channels text, and a header with
 * to=functions.f a call of f. */
#ifndef QN_LLM_TOOLCALL_CALLS_HARMONY_H
#define QN_LLM_TOOLCALL_CALLS_HARMONY_H

#include "llm/toolcall/calls_parse.h"

extern const struct qn_form qn_calls_harmony;

#endif
