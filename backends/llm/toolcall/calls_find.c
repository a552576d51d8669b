/* See calls.h: finds the rows of calls_table.c and calls_thinking.c that fit a model's template,
 * and answers questions about the marks in these rows (texts like <tool_call> or <think> that
 * enclose calls and reasoning). */
#include "llm/toolcall/calls_parse.h"

#include <string.h>

static bool has_any(const char *source, const char *const signs[4])
{
    for (size_t i = 0; i < 4 && signs[i]; i++)
        if (strstr(source, signs[i]))
            return true;
    return false;
}

static bool fits(const struct qn_calling *row, const char *source)
{
    for (size_t i = 0; i < 4 && row->signs[i]; i++)
        if (!strstr(source, row->signs[i]))
            return false;
    for (size_t i = 0; i < 3 && row->lacks[i]; i++)
        if (strstr(source, row->lacks[i]))
            return false;
    return row->signs[0] != NULL;
}

struct qn_syntax qn_syntax_find(const char *source,
                                bool (*has_token)(const void *ctx, const char *text),
                                const void *ctx)
{
    struct qn_syntax s = {NULL, NULL};
    for (size_t i = 0; qn_thinkings[i] && !s.think; i++)
        if (has_any(source, qn_thinkings[i]->signs))
            s.think = qn_thinkings[i];
    for (size_t i = 0; qn_callings[i] && !s.call; i++)
        if (fits(qn_callings[i], source))
            s.call = qn_callings[i];
    for (size_t i = 0; qn_callings[i] && !s.call; i++)
        if (!qn_callings[i + 1] ||
            (has_token && qn_callings[i]->token && has_token(ctx, qn_callings[i]->token)))
            s.call = qn_callings[i];
    return s;
}

const char *qn_syntax_calls(const struct qn_syntax *s)
{
    return s->call->name;
}

const char *qn_syntax_thinking(const struct qn_syntax *s)
{
    return s->think ? s->think->name : "none";
}

static bool marks(const struct qn_opener *openers, const char *const *tokens, const char *text)
{
    for (; openers && openers->text; openers++)
        if (strstr(openers->text, text))
            return true;
    for (; tokens && *tokens; tokens++)
        if (strcmp(*tokens, text) == 0)
            return true;
    return false;
}

bool qn_syntax_marks(const struct qn_syntax *s, const char *text)
{
    if (!text[0])
        return false;
    if (marks(s->call->openers, s->call->tokens, text))
        return true;
    const struct qn_thinking *t = s->think;
    return t && ((t->open && strstr(t->open, text)) || strstr(t->close, text) ||
                 marks(t->openers, t->tokens, text));
}

bool qn_syntax_begun(const struct qn_syntax *s, const char *prompt, size_t n)
{
    const char *open = s->think ? s->think->open : NULL;
    size_t len = open ? strlen(open) : 0;
    while (n > 0 && strchr(" \t\r\n", prompt[n - 1]))
        n--;
    while (len > 0 && strchr(" \t\r\n", open[len - 1]))
        len--;
    return len > 0 && n >= len && memcmp(prompt + n - len, open, len) == 0;
}

bool qn_syntax_tags(const struct qn_syntax *s, const char **open, const char **close)
{
    if (!s->think || !s->think->open || s->think->words)
        return false;
    if (open)
        *open = s->think->open;
    if (close)
        *close = s->think->close;
    return true;
}

bool qn_syntax_ending(const struct qn_syntax *s, bool free, struct qn_buf *out)
{
    const struct qn_thinking *t = s->think;
    if (!t)
        return false;
    bool token = !t->open || t->anywhere; /* the mark is a single token; other families write their
                                             mark on a line of its own */
    qn_buf_fmt(out, "%s%s%s%s%s", token ? "" : "\n", t->close, token ? "" : "\n\n",
               t->then ? t->then : "", t->answer && free ? t->answer : "");
    return true;
}
