/* See calls_harmony.h. */
#include "llm/toolcall/calls_harmony.h"

#include "base/str.h"

#include <string.h>

enum phase { HEADER, ARGUMENTS, END };

static const char message[] = "<|message|>", channel[] = "<|channel|>", functions[] = "functions.";

/* The word behind `mark` in the header, into out; false: there is none. */
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

/* The header in p->value is complete. */
static enum qn_step begin_message(struct qn_parse *p)
{
    const char *header = qn_buf_cstr(&p->value);
    if (word_behind(header, "to=", &p->name) && !qn_str_eq(p->name.data, "assistant") &&
        !qn_str_eq(p->name.data, "user")) {
        if (qn_str_starts(p->name.data, functions))
            qn_buf_drop(&p->name, sizeof functions - 1);
        p->phase = ARGUMENTS;
        p->half = true;
        return p->c.tools && qn_parse_callable(p) ? QN_STEP_MORE : QN_STEP_BAD;
    }
    if (word_behind(header, channel, &p->name) && qn_str_eq(p->name.data, "analysis"))
        p->after = QN_IN_REASONING;
    return QN_STEP_DONE;
}

enum qn_step qn_calls_harmony(struct qn_parse *p)
{
    for (;;) {
        enum qn_word w;
        enum qn_step step;
        switch ((enum phase)p->phase) {
        case HEADER:
            w = qn_parse_word(p, message);
            if (w == QN_WORD_YES) {
                step = begin_message(p);
                if (step != QN_STEP_MORE)
                    return step;
                break;
            }
            int c = qn_parse_byte(p);
            if (w == QN_WORD_MORE || c < 0)
                return QN_STEP_MORE;
            if (p->value.len == QN_PARSE_HEAD_MAX)
                return QN_STEP_BAD;
            qn_buf_char(&p->value, (char)c);
            p->pos++;
            break;
        case ARGUMENTS:
            step = qn_parse_object(p);
            if (step != QN_STEP_DONE)
                return step;
            qn_parse_called(p);
            p->phase = END;
            break;
        case END:
            return QN_STEP_DONE;
        }
    }
}
