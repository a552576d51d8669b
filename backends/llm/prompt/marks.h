/* Keeps the written form of control tokens in a request's texts from becoming those tokens.
 *
 * A user who types "<|im_end|>" means these ten characters; as a control token they would end the
 * user's turn, and what follows could speak as the system. So QN_TOKEN_MARK is put into every such
 * place before the template sees the texts, and the tokenizer takes it out again once it has found
 * the control tokens: only those of the template itself are left. User-defined tokens ("<think>")
 * are words of the model's language and stay as they are. A control token of a single character
 * cannot be told apart so; no vocabulary with a chat template has one. */
#ifndef QN_LLM_PROMPT_MARKS_H
#define QN_LLM_PROMPT_MARKS_H

#include "base/json.h"
#include "jinja/run.h"
#include "text/tokenizer.h"

/* Appends s with marks. A mark that is there already becomes U+FFFD: it is a noncharacter, which
 * texts do not exchange. */
void qn_marks_add(const struct qn_tokenizer *tok, const char *s, size_t n, struct qn_buf *out);

/* The string with marks as a template's value; lent where none is needed. */
enum qn_tflow qn_marks_string(const struct qn_tokenizer *tok, struct qn_trun *run, const char *s,
                              size_t n, struct qn_tval *out);

/* A JSON value with marks in all its strings and member names; copied, so that its document may go.
 */
enum qn_tflow qn_marks_json(const struct qn_tokenizer *tok, struct qn_trun *run,
                            const struct qn_jref *value, struct qn_tval *out);

#endif
