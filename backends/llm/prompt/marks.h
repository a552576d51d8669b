/* Prevents text in a request from being tokenized as control tokens.
 *
 * A user who types "<|im_end|>" means these ten characters; as a control token they would end the
 * user's turn, and the text after them could pose as the system. QN_TOKEN_MARK is therefore
 * inserted into every such string before the template sees the texts, and the tokenizer removes the
 * marks after it has found the control tokens, which are then only the template's own. User-defined
 * tokens ("<think>") are part of the model's language and are not marked. A control token of a
 * single character cannot be marked; no vocabulary with a chat template has one. */
#ifndef QN_LLM_PROMPT_MARKS_H
#define QN_LLM_PROMPT_MARKS_H

#include "base/json.h"
#include "jinja/run.h"
#include "text/tokenizer.h"

/* Appends s with marks. A mark character that s already contains becomes U+FFFD: it is a
 * noncharacter, which does not belong in interchanged text. */
void qn_marks_add(const struct qn_tokenizer *tok, const char *s, size_t n, struct qn_buf *out);

/* The string with marks as a template value; borrowed from s if it needs no marks. */
enum qn_tflow qn_marks_string(const struct qn_tokenizer *tok, struct qn_trun *run, const char *s,
                              size_t n, struct qn_tval *out);

/* Copies a JSON value with marks in all its strings and member names; the document may be freed
 * afterwards. */
enum qn_tflow qn_marks_json(const struct qn_tokenizer *tok, struct qn_trun *run,
                            const struct qn_jref *value, struct qn_tval *out);

#endif
