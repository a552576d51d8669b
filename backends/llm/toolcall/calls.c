/* See calls.h: the stream, the recognition of marks, and the functions that the forms share. */
#include "llm/toolcall/calls_parse.h"

#include "base/str.h"
#include "llm/output.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define NO_MARK SIZE_MAX

/* ---- Construction ---- */

static void add_openers(struct qn_parse *p, const struct qn_opener *o)
{
    for (; o && o->text; o++) {
        assert(p->n_openers < QN_PARSE_OPENERS_MAX);
        p->openers[p->n_openers++] = o;
        /* An empty mark matches before any byte. */
        for (int c = 0; c < 256; c++) {
            bool first = !o->text[0] || (unsigned char)o->text[0] == c;
            p->text_first[c] |= first;
            p->think_first[c] |= first && (o->flags & QN_OPEN_THROUGH);
        }
    }
}

bool qn_parse_needed(const struct qn_parse_config *c)
{
    return c->tools || c->syntax.think;
}

struct qn_parse *qn_parse_new(const struct qn_parse_config *c, const struct qn_parse_sink *sink)
{
    struct qn_parse *p = qn_xcalloc(1, sizeof *p);
    p->c = *c;
    p->sink = *sink;
    p->mark = NO_MARK;
    p->fresh = true;
    p->state = c->thinking ? QN_IN_REASONING : QN_IN_TEXT;
    p->skip_space = c->thinking && !c->reasoning_in_text;
    qn_buf_init(&p->in, QN_PARSE_HELD_MAX);
    qn_buf_init(&p->name, QN_PARSE_NAME_MAX);
    qn_buf_init(&p->id, QN_EVENT_CALL_ID_MAX);
    qn_buf_init(&p->key, QN_PARSE_HELD_MAX);
    qn_buf_init(&p->value, QN_PARSE_HELD_MAX);
    qn_buf_init(&p->args, QN_PARSE_HELD_MAX);
    qn_buf_init(&p->clean, 3 * (size_t)QN_PARSE_HELD_MAX);
    const struct qn_thinking *think = c->syntax.think;
    if (think) {
        add_openers(p, think->openers);
        if (think->open)
            p->text_first[(unsigned char)think->open[0]] = true;
        p->think_first[(unsigned char)think->close[0]] = true;
        if (think->close_too)
            p->think_first[(unsigned char)think->close_too[0]] = true;
    }
    if (c->tools)
        add_openers(p, c->syntax.call->openers);
    return p;
}

void qn_parse_free(struct qn_parse *p)
{
    if (!p)
        return;
    qn_buf_deinit(&p->in);
    qn_buf_deinit(&p->name);
    qn_buf_deinit(&p->id);
    qn_buf_deinit(&p->key);
    qn_buf_deinit(&p->value);
    qn_buf_deinit(&p->args);
    qn_buf_deinit(&p->clean);
    free(p);
}

/* ---- Output ---- */

/* Passes in[from, to) on as text or reasoning, without leading white space that belongs to a
 * mark. */
static void pass(struct qn_parse *p, bool reasoning, size_t from, size_t to)
{
    while (p->skip_space && from < to && qn_parse_is_space(p->in.data[from]))
        from++;
    if (from >= to)
        return;
    p->skip_space = false;
    p->fresh = false;
    p->sink.text(p->sink.ctx, reasoning && !p->c.reasoning_in_text, p->in.data + from, to - from,
                 p->base + from);
}

/* The end of in[from, to) without trailing white space. */
static size_t trimmed(const struct qn_parse *p, size_t from, size_t to)
{
    while (to > from && qn_parse_is_space(p->in.data[to - 1]))
        to--;
    return to;
}

/* ---- Marks ---- */

enum qn_word qn_parse_peek(const struct qn_parse *p, size_t from, const char *word)
{
    size_t n = strlen(word), there = p->in.len - from;
    size_t common = n < there ? n : there;
    if (common && memcmp(p->in.data + from, word, common) != 0)
        return QN_WORD_NO;
    if (there >= n)
        return QN_WORD_YES;
    return p->final ? QN_WORD_NO : QN_WORD_MORE;
}

enum qn_word qn_parse_word(struct qn_parse *p, const char *word)
{
    enum qn_word w = qn_parse_peek(p, p->pos, word);
    if (w == QN_WORD_YES)
        p->pos += strlen(word);
    return w;
}

/* Finds the opener at in[i]; the longest match is chosen. */
static enum qn_word find_opener(const struct qn_parse *p, size_t i, bool fresh, bool through,
                                const struct qn_opener **found)
{
    enum qn_word best = QN_WORD_NO;
    size_t best_n = 0;
    for (size_t k = 0; k < p->n_openers; k++) {
        const struct qn_opener *o = p->openers[k];
        if (((o->flags & QN_OPEN_START) && !fresh) || (through && !(o->flags & QN_OPEN_THROUGH)))
            continue;
        enum qn_word w = qn_parse_peek(p, i, o->text);
        size_t n = strlen(o->text);
        if (w == QN_WORD_NO || (best != QN_WORD_NO && n < best_n))
            continue;
        best = w;
        best_n = n;
        *found = o;
    }
    return best;
}

static void to_text(struct qn_parse *p)
{
    p->state = QN_IN_TEXT;
    p->sent = p->pos;
    p->mark = NO_MARK;
    p->skip_space = true;
    p->fresh = true;
}

/* Begins the calls whose opener is at in[i]. The white space between `sent` and the opener belongs
 * to it. */
static void open_at(struct qn_parse *p, const struct qn_opener *o, size_t i)
{
    p->pos = i + (o->flags & QN_OPEN_KEEP ? 0 : strlen(o->text));
    if (o->flags & QN_OPEN_DROP) {
        bool fresh = p->fresh;
        to_text(p);
        p->fresh = fresh || (o->flags & QN_OPEN_THROUGH);
        return;
    }
    p->state = p->after = QN_IN_CALLS;
    p->opener = o;
    p->form = o->form;
    p->how = o->how;
    p->opened = i;
    p->mark = p->sent;
    p->phase = 0;
    memset(p->form_state, 0, sizeof p->form_state);
    p->any = p->half = p->committed = false;
    p->scan = (struct qn_json_scan){0};
    qn_buf_clear(&p->name);
    qn_buf_clear(&p->id);
    qn_buf_clear(&p->key);
    qn_buf_clear(&p->value);
}

static void think_at(struct qn_parse *p, size_t i)
{
    p->pos = i + strlen(p->c.syntax.think->open);
    if (p->c.reasoning_in_text)
        pass(p, true, p->sent, p->pos);
    p->sent = p->pos;
    p->state = QN_IN_REASONING;
    p->skip_space = !p->c.reasoning_in_text;
}

/* ---- The three states. Each function returns true when the state has changed. ---- */

static bool in_text(struct qn_parse *p)
{
    const struct qn_thinking *think = p->c.syntax.think;
    bool fresh = p->fresh;
    size_t i = p->pos;
    for (; i < p->in.len; i++) {
        if (!p->text_first[(unsigned char)p->in.data[i]]) {
            fresh &= qn_parse_is_space(p->in.data[i]);
            continue;
        }
        enum qn_word thinks = QN_WORD_NO;
        if (think && think->open && (fresh || think->anywhere))
            thinks = qn_parse_peek(p, i, think->open);
        const struct qn_opener *o = NULL;
        enum qn_word opens = find_opener(p, i, fresh, false, &o);
        /* An empty mark matches only when no longer mark can match and the byte is not white
         * space. */
        if (opens == QN_WORD_YES && !o->text[0] && qn_parse_is_space(p->in.data[i]))
            opens = QN_WORD_NO;
        if (thinks == QN_WORD_MORE || opens == QN_WORD_MORE)
            break;
        if (thinks == QN_WORD_YES || opens == QN_WORD_YES) {
            size_t end = trimmed(p, p->sent, i);
            pass(p, false, p->sent, end);
            p->sent = end;
            if (thinks == QN_WORD_YES)
                think_at(p, i);
            else
                open_at(p, o, i);
            return true;
        }
        fresh &= qn_parse_is_space(p->in.data[i]);
    }
    size_t end = trimmed(p, p->sent, i);
    if (p->final && i == p->in.len && p->calls == 0)
        end = i;
    pass(p, false, p->sent, end);
    p->sent = end;
    p->pos = i;
    return false;
}

static bool in_reasoning(struct qn_parse *p)
{
    const struct qn_thinking *think = p->c.syntax.think;
    size_t i = p->pos;
    for (; i < p->in.len; i++) {
        if (!p->think_first[(unsigned char)p->in.data[i]])
            continue;
        const struct qn_opener *o = NULL;
        enum qn_word closes = qn_parse_peek(p, i, think->close), too = QN_WORD_NO;
        if (think->close_too)
            too = qn_parse_peek(p, i, think->close_too);
        enum qn_word opens = find_opener(p, i, true, true, &o);
        if (closes == QN_WORD_MORE || too == QN_WORD_MORE || opens == QN_WORD_MORE)
            break;
        if (closes == QN_WORD_NO && too == QN_WORD_NO && opens == QN_WORD_NO)
            continue;
        size_t mark_end = i + (closes == QN_WORD_YES ? strlen(think->close) : 0);
        if (p->c.reasoning_in_text)
            pass(p, true, p->sent, mark_end);
        else
            pass(p, true, p->sent, trimmed(p, p->sent, i));
        p->pos = mark_end;
        bool raw = p->c.reasoning_in_text;
        to_text(p);
        p->skip_space = !raw;
        if (closes == QN_WORD_NO && too == QN_WORD_NO)
            open_at(p, o, i);
        return true;
    }
    size_t end = p->c.reasoning_in_text ? i : trimmed(p, p->sent, i);
    pass(p, true, p->sent, end);
    p->sent = end;
    p->pos = i;
    return false;
}

static void flush_arguments(struct qn_parse *p, bool all);

/* Handles a syntax error of the form at pos. */
static void broken(struct qn_parse *p)
{
    if (p->committed) {
        flush_arguments(p, true);
        p->committed = false;
        p->broke = true;
        p->calls++;
        to_text(p);
        return;
    }
    size_t least = p->opened + 1, mark = p->mark;
    if (p->pos < least && least <= p->in.len)
        p->pos = least;
    p->mark = NO_MARK;
    p->state = QN_IN_TEXT;
    pass(p, false, mark, p->pos);
    p->sent = p->pos;
}

/* Runs the form's phases as far as the received bytes allow. */
static enum qn_step read_calls(struct qn_parse *p)
{
    enum qn_step step = QN_STEP_NEXT;
    while (step == QN_STEP_NEXT) {
        const struct qn_phase *phase = &p->form->phases[p->phase];
        int c = phase->at == QN_AT_WORD ? qn_parse_next(p) : qn_parse_byte(p);
        if (c < 0 && phase->at != QN_AT_ANY)
            return QN_STEP_MORE;
        step = phase->read(p, c);
    }
    return step;
}

static bool in_calls(struct qn_parse *p)
{
    enum qn_step step = read_calls(p);
    if (step == QN_STEP_MORE && !p->final) {
        if (p->mark == NO_MARK)
            p->sent = p->pos;
        return false;
    }
    if (step == QN_STEP_MORE)
        step = p->any && !p->half ? QN_STEP_DONE : QN_STEP_BAD;
    if (step == QN_STEP_BAD) {
        broken(p);
    } else {
        bool reasons = p->after == QN_IN_REASONING;
        if (reasons && p->c.reasoning_in_text)
            pass(p, true, p->mark, p->pos);
        to_text(p);
        if (reasons) {
            p->state = QN_IN_REASONING;
            p->skip_space = !p->c.reasoning_in_text;
        }
    }
    return true;
}

/* ---- Calls ---- */

static void send_call(struct qn_parse *p, size_t n, bool first)
{
    qn_buf_clear(&p->clean);
    qn_output_clean(&p->clean, qn_buf_cstr(&p->args), n);
    p->sink.call(p->sink.ctx, p->calls, first && p->id.len ? qn_buf_cstr(&p->id) : NULL,
                 first ? qn_buf_cstr(&p->name) : NULL, qn_buf_cstr(&p->clean));
    qn_buf_drop(&p->args, n);
}

/* Sends the received arguments; unless `all` is true, an incomplete UTF-8 character is held
 * back. */
static void flush_arguments(struct qn_parse *p, bool all)
{
    size_t n = all ? p->args.len : qn_utf8_whole(qn_buf_cstr(&p->args), p->args.len);
    if (n)
        send_call(p, n, false);
}

bool qn_parse_callable(const struct qn_parse *p)
{
    const char *s = p->name.data;
    size_t n = p->name.len;
    if (n == 0 || p->name.overflow || p->calls >= QN_EVENT_CALLS_MAX || !qn_utf8_valid(s, n))
        return false;
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)s[i] <= ' ' || s[i] == 0x7f)
            return false;
    return !(p->opener->flags & QN_OPEN_KNOWN) || qn_tools_find(p->c.tools, s, n) >= 0;
}

static void commit(struct qn_parse *p)
{
    if (p->committed)
        return;
    p->committed = true;
    p->half = true;
    p->mark = NO_MARK;
    if (p->id.overflow || !qn_utf8_valid(qn_buf_cstr(&p->id), p->id.len))
        qn_buf_clear(&p->id);
    send_call(p, 0, true);
}

void qn_parse_arguments(struct qn_parse *p, const char *bytes, size_t n)
{
    commit(p);
    qn_buf_add(&p->args, bytes, n);
}

enum qn_step qn_parse_object(struct qn_parse *p)
{
    if (p->scan.depth == 0) {
        int c = qn_parse_next(p);
        if (c != '{')
            return c < 0 ? QN_STEP_MORE : QN_STEP_BAD;
        commit(p);
    }
    while (p->pos < p->in.len) {
        enum qn_json_step s = qn_json_scan(&p->scan, p->in.data[p->pos], &p->args);
        if (s == QN_SCAN_BAD)
            return QN_STEP_BAD;
        p->pos++;
        if (s == QN_SCAN_DONE) {
            p->scan = (struct qn_json_scan){0};
            return QN_STEP_DONE;
        }
    }
    return QN_STEP_MORE;
}

void qn_parse_called(struct qn_parse *p)
{
    if (!p->committed)
        qn_parse_arguments(p, "{}", 2);
    flush_arguments(p, true);
    p->committed = p->half = false;
    p->any = true;
    p->calls++;
    p->mark = p->pos;
    p->opened = p->pos;
    qn_buf_clear(&p->name);
    qn_buf_clear(&p->id);
    p->over = p->c.single_call;
}

/* ---- Functions that the forms share ---- */

enum qn_step qn_parse_go(struct qn_parse *p, int phase)
{
    p->phase = phase;
    return QN_STEP_NEXT;
}

enum qn_step qn_parse_skip(struct qn_parse *p, size_t n, int phase)
{
    p->pos += n;
    return qn_parse_go(p, phase);
}

enum qn_step qn_parse_expect(struct qn_parse *p, const char *word, int phase)
{
    enum qn_word w = qn_parse_word(p, word);
    if (w != QN_WORD_YES)
        return w == QN_WORD_MORE ? QN_STEP_MORE : QN_STEP_BAD;
    return qn_parse_go(p, phase);
}

enum qn_step qn_parse_hand_over(struct qn_parse *p, const struct qn_form *form, const void *how)
{
    p->form = form;
    p->how = how;
    memset(p->form_state, 0, sizeof p->form_state);
    return qn_parse_go(p, 0);
}

bool qn_parse_is_space(int c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

int qn_parse_byte(const struct qn_parse *p)
{
    return p->pos < p->in.len ? (unsigned char)p->in.data[p->pos] : -1;
}

int qn_parse_next(struct qn_parse *p)
{
    while (p->pos < p->in.len && qn_parse_is_space(p->in.data[p->pos]))
        p->pos++;
    return qn_parse_byte(p);
}

bool qn_parse_unquote(const struct qn_buf *json, struct qn_buf *out)
{
    struct qn_json *doc;
    if (json->overflow || qn_json_parse(json->data ? json->data : "", json->len, &doc, NULL))
        return false;
    struct qn_jref root = qn_json_root(doc);
    bool is_text = qn_json_type(&root) == QN_JSON_STRING;
    qn_buf_clear(out);
    if (is_text)
        qn_buf_str(out, qn_json_raw_str(&root));
    qn_json_free(doc);
    return is_text && !out->overflow;
}

void qn_parse_quote(struct qn_buf *out, const char *s, size_t n)
{
    qn_buf_char(out, '"');
    for (size_t i = 0; i < n; i++)
        qn_json_escape(out, s[i]);
    qn_buf_char(out, '"');
}

/* ---- The stream ---- */

/* Drops the input bytes that have been passed on and cannot become text any more. */
static void compact(struct qn_parse *p)
{
    size_t n = p->mark < p->sent ? p->mark : p->sent;
    if (p->state == QN_IN_CALLS)
        n = p->mark == NO_MARK ? p->pos : p->mark;
    qn_buf_drop(&p->in, n);
    p->base += n;
    p->sent = p->sent > n ? p->sent - n : 0;
    p->pos -= n;
    p->opened = p->opened > n ? p->opened - n : 0;
    if (p->mark != NO_MARK)
        p->mark -= n;
}

static void run(struct qn_parse *p)
{
    bool more = true;
    while (more && !p->over) {
        more = p->state == QN_IN_TEXT        ? in_text(p)
               : p->state == QN_IN_REASONING ? in_reasoning(p)
                                             : in_calls(p);
    }
    if (p->over) {
        p->state = QN_IN_TEXT;
        p->sent = p->pos = p->in.len;
        p->mark = NO_MARK;
    }
    if (p->committed)
        flush_arguments(p, p->final);
    compact(p);
}

void qn_parse_feed(struct qn_parse *p, const char *bytes, size_t n)
{
    if (p->over || n == 0)
        return;
    qn_buf_add(&p->in, bytes, n);
    run(p);
}

void qn_parse_end(struct qn_parse *p)
{
    p->final = true;
    if (!p->over)
        run(p);
}

/* The text of the opener is no word of a language or of JSON. */
static bool is_mark(const struct qn_opener *o)
{
    return (o->text[0] == '<' || o->text[0] == '[') && o->text[1];
}

void qn_parse_cut(struct qn_parse *p)
{
    if (!p->over && p->state == QN_IN_CALLS && !p->committed && is_mark(p->opener)) {
        p->pos = p->in.len;
        to_text(p);
    }
    qn_parse_end(p);
}

bool qn_parse_broke(const struct qn_parse *p)
{
    return p->broke;
}

int64_t qn_parse_calls(const struct qn_parse *p)
{
    return p->calls;
}

bool qn_parse_over(const struct qn_parse *p)
{
    return p->over;
}

size_t qn_parse_behind_mark(const struct qn_parse *p, const char *bytes, size_t n)
{
    if (p->state != QN_IN_REASONING)
        return 0;
    const char *mark = p->c.syntax.think->close;
    size_t len = strlen(mark), held = p->in.len - p->pos, behind = 0;
    struct qn_buf all;
    qn_buf_init(&all, QN_PARSE_HELD_MAX);
    if (held)
        qn_buf_add(&all, p->in.data + p->pos, held);
    qn_buf_add(&all, bytes, n);
    for (size_t i = 0; i + len <= all.len; i++) {
        if (memcmp(all.data + i, mark, len) != 0)
            continue;
        i += len;
        while (i < all.len && qn_parse_is_space(all.data[i]))
            i++;
        behind = all.len - i;
        break;
    }
    qn_buf_deinit(&all);
    return behind < n ? behind : n;
}

bool qn_parse_in_reasoning(const struct qn_parse *p)
{
    return p->state == QN_IN_REASONING;
}

bool qn_parse_in_text(const struct qn_parse *p)
{
    return p->state == QN_IN_TEXT && p->pos == p->in.len;
}
