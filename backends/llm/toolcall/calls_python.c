/* See calls_python.h. */
#include "llm/toolcall/calls_python.h"

#include "base/str.h"

#include <ctype.h>
#include <string.h>

enum phase { BEGINNING, PROGRAM };

/* Index of the tool that runs programs; -1: none. */
static int interpreter(const struct qn_tools *tools)
{
    static const char *const names[] = {"python", "ipython", "code_interpreter"};
    int found = -1;
    for (size_t i = 0; i < 3 && found < 0; i++)
        found = qn_tools_find(tools, names[i], strlen(names[i]));
    return found;
}

static enum qn_step begin_program(struct qn_parse *p)
{
    int tool = interpreter(p->c.tools);
    if (tool < 0)
        return QN_STEP_BAD;
    const char *name = qn_tools_name(p->c.tools, (size_t)tool);
    const char *parameter = qn_tools_parameter(p->c.tools, name, 0);
    qn_buf_str(&p->name, name);
    if (!qn_parse_callable(p))
        return QN_STEP_BAD;
    struct qn_buf out;
    qn_buf_init(&out, QN_PARSE_HELD_MAX);
    qn_buf_char(&out, '{');
    qn_parse_quote(&out, parameter ? parameter : "code", strlen(parameter ? parameter : "code"));
    qn_buf_str(&out, ": \"");
    qn_parse_arguments(p, out.data, out.len);
    qn_buf_deinit(&out);
    return qn_parse_go(p, PROGRAM);
}

/* All bytes up to the end of the input belong to the program. */
static enum qn_step read_program(struct qn_parse *p, int c)
{
    struct qn_buf out;
    (void)c;
    qn_buf_init(&out, QN_PARSE_HELD_MAX);
    for (; p->pos < p->in.len; p->pos++)
        qn_json_escape(&out, p->in.data[p->pos]);
    if (out.len)
        qn_parse_arguments(p, out.data, out.len);
    qn_buf_deinit(&out);
    if (!p->final)
        return QN_STEP_MORE;
    qn_parse_arguments(p, "\"}", 2);
    qn_parse_called(p);
    return QN_STEP_DONE;
}

static enum qn_step read_beginning(struct qn_parse *p, int c)
{
    const struct qn_python_calls *how = p->how;
    p->half = true;
    if (c == '{')
        return qn_parse_hand_over(p, &qn_calls_json, how->json);
    size_t n = p->pos;
    while (n < p->in.len && (isalnum((unsigned char)p->in.data[n]) || p->in.data[n] == '_'))
        n++;
    if (n - p->pos <= QN_PARSE_NAME_MAX) {
        enum qn_word w = qn_parse_peek(p, n, how->method->method);
        if (w == QN_WORD_MORE)
            return QN_STEP_MORE;
        if (w == QN_WORD_YES && qn_tools_find(p->c.tools, p->in.data + p->pos, n - p->pos) >= 0)
            return qn_parse_hand_over(p, &qn_calls_literal, how->method);
    }
    return begin_program(p);
}

static const struct qn_phase phases[] = {
    [BEGINNING] = {read_beginning, QN_AT_WORD}, [PROGRAM] = {read_program, QN_AT_ANY}};

const struct qn_form qn_calls_python = {phases, NULL};
