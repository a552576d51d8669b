/* A chat template with what it can show: from a conversation in JSON to the text that the model
 * reads. */
#ifndef QN_LLM_PROMPT_PROMPT_RENDER_H
#define QN_LLM_PROMPT_PROMPT_RENDER_H

#include "base/buf.h"
#include "contract/job.h"
#include "jinja/template.h"
#include "llm/prompt/conversation.h"
#include "text/tokenizer.h"

/* How the template gets a function's arguments. */
enum qn_arguments { QN_AS_OBJECTS, QN_AS_TEXT };

struct qn_renderer {
    const struct qn_tokenizer *tok; /* lent */
    struct qn_template *chat;
    enum qn_arguments arguments;
    struct qn_manner manner;
};

/* QN_EFORMAT for a template that does not compile. Otherwise tries out what it shows. */
qn_err qn_renderer_init(struct qn_renderer *r, const struct qn_tokenizer *tok, const char *source,
                        size_t n, struct qn_error *e);
void qn_renderer_deinit(struct qn_renderer *r);

/* Appends the conversation as it is (see conversation.h for what the template cannot show). Texts
 * have marks (marks.h). QN_EINVAL (param: what is to blame; the template's own words when it raised
 * an exception), QN_EUNSUPPORTED (pictures), QN_ELIMIT. */
qn_err qn_render_chat(const struct qn_renderer *r, const struct qn_chat *chat, struct qn_buf *text,
                      struct qn_error *e);

#endif
