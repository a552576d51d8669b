/* See calls_harmony.h. */
#include "llm/toolcall/calls_harmony.h"

#include "base/str.h"
#include "llm/toolcall/calls_force.h"

#include <string.h>

enum phase { HEADER, ARGUMENTS };

static const char message[] = "<|message|>", channel[] = "<|channel|>", functions[] = "functions.";

/* Stores the word after `mark` in the header; false: there is none. */
static bool word_behind(const char *header, const char *mark, struct qn_buf *out)
{
    const char *at = strstr(header, mark);
    qn_buf_clear(out);
    if (!at)
        return false;
    at += strlen(mark);
    qn_buf_add(out, at, strcspn(at, " \t\r\n<"));
    return out->len > 0;
}

/* Evaluates the complete header, which is in p->value. */
static enum qn_step begin_message(struct qn_parse *p)
{
    const char *header = qn_buf_cstr(&p->value);
    if (word_behind(header, "to=", &p->name) && !qn_str_eq(p->name.data, "assistant") &&
        !qn_str_eq(p->name.data, "user")) {
        if (qn_str_starts(p->name.data, functions))
            qn_buf_drop(&p->name, sizeof functions - 1);
        p->half = true;
        return p->c.tools && qn_parse_callable(p) ? qn_parse_go(p, ARGUMENTS) : QN_STEP_BAD;
    }
    if (word_behind(header, channel, &p->name) && qn_str_eq(p->name.data, "analysis"))
        p->after = QN_IN_REASONING;
    return QN_STEP_DONE;
}

static enum qn_step read_header(struct qn_parse *p, int c)
{
    enum qn_word w = qn_parse_word(p, message);
    if (w != QN_WORD_NO)
        return w == QN_WORD_MORE ? QN_STEP_MORE : begin_message(p);
    if (p->value.len == QN_PARSE_HEAD_MAX)
        return QN_STEP_BAD;
    qn_buf_char(&p->value, (char)c);
    return qn_parse_skip(p, 1, HEADER);
}

static enum qn_step read_arguments(struct qn_parse *p, int c)
{
    (void)c;
    enum qn_step step = qn_parse_object(p);
    if (step == QN_STEP_DONE)
        qn_parse_called(p);
    return step;
}

static const struct qn_phase phases[] = {
    [HEADER] = {read_header, QN_AT_BYTE}, [ARGUMENTS] = {read_arguments, QN_AT_BYTE}};

static void write_harmony(const struct qn_opener *o, struct qn_writing *out)
{
    (void)o;
    out->arguments = QN_WRITE_JSON;
    out->single = true;
    qn_writing_set(out->before, "%scommentary to=%s", channel, functions);
    qn_writing_set(out->after, " <|constrain|>json%s", message);
}

const struct qn_form qn_calls_harmony = {phases, write_harmony};
