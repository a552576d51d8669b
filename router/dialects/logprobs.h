/* Tokens with their probabilities, in the form that OpenAI's APIs and Ollama's share. */
#ifndef QN_ROUTER_DIALECTS_LOGPROBS_H
#define QN_ROUTER_DIALECTS_LOGPROBS_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>

/* Appends the tokens of an event's logprobs as the items of a list, with commas between them:
 * {"token","logprob","bytes","top_logprobs":[...]}. always: "top_logprobs" stands there when it is
 * empty, too. */
qn_err qn_logprobs_add(const char *tokens, bool always, struct qn_buf *out, struct qn_error *e);

#endif
