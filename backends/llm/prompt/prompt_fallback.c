/* See prompt_fallback.h. */
#include "llm/prompt/prompt_fallback.h"

#include "base/json.h"
#include "base/str.h"

#include <string.h>

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

/* Only system, developer, user and assistant, and no calls. */
static bool usual_roles(const char *messages)
{
    static const char *const usual[] = {"system", "developer", "user", "assistant"};
    struct qn_json *doc = NULL;
    struct qn_jref it;
    if (!messages || qn_json_parse(messages, strlen(messages), &doc, NULL))
        return false;
    struct qn_jref root = qn_json_root(doc);
    bool all = qn_json_count(&root) > 0;
    for (bool more = qn_json_first(&root, &it); more && all; more = qn_json_next(&it)) {
        struct qn_jref role = qn_json_get(&it, "role"), calls = qn_json_get(&it, "tool_calls");
        bool known = false;
        for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
            known = known || qn_str_eq(qn_json_raw_str(&role), usual[i]);
        all = known && qn_json_count(&calls) == 0;
    }
    qn_json_free(doc);
    return all;
}

bool qn_may_fall_back(qn_err err, const struct qn_error *e, const struct qn_chat *chat)
{
    if (chat->continue_last || chat->template_text)
        return false;
    if (err == QN_EFORMAT)
        return true;
    return err == QN_EINVAL && e && qn_str_eq(e->param, "messages") && !chat->tools &&
           usual_roles(chat->messages);
}
