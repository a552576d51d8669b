/* Tokens with their probabilities, in the form that OpenAI's APIs and Ollama's share. */
#ifndef QN_DIALECTS_SHARED_LOGPROBS_H
#define QN_DIALECTS_SHARED_LOGPROBS_H

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"

#include <stdbool.h>

/* Appends the tokens of an event's logprobs as the items of a list, with commas between them:
 * {"token","logprob","bytes","top_logprobs":[...]}. always: "top_logprobs" stands there when it is
 * empty, too. */
qn_err qn_logprobs_add(const char *tokens, bool always, struct qn_buf *out, struct qn_error *e);

/* The token's text, or, of a token that is no whole characters, its bytes as OpenAI's completions
 * write them ("bytes:\\xe2\\x80"), so that no two of them look alike. Appended to out. */
void qn_logprobs_name(const struct qn_jref *token, struct qn_buf *out);

#endif
