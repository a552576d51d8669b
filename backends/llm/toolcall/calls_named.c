/* See calls_named.h. */
#include "llm/toolcall/calls_named.h"

#include "base/str.h"
#include "llm/toolcall/calls_force.h"

#include <ctype.h>
#include <string.h>

enum phase { LEAD, NAME_FIRST, NAME, CALL_ID, KIND_NAME, FENCE, ARGUMENTS, END };

struct state {
    bool spaced; /* there was white space after the name */
    int ends;    /* how many of the texts that may follow the arguments have been tried */
};

static struct state *state_of(struct qn_parse *p)
{
    return QN_PARSE_STATE(p, struct state);
}

static bool in_name(int c)
{
    return c > ' ' && c != 0x7f && !strchr("<>[]{}()\"'`,\\", c);
}

/* Splits the name into its parts; false when the rest is not a callable tool. */
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

/* ---- Phases ---- */

/* Skips everything up to the end of the lead. */
static enum qn_step read_lead(struct qn_parse *p, int c)
{
    const struct qn_named_calls *how = p->how;
    (void)c;
    p->half = true;
    if (!how->lead)
        return qn_parse_go(p, NAME_FIRST);
    enum qn_word w = qn_parse_word(p, how->lead);
    if (w != QN_WORD_NO)
        return w == QN_WORD_MORE ? QN_STEP_MORE : qn_parse_go(p, NAME_FIRST);
    return p->pos - p->mark > QN_PARSE_HEAD_MAX ? QN_STEP_BAD : qn_parse_skip(p, 1, LEAD);
}

static enum qn_step read_name_first(struct qn_parse *p, int c)
{
    const struct qn_named_calls *how = p->how;
    if (how->list && (c == '[' || c == '{'))
        return qn_parse_hand_over(p, &qn_calls_json, how->list);
    return qn_parse_go(p, NAME);
}

static enum qn_step name_ended(struct qn_parse *p)
{
    return name_complete(p, p->how) ? qn_parse_go(p, FENCE) : QN_STEP_BAD;
}

/* Reads the separator after the name, if there is one at pos. */
static enum qn_word take_separator(struct qn_parse *p, const struct qn_named_calls *how)
{
    enum qn_word w = QN_WORD_NO;
    for (size_t i = 0; i < 2 && how->separator[i] && w == QN_WORD_NO; i++)
        w = qn_parse_word(p, how->separator[i]);
    return w;
}

/* White space is only allowed between the name and the separator. It is consumed byte by byte,
 * because the separator may itself be white space. */
static enum qn_step read_name_byte(struct qn_parse *p, int c)
{
    struct state *s = state_of(p);
    if (qn_parse_is_space(c)) {
        s->spaced = true;
        return qn_parse_skip(p, 1, NAME);
    }
    if (s->spaced || !in_name(c) || p->name.len == QN_PARSE_NAME_MAX)
        return QN_STEP_BAD;
    qn_buf_char(&p->name, (char)c);
    return qn_parse_skip(p, 1, NAME);
}

static enum qn_step read_name(struct qn_parse *p, int c)
{
    const struct qn_named_calls *how = p->how;
    if (how->text && c == '\n' && qn_str_eq(qn_buf_cstr(&p->name), how->text)) {
        p->pos++;
        return QN_STEP_DONE;
    }
    enum qn_word w = take_separator(p, how);
    if (w == QN_WORD_YES && how->kind && qn_str_eq(qn_buf_cstr(&p->name), how->kind)) {
        qn_buf_clear(&p->name);
        return qn_parse_go(p, KIND_NAME);
    }
    if (w == QN_WORD_YES)
        return name_ended(p);
    if (w == QN_WORD_NO && how->id)
        w = qn_parse_word(p, how->id);
    if (w != QN_WORD_NO)
        return w == QN_WORD_MORE ? QN_STEP_MORE : qn_parse_go(p, CALL_ID);
    return c == '{' ? name_ended(p) : read_name_byte(p, c);
}

static enum qn_step read_call_id(struct qn_parse *p, int c)
{
    const struct qn_named_calls *how = p->how;
    enum qn_word w = qn_parse_word(p, how->separator[0]);
    if (w != QN_WORD_NO)
        return w == QN_WORD_MORE ? QN_STEP_MORE : name_ended(p);
    if (!in_name(c) || p->id.len == QN_EVENT_CALL_ID_MAX)
        return QN_STEP_BAD;
    qn_buf_char(&p->id, (char)c);
    return qn_parse_skip(p, 1, CALL_ID);
}

static enum qn_step read_kind_name(struct qn_parse *p, int c)
{
    c = p->name.len ? c : qn_parse_next(p);
    if (c < 0)
        return QN_STEP_MORE;
    if (in_name(c) && p->name.len < QN_PARSE_NAME_MAX) {
        qn_buf_char(&p->name, (char)c);
        return qn_parse_skip(p, 1, KIND_NAME);
    }
    return qn_parse_is_space(c) || c == '`' || c == '{' ? name_ended(p) : QN_STEP_BAD;
}

static enum qn_step read_fence(struct qn_parse *p, int c)
{
    enum qn_word w = c == '`' ? qn_parse_word(p, "```json") : QN_WORD_NO;
    if (c == '`' && w == QN_WORD_NO)
        w = qn_parse_word(p, "```");
    return w == QN_WORD_MORE ? QN_STEP_MORE : qn_parse_go(p, ARGUMENTS);
}

static enum qn_step read_arguments(struct qn_parse *p, int c)
{
    (void)c;
    enum qn_step step = qn_parse_object(p);
    if (step != QN_STEP_DONE)
        return step;
    qn_parse_called(p);
    return p->over ? QN_STEP_DONE : qn_parse_go(p, END);
}

static enum qn_step read_end(struct qn_parse *p, int c)
{
    const struct qn_named_calls *how = p->how;
    const char *const ends[] = {how->fence ? "```" : NULL, how->end, how->section_end};
    struct state *s = state_of(p);
    (void)c;
    while (s->ends < 3 && !ends[s->ends])
        s->ends++;
    if (s->ends == 3)
        return QN_STEP_DONE;
    if (qn_parse_next(p) < 0 || qn_parse_word(p, ends[s->ends]) == QN_WORD_MORE)
        return QN_STEP_MORE;
    s->ends++;
    return QN_STEP_NEXT;
}

static const struct qn_phase phases[] = {
    [LEAD] = {read_lead, QN_AT_BYTE},           [NAME_FIRST] = {read_name_first, QN_AT_WORD},
    [NAME] = {read_name, QN_AT_BYTE},           [CALL_ID] = {read_call_id, QN_AT_BYTE},
    [KIND_NAME] = {read_kind_name, QN_AT_BYTE}, [FENCE] = {read_fence, QN_AT_WORD},
    [ARGUMENTS] = {read_arguments, QN_AT_BYTE}, [END] = {read_end, QN_AT_ANY}};

/* ---- Writing ---- */

static const char *text_or_none(const char *text)
{
    return text ? text : "";
}

static void write_named(const struct qn_opener *o, struct qn_writing *out)
{
    const struct qn_named_calls *how = o->how;
    out->arguments = QN_WRITE_JSON;
    out->single = !how->between;
    qn_writing_set(out->begin, "%s", text_or_none(how->section));
    qn_writing_set(out->before, "%s%s%s%s", qn_writing_open(o), how->fenced ? how->kind : "",
                   how->fenced ? how->separator[0] : "", text_or_none(how->prefix));
    qn_writing_set(out->after, "%s%s", how->counted ? ":0" : "",
                   how->fenced ? "\n```json\n" : how->separator[0]);
    qn_writing_set(out->end, "%s%s", how->fenced ? "\n```" : "", text_or_none(how->end));
    qn_writing_set(out->between, "%s", text_or_none(how->between));
    qn_writing_set(out->close, "%s", how->section ? text_or_none(how->section_end) : "");
}

const struct qn_form qn_calls_named = {phases, write_named};
