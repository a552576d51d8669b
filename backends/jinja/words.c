/* See words.h. Wrapping follows Python's textwrap with expand_tabs and replace_whitespace off. */
#include "jinja/words.h"

#include "base/str.h"
#include "jinja/filters.h"
#include "jinja/number.h"
#include "jinja/run.h"
#include "jinja/text.h"
#include "jinja/unicode.h"

enum qn_tflow qn_twords_truncate(struct qn_trun *run, const struct qn_tval *text,
                                 const struct qn_tval v[4], struct qn_tval *out)
{
    int64_t length, leeway;
    bool kill = false;
    size_t n = 0, mark = run->out.len;
    struct qn_tval end = v[2].type == QN_T_MISSING ? qn_tval_cstr("...") : v[2];
    length = 255;
    if (v[0].type != QN_T_MISSING)
        QN_T_TRY(qn_tval_index(run, &v[0], &length));
    QN_T_TRY(qn_tval_truth(run, &v[1], &kill));
    QN_T_TRY(qn_tval_index_or(run, &v[3], 5, &leeway));
    QN_T_TRY(qn_tval_need_string(run, &end));
    int64_t kept = length - (int64_t)qn_ttext_len(end.s, end.n);
    if (kept < 0 || leeway < 0)
        return qn_trun_fail(run,
                            "truncate: the length is below that of the end, or the leeway below 0");
    QN_T_TRY(qn_tval_len(run, text, &n));
    *out = *text;
    if ((int64_t)n <=
        (length > INT32_MAX ? INT32_MAX : length) + (leeway > INT32_MAX ? INT32_MAX : leeway))
        return QN_T_OK;
    QN_T_TRY(qn_tval_need_string(run, text));
    size_t bytes = qn_ttext_offset(text->s, text->n, (size_t)kept);
    size_t space = kill ? SIZE_MAX : qn_ttext_rfind(text->s, bytes, " ", 1);
    struct qn_tval head = qn_tval_string(text->s, space == SIZE_MAX ? bytes : space);
    head.kind = text->kind;
    run->out.len = mark;
    return qn_tval_binary(run, QN_OP_ADD, &head, &end, out);
}

struct wrapper {
    struct qn_trun *run;
    int64_t width;
    bool break_long, hyphens;
    struct qn_tlist *chunks; /* words, spaces and parts of words, in the order of the text */
    struct qn_tlist *lines;
};

/* As in textwrap, only ASCII white space counts. */
static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static enum qn_tflow add_chunk(struct wrapper *w, const char *s, size_t from, size_t to)
{
    struct qn_tval v = qn_tval_string(s + from, to - from);
    QN_T_TRY(qn_trun_charge(w->run, 1));
    return to > from ? qn_tlist_push(w->run, w->chunks, &v) : QN_T_OK;
}

static bool letter(const char *s, size_t n, size_t at)
{
    uint32_t cp;
    if (at >= n)
        return false;
    qn_utf8_decode(s + at, n - at, &cp);
    return qn_tchar_word(cp) && !qn_tchar_decimal(cp);
}

static bool word_char(const char *s, size_t n, size_t at)
{
    uint32_t cp;
    if (at >= n)
        return false;
    qn_utf8_decode(s + at, n - at, &cp);
    return qn_tchar_word(cp) || strchr("!\"'&.,?", s[at]) != NULL;
}

/* Offset of the character before `at`. */
static size_t before(const char *s, size_t at)
{
    return at - qn_ttext_last(s, at);
}

/* Whether a word may be broken after the hyphen at `at`: only between letters, as in
 * hyphen-ated. */
static bool breaks_at_hyphen(const char *s, size_t n, size_t start, size_t at)
{
    size_t one = at > start ? before(s, at) : SIZE_MAX;
    size_t two = one != SIZE_MAX && one > start ? before(s, one) : SIZE_MAX;
    bool left = one != SIZE_MAX && two != SIZE_MAX && letter(s, n, one) &&
                (letter(s, n, two) || (s[two] == '-' && two > 0 && letter(s, n, before(s, two))));
    size_t after = at + 1;
    if (!left || !letter(s, n, after))
        return false;
    size_t next = after + qn_ttext_char(s + after, n - after);
    return letter(s, n, next) || (next < n && s[next] == '-' && letter(s, n, next + 1));
}

/* Length in bytes of a dash of two or more hyphens between two words; 0: there is none. */
static size_t dash_at(const char *s, size_t n, size_t at)
{
    size_t end = at;
    while (end < n && s[end] == '-')
        end++;
    bool behind = at > 0 && word_char(s, n, before(s, at));
    uint32_t cp = 0;
    if (end < n)
        qn_utf8_decode(s + end, n - end, &cp);
    return end - at >= 2 && behind && end < n && qn_tchar_word(cp) ? end - at : 0;
}

static enum qn_tflow split_chunks(struct wrapper *w, const char *s, size_t n)
{
    for (size_t at = 0; at < n;) {
        size_t start = at;
        bool space = is_space(s[at]);
        while (at < n && is_space(s[at]) == space) {
            size_t dash = !space && w->hyphens && s[at] == '-' ? dash_at(s, n, at) : 0;
            if (dash) {
                QN_T_TRY(add_chunk(w, s, start, at));
                QN_T_TRY(add_chunk(w, s, at, at + dash));
                at = start = at + dash;
                continue;
            }
            bool hyphen = !space && w->hyphens && s[at] == '-' && breaks_at_hyphen(s, n, start, at);
            at += qn_ttext_char(s + at, n - at);
            if (hyphen) {
                QN_T_TRY(add_chunk(w, s, start, at));
                start = at;
            }
        }
        QN_T_TRY(add_chunk(w, s, start, at));
    }
    return QN_T_OK;
}

static bool blank(const struct qn_tval *v)
{
    return qn_ttext_skip(v->s, v->n) == v->n;
}

/* Finds where to cut a chunk that is wider than a line; the first part goes into the current
 * line. */
static size_t cut_long(const struct wrapper *w, struct qn_tval *chunk, int64_t room)
{
    size_t fits = room < 0 ? 0 : (size_t)room; /* for a full line the first part is empty */
    size_t end = qn_ttext_offset(chunk->s, chunk->n, fits);
    if (w->hyphens && qn_ttext_len(chunk->s, chunk->n) > fits) {
        size_t hyphen = qn_ttext_rfind(chunk->s, end, "-", 1);
        bool word = false;
        for (size_t i = 0; hyphen != SIZE_MAX && i < hyphen; i++)
            word = word || chunk->s[i] != '-';
        if (hyphen != SIZE_MAX && hyphen > 0 && word)
            end = hyphen + 1;
    }
    return end;
}

static enum qn_tflow put_line(struct wrapper *w, const struct qn_tlist *line)
{
    struct qn_tval empty = qn_tval_cstr(""), v;
    QN_T_TRY(qn_ttext_join(w->run, &empty, line, &v));
    return qn_tlist_push(w->run, w->lines, &v);
}

static enum qn_tflow fill_line(struct wrapper *w, size_t *at, struct qn_tlist *line)
{
    int64_t used = 0;
    struct qn_tval *chunks = w->chunks->items;
    while (*at < w->chunks->n) {
        int64_t n = (int64_t)qn_ttext_len(chunks[*at].s, chunks[*at].n);
        if (used + n > w->width)
            break;
        QN_T_TRY(qn_tlist_push(w->run, line, &chunks[(*at)++]));
        used += n;
    }
    if (*at >= w->chunks->n || (int64_t)qn_ttext_len(chunks[*at].s, chunks[*at].n) <= w->width)
        return QN_T_OK;
    if (w->break_long) {
        size_t end = cut_long(w, &chunks[*at], w->width - used);
        struct qn_tval head = qn_tval_string(chunks[*at].s, end);
        QN_T_TRY(qn_tlist_push(w->run, line, &head));
        chunks[*at].s += end;
        chunks[*at].n -= end;
    } else if (line->n == 0) {
        QN_T_TRY(qn_tlist_push(w->run, line, &chunks[(*at)++]));
    }
    return QN_T_OK;
}

static enum qn_tflow wrap_line(struct wrapper *w, const struct qn_tval *text)
{
    QN_T_TRY(qn_tlist_new(w->run, 0, &w->chunks));
    QN_T_TRY(qn_tlist_new(w->run, 0, &w->lines));
    QN_T_TRY(qn_trun_walked(w->run, text->n * 2));
    if (w->width <= 0)
        return qn_trun_fail(w->run, "invalid width (must be > 0)");
    QN_T_TRY(split_chunks(w, text->s, text->n));
    for (size_t at = 0; at < w->chunks->n;) {
        struct qn_tlist *line = NULL;
        QN_T_TRY(qn_trun_charge(w->run, 4));
        QN_T_TRY(qn_tlist_new(w->run, 0, &line));
        if (w->lines->n > 0 && blank(&w->chunks->items[at]))
            at++;
        QN_T_TRY(fill_line(w, &at, line));
        if (line->n > 0 && blank(&line->items[line->n - 1]))
            line->n--;
        if (line->n > 0)
            QN_T_TRY(put_line(w, line));
    }
    return QN_T_OK;
}

enum qn_tflow qn_twords_wrap(struct qn_trun *run, const struct qn_tval *text,
                             const struct qn_tval v[4], struct qn_tval *out)
{
    struct wrapper w = {.run = run, .width = 79, .break_long = true, .hyphens = true};
    struct qn_tval sep =
        qn_tval_is(&v[2], QN_T_BIT(QN_T_MISSING) | QN_T_BIT(QN_T_NONE)) ? qn_tval_cstr("\n") : v[2];
    struct qn_tlist *lines = NULL, *wrapped = NULL;
    QN_T_TRY(qn_tval_need_string(run, text));
    QN_T_TRY(qn_tval_need_string(run, &sep));
    if (v[0].type != QN_T_MISSING)
        QN_T_TRY(qn_tval_index(run, &v[0], &w.width));
    if (v[1].type != QN_T_MISSING)
        QN_T_TRY(qn_tval_truth(run, &v[1], &w.break_long));
    if (v[3].type != QN_T_MISSING)
        QN_T_TRY(qn_tval_truth(run, &v[3], &w.hyphens));
    QN_T_TRY(qn_ttext_lines(run, text, false, &lines));
    QN_T_TRY(qn_tlist_new(run, lines->n, &wrapped));
    for (size_t i = 0; i < lines->n; i++) {
        struct qn_tval line;
        QN_T_TRY(wrap_line(&w, &lines->items[i]));
        QN_T_TRY(qn_ttext_join(run, &sep, w.lines, &line));
        QN_T_TRY(qn_tlist_push(run, wrapped, &line));
    }
    return qn_ttext_join(run, &sep, wrapped, out);
}
