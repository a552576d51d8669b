/* Tokens with their log-probabilities, in the form that OpenAI's APIs and Ollama's share. */
#ifndef QN_DIALECTS_SHARED_LOGPROBS_H
#define QN_DIALECTS_SHARED_LOGPROBS_H

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"

#include <stdbool.h>

/* Appends the tokens of an event's logprobs as list items, separated by commas:
 * {"token","logprob","bytes","top_logprobs":[...]}. always: write "top_logprobs" even if it is
 * empty. */
qn_err qn_logprobs_add(const char *tokens, bool always, struct qn_buf *out, struct qn_error *e);

/* Appends the token's text or, for a token that does not consist of whole characters, its bytes as
 * in OpenAI's completions ("bytes:\\xe2\\x80"), so that different tokens have different names. */
void qn_logprobs_name(const struct qn_jref *token, struct qn_buf *out);

#endif
