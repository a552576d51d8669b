/* A compiled chat template and what it supports: renders a conversation in JSON to the text that
 * the model reads. */
#ifndef QN_LLM_PROMPT_PROMPT_RENDER_H
#define QN_LLM_PROMPT_PROMPT_RENDER_H

#include "base/buf.h"
#include "contract/job.h"
#include "jinja/template.h"
#include "llm/prompt/conversation.h"
#include "text/tokenizer.h"

/* The type in which the template expects a function's arguments. */
enum qn_arguments { QN_AS_OBJECTS, QN_AS_TEXT };

struct qn_renderer {
    const struct qn_tokenizer *tok; /* borrowed */
    struct qn_template *chat;
    enum qn_arguments arguments;
    struct qn_manner manner;
};

/* QN_EFORMAT for a template that does not compile. Otherwise detects what the template supports. */
qn_err qn_renderer_init(struct qn_renderer *r, const struct qn_tokenizer *tok, const char *source,
                        size_t n, struct qn_error *e);
void qn_renderer_deinit(struct qn_renderer *r);

/* Appends the rendered conversation without adapting it (see conversation.h). Texts get marks
 * (marks.h). QN_EINVAL (param: the field at fault; the message of the template if it raised an
 * exception), QN_EUNSUPPORTED (pictures), QN_ELIMIT. */
qn_err qn_render_chat(const struct qn_renderer *r, const struct qn_chat *chat, struct qn_buf *text,
                      struct qn_error *e);

#endif
