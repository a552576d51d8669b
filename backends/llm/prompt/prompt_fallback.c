/* See prompt_fallback.h. */
#include "llm/prompt/prompt_fallback.h"

#include "base/str.h"
#include "llm/prompt/conversation.h"

static const char chatml_template[] =
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content or '' "
    "}}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

static const char plain_template[] =
    "{% for message in messages %}"
    "{% if message.role == 'system' %}{{ message.content or '' }}\n\n"
    "{% elif message.role == 'assistant' %}Assistant: {{ message.content or '' }}\n"
    "{% else %}User: {{ message.content or '' }}\n{% endif %}"
    "{% endfor %}"
    "{% if add_generation_prompt %}Assistant:{% endif %}";

struct qn_builtin_form qn_builtin_form(bool has_chatml)
{
    if (has_chatml)
        return (struct qn_builtin_form){.source = chatml_template};
    return (struct qn_builtin_form){.source = plain_template, .stop = "\nUser:"};
}

bool qn_may_fall_back(qn_err err, const struct qn_error *e, const struct qn_chat *chat)
{
    if (chat->continue_last || chat->template_text)
        return false;
    if (err == QN_EFORMAT)
        return true;
    return err == QN_EINVAL && e && qn_str_eq(e->param, "messages") && !chat->tools &&
           chat->messages.n > 0 && !qn_conversation_calls(&chat->messages);
}
