/* See calls_named.h. */
#include "llm/toolcall/calls_named.h"

#include "base/str.h"

#include <ctype.h>
#include <string.h>

enum phase { LEAD, NAME_FIRST, NAME, CALL_ID, KIND_NAME, FENCE, ARGUMENTS, END };

enum { SPACE_SEEN = 1 }; /* p->what: behind the name */

static bool in_name(int c)
{
    return c > ' ' && c != 0x7f && !strchr("<>[]{}()\"'`,\\", c);
}

/* Takes the name apart; false when nothing is left of it. */
static bool name_complete(struct qn_parse *p, const struct qn_named_calls *how)
{
    if (how->counted) {
        qn_buf_clear(&p->id);
        qn_buf_str(&p->id, qn_buf_cstr(&p->name));
        size_t n = p->name.len;
        while (n > 0 && isdigit((unsigned char)p->name.data[n - 1]))
            n--;
        if (n > 1 && n < p->name.len && p->name.data[n - 1] == ':') {
            p->name.len = n - 1;
            p->name.data[n - 1] = '\0';
        } else {
            qn_buf_clear(&p->id);
        }
    }
    if (how->prefix && qn_str_starts(qn_buf_cstr(&p->name), how->prefix))
        qn_buf_drop(&p->name, strlen(how->prefix));
    return qn_parse_callable(p);
}

enum qn_step qn_calls_named(struct qn_parse *p)
{
    const struct qn_named_calls *how = p->how;
    for (;;) {
        enum qn_word w;
        enum qn_step step;
        int c = qn_parse_byte(p);
        switch ((enum phase)p->phase) {
        case LEAD:
            p->half = true;
            if (how->lead) {
                w = qn_parse_word(p, how->lead);
                if (w == QN_WORD_MORE || c < 0)
                    return QN_STEP_MORE;
                if (w == QN_WORD_NO) {
                    if (p->pos - p->mark > QN_PARSE_HEAD_MAX)
                        return QN_STEP_BAD;
                    p->pos++;
                    break;
                }
            }
            p->phase = NAME_FIRST;
            break;
        case NAME_FIRST:
            c = qn_parse_next(p);
            if (c < 0)
                return QN_STEP_MORE;
            if (how->list && (c == '[' || c == '{'))
                return qn_parse_hand_over(p, qn_calls_json, how->list);
            p->phase = NAME;
            break;
        case NAME:
            if (how->text && c == '\n' && qn_str_eq(qn_buf_cstr(&p->name), how->text)) {
                p->pos++;
                return QN_STEP_DONE;
            }
            for (size_t i = 0; i < 2 && how->separator[i]; i++) {
                w = qn_parse_word(p, how->separator[i]);
                if (w == QN_WORD_MORE)
                    return QN_STEP_MORE;
                if (w == QN_WORD_NO)
                    continue;
                if (how->kind && qn_str_eq(qn_buf_cstr(&p->name), how->kind)) {
                    qn_buf_clear(&p->name);
                    p->phase = KIND_NAME;
                } else {
                    p->phase = FENCE;
                }
                goto separated;
            }
            w = how->id ? qn_parse_word(p, how->id) : QN_WORD_NO;
            if (w == QN_WORD_MORE || c < 0)
                return QN_STEP_MORE;
            if (w == QN_WORD_YES) {
                p->phase = CALL_ID;
                break;
            }
            if (c == '{') {
                p->phase = FENCE;
                goto separated;
            }
            /* White space may stand between the name and what separates it, nowhere else. It is
             * taken one by one: the separator may be white space itself. */
            if (qn_parse_is_space(c)) {
                p->what = SPACE_SEEN;
                p->pos++;
                break;
            }
            if (p->what == SPACE_SEEN)
                return QN_STEP_BAD;
            if (!in_name(c) || p->name.len == QN_PARSE_NAME_MAX)
                return QN_STEP_BAD;
            qn_buf_char(&p->name, (char)c);
            p->pos++;
            break;
        separated:
            if (p->phase == FENCE && !name_complete(p, how))
                return QN_STEP_BAD;
            break;
        case CALL_ID:
            w = qn_parse_word(p, how->separator[0]);
            if (w == QN_WORD_MORE || c < 0)
                return QN_STEP_MORE;
            if (w == QN_WORD_YES) {
                p->phase = FENCE;
                goto separated;
            }
            if (!in_name(c) || p->id.len == QN_EVENT_CALL_ID_MAX)
                return QN_STEP_BAD;
            qn_buf_char(&p->id, (char)c);
            p->pos++;
            break;
        case KIND_NAME:
            c = p->name.len ? c : qn_parse_next(p);
            if (c < 0)
                return QN_STEP_MORE;
            if (in_name(c) && p->name.len < QN_PARSE_NAME_MAX) {
                qn_buf_char(&p->name, (char)c);
                p->pos++;
                break;
            }
            if (!qn_parse_is_space(c) && c != '`' && c != '{')
                return QN_STEP_BAD;
            p->phase = FENCE;
            goto separated;
        case FENCE:
            c = qn_parse_next(p);
            w = c == '`' ? qn_parse_word(p, "```json") : QN_WORD_NO;
            if (c == '`' && w == QN_WORD_NO)
                w = qn_parse_word(p, "```");
            if (c < 0 || w == QN_WORD_MORE)
                return QN_STEP_MORE;
            p->phase = ARGUMENTS;
            break;
        case ARGUMENTS:
            step = qn_parse_object(p);
            if (step != QN_STEP_DONE)
                return step;
            qn_parse_called(p);
            if (p->over)
                return QN_STEP_DONE;
            p->nest = 0;
            p->phase = END;
            break;
        case END:
            if (p->nest == 4 || !how->end[p->nest])
                return QN_STEP_DONE;
            if (qn_parse_next(p) < 0)
                return QN_STEP_MORE;
            w = qn_parse_word(p, how->end[p->nest]);
            if (w == QN_WORD_MORE)
                return QN_STEP_MORE;
            p->nest++;
            break;
        }
    }
}
