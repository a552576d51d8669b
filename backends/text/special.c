/* Special tokens as a sorted list in which each entry links to its longest proper prefix. The
 * longest token that matches at a position is on the chain of the last entry that does not sort
 * after the text at this position. */
#include "text/special.h"

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

static int compare(const struct qn_token *a, const struct qn_token *b)
{
    int c = memcmp(a->s, b->s, a->n < b->n ? a->n : b->n);
    return c != 0 ? c : (a->n > b->n) - (a->n < b->n);
}

/* Sorts by bytes; of equal texts the lower id comes first. */
static int by_bytes(const void *x, const void *y, void *vocab)
{
    const struct qn_vocab *v = vocab;
    int32_t a = ((const struct qn_special_entry *)x)->id;
    int32_t b = ((const struct qn_special_entry *)y)->id;
    int c = compare(&v->token[a], &v->token[b]);
    return c != 0 ? c : (a > b) - (a < b);
}

static bool is_prefix(const struct qn_token *a, const struct qn_token *b)
{
    return a->n <= b->n && memcmp(a->s, b->s, a->n) == 0;
}

void qn_special_init(struct qn_special *s, const struct qn_vocab *v, unsigned kinds)
{
    *s = (struct qn_special){.n = 0};
    size_t count = 0;
    for (int32_t i = 0; i < v->n; i++) {
        count += v->token[i].n > 0 && (kinds >> v->token[i].kind & 1u) != 0;
    }
    s->entry = qn_xcalloc(count, sizeof *s->entry);
    for (int32_t i = 0; i < v->n; i++) {
        if (v->token[i].n > 0 && (kinds >> v->token[i].kind & 1u) != 0) {
            s->entry[s->n++].id = i;
        }
    }
    qsort_r(s->entry, (size_t)s->n, sizeof *s->entry, by_bytes, (void *)v);
    int32_t kept = 0;
    for (int32_t i = 0; i < s->n; i++) {
        const struct qn_token *t = &v->token[s->entry[i].id];
        int32_t up = kept - 1;
        while (up >= 0 && !is_prefix(&v->token[s->entry[up].id], t)) {
            up = s->entry[up].shorter;
        }
        if (up >= 0 && v->token[s->entry[up].id].n == t->n) {
            continue; /* a duplicate text */
        }
        s->entry[kept].id = s->entry[i].id;
        s->entry[kept].shorter = up;
        kept++;
    }
    s->n = kept;
    for (int32_t i = 0, c = 0; c <= 256; c++) {
        while (i < s->n && (unsigned char)v->token[s->entry[i].id].s[0] < c) {
            i++;
        }
        s->first[c] = i;
    }
}

void qn_special_deinit(struct qn_special *s)
{
    free(s->entry);
    *s = (struct qn_special){.n = 0};
}

int32_t qn_special_longest(const struct qn_special *s, const struct qn_vocab *v, const char *text,
                           size_t n)
{
    unsigned char c = (unsigned char)*text;
    struct qn_token here = {.s = text, .n = n > v->longest ? v->longest : (uint32_t)n};
    int32_t low = s->first[c], high = s->first[c + 1]; /* entries below `low` do not sort after the
                                                          text */
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (compare(&v->token[s->entry[middle].id], &here) <= 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    int32_t i = low - 1;
    if (i < s->first[c]) {
        return -1;
    }
    const struct qn_token *t = &v->token[s->entry[i].id];
    uint32_t common = 0;
    while (common < t->n && common < here.n && t->s[common] == text[common]) {
        common++;
    }
    while (i >= 0 && v->token[s->entry[i].id].n > common) {
        i = s->entry[i].shorter;
    }
    return i;
}

int32_t qn_special_next(const struct qn_special *s, const struct qn_vocab *v, const char *text,
                        size_t from, size_t len, size_t *at)
{
    for (size_t i = from; s->n > 0 && i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if (s->first[c] == s->first[c + 1]) {
            continue;
        }
        int32_t found = qn_special_longest(s, v, text + i, len - i);
        if (found >= 0) {
            *at = i;
            return s->entry[found].id;
        }
    }
    *at = len;
    return -1;
}
