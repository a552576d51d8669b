/* See template_source.h. */
#include "llm/template_source.h"

#include "llm/template_text.h"

#include <stdbool.h>
#include <string.h>

struct reader {
    const char *s; /* the original, without a newline at its end */
    size_t n, i;
    char *out;
    size_t out_n;
    struct qn_tsource *source;
    size_t cuts_cap;
    struct qn_arena *arena;
};

/* Notes how many bytes are gone by now. */
static void note_cut(struct reader *r)
{
    struct qn_tsource *s = r->source;
    if (s->cuts_n == r->cuts_cap) {
        size_t cap = r->cuts_cap ? r->cuts_cap * 2 : 64;
        struct qn_tcut *cuts = qn_arena_alloc(r->arena, cap * sizeof(*cuts));
        if (s->cuts_n > 0)
            memcpy(cuts, s->cuts, s->cuts_n * sizeof(*cuts));
        s->cuts = cuts;
        r->cuts_cap = cap;
    }
    s->cuts[s->cuts_n++] =
        (struct qn_tcut){.at = (uint32_t)r->out_n, .before = (uint32_t)(r->i - r->out_n)};
}

/* JavaScript's idea of a line's start. */
static bool at_line_start(const struct reader *r)
{
    size_t i = r->i;
    return i == 0 || r->s[i - 1] == '\n' || r->s[i - 1] == '\r' ||
           (i >= 3 && (memcmp(r->s + i - 3, "\xE2\x80\xA8", 3) == 0 ||
                       memcmp(r->s + i - 3, "\xE2\x80\xA9", 3) == 0));
}

static void skip_indent(struct reader *r)
{
    size_t k = r->i;
    while (k < r->n && (r->s[k] == ' ' || r->s[k] == '\t'))
        k++;
    if (k > r->i && k + 1 < r->n && r->s[k] == '{' && strchr("#%-", r->s[k + 1]) && r->s[k + 1]) {
        r->i = k;
        note_cut(r);
    }
}

/* Bytes of a generation mark at the reader, or 0; says whether it eats the space around it. */
static size_t generation_mark(const struct reader *r, bool *left, bool *right)
{
    const char *s = r->s + r->i;
    size_t n = r->n - r->i, k = 2;
    if (n < 4 || memcmp(s, "{%", 2) != 0)
        return 0;
    *left = s[k] == '-';
    k += *left;
    k += qn_text_skip(s + k, n - k);
    if (n - k >= 3 && memcmp(s + k, "end", 3) == 0)
        k += 3;
    if (n - k < 10 || memcmp(s + k, "generation", 10) != 0)
        return 0;
    k += 10;
    k += qn_text_skip(s + k, n - k);
    *right = k < n && s[k] == '-';
    k += *right;
    return n - k >= 2 && memcmp(s + k, "%}", 2) == 0 ? k + 2 : 0;
}

static bool skip_generation(struct reader *r)
{
    bool left, right;
    size_t mark = generation_mark(r, &left, &right);
    if (mark == 0)
        return false;
    if (left)
        r->out_n = qn_text_rtrim(r->out, r->out_n);
    r->i += mark;
    if (right)
        r->i += qn_text_skip(r->s + r->i, r->n - r->i);
    else if (r->i < r->n && r->s[r->i] == '\n')
        r->i++;
    while (r->source->cuts_n > 0 && r->source->cuts[r->source->cuts_n - 1].at > r->out_n)
        r->source->cuts_n--;
    note_cut(r);
    return true;
}

void qn_tsource_init(struct qn_tsource *s, struct qn_arena *arena, const char *original, size_t n)
{
    char *copy = qn_arena_alloc(arena, n + 1);
    memcpy(copy, original, n);
    *s = (struct qn_tsource){.original = copy, .original_n = n};
    struct reader r = {.s = copy, .n = n, .source = s, .arena = arena};
    if (n > 0 && copy[n - 1] == '\n')
        r.n--;
    r.out = qn_arena_alloc(arena, n + 1);
    while (r.i < r.n) {
        if (at_line_start(&r))
            skip_indent(&r);
        if (r.s[r.i] == '{' && skip_generation(&r))
            continue;
        bool closes = r.s[r.i] == '}' && r.i > 0 && strchr("#%-", r.s[r.i - 1]) && r.s[r.i - 1];
        r.out[r.out_n++] = r.s[r.i++];
        if (closes && r.i < r.n && r.s[r.i] == '\n') {
            r.i++;
            note_cut(&r);
        }
    }
    s->text = r.out;
    s->n = r.out_n;
}

void qn_tsource_place(const struct qn_tsource *s, uint32_t at, unsigned *line, unsigned *column)
{
    size_t low = 0, high = s->cuts_n; /* the last cut at or before the offset */
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (s->cuts[middle].at <= at)
            low = middle + 1;
        else
            high = middle;
    }
    size_t end = (size_t)at + (low > 0 ? s->cuts[low - 1].before : 0);
    *line = *column = 1;
    for (size_t i = 0; i < end && i < s->original_n; i++) {
        (*column)++;
        if (s->original[i] == '\n') {
            (*line)++;
            *column = 1;
        }
    }
}
