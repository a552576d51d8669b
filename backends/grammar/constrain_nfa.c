/* Compiles regular expressions over characters to automata over bytes: first a nondeterministic
 * automaton in continuation-passing style (Thompson, CACM 11(6), 1968), then the subset
 * construction. */
#include "grammar/constrain_grammar.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>

enum node_kind {
    NODE_BYTES, /* a byte of lo..hi, then node a */
    NODE_SPLIT, /* node a or node b, without reading a byte */
    NODE_FAIL,
    NODE_MATCH,
    NODE_BEGIN, /* node a, but only before the first byte */
    NODE_END    /* node a, but only after the last byte */
};

struct node {
    uint8_t kind, lo, hi;
    uint32_t a, b;
};

struct nfa {
    struct node *v;
    uint32_t n, cap;
    bool full;
    enum qn_gx_encoding encoding;
    struct qn_constraint_budget *budget; /* borrowed */
    /* Working memory of the subset construction. */
    uint32_t *mark, epoch; /* [n] */
    uint32_t *stack, *found;
    size_t n_found;
};

static uint32_t node(struct nfa *f, struct node v)
{
    if (f->n == QN_GRAMMAR_NFA_MAX || !qn_budget_take(f->budget, 1)) {
        f->full = true;
        return 0;
    }
    if (f->n == f->cap) {
        f->cap = f->cap ? f->cap * 2 : 256;
        f->v = qn_xrealloc(f->v, f->cap * sizeof *f->v);
    }
    f->v[f->n] = v;
    return f->n++;
}

/* A node for a byte of lo..hi, followed by `next`. Reuses an equal node among the last 256 made
 * since `since`: the ranges of a set are ascending, so equal nodes are close together. */
static uint32_t bytes(struct nfa *f, uint8_t lo, uint8_t hi, uint32_t next, uint32_t since)
{
    enum { NEAR = 256 };
    uint32_t from = f->n - since > NEAR ? f->n - NEAR : since;
    qn_budget_take(f->budget, (f->n - from) / 4);
    for (uint32_t i = from; i < f->n; i++)
        if (f->v[i].kind == NODE_BYTES && f->v[i].lo == lo && f->v[i].hi == hi && f->v[i].a == next)
            return i;
    return node(f, (struct node){.kind = NODE_BYTES, .lo = lo, .hi = hi, .a = next});
}

static uint32_t either(struct nfa *f, uint32_t a, uint32_t b)
{
    if (f->v[a].kind == NODE_FAIL)
        return b;
    return node(f, (struct node){.kind = NODE_SPLIT, .a = a, .b = b});
}

static uint32_t text(struct nfa *f, const char *s, size_t n, uint32_t next)
{
    while (n-- > 0)
        next = bytes(f, (uint8_t)s[n], (uint8_t)s[n], next, f->n);
    return next;
}

/* Code points first..last. Recurses until all UTF-8 forms of a range have the same length and are
 * the product of one byte range per position. */
static uint32_t utf8(struct nfa *f, uint32_t first, uint32_t last, uint32_t next, uint32_t since,
                     uint32_t otherwise)
{
    static const uint32_t ends[] = {0x7f, 0x7ff, 0xffff, QN_CODEPOINT_MAX};
    for (size_t i = 0; i < 3; i++)
        if (first <= ends[i] && last > ends[i])
            return utf8(f, first, ends[i], next, since,
                        utf8(f, ends[i] + 1, last, next, since, otherwise));
    char a[4], b[4];
    size_t n = qn_utf8_encode(first, a);
    for (size_t i = 1; i < n; i++) {
        uint32_t mask = (1u << 6 * i) - 1;
        if ((first & ~mask) == (last & ~mask))
            continue;
        if ((first & mask) != 0)
            return utf8(f, first, first | mask, next, since,
                        utf8(f, (first | mask) + 1, last, next, since, otherwise));
        if ((last & mask) != mask)
            return utf8(f, first, (last & ~mask) - 1, next, since,
                        utf8(f, last & ~mask, last, next, since, otherwise));
    }
    qn_utf8_encode(last, b);
    while (n-- > 0)
        next = bytes(f, (uint8_t)a[n], (uint8_t)b[n], next, since);
    return either(f, otherwise, next);
}

static uint32_t plain_range(struct nfa *f, uint32_t first, uint32_t last, uint32_t next,
                            uint32_t since, uint32_t otherwise)
{
    if (first == 0)
        first = 1;
    if (first <= last && first < 0xd800)
        otherwise = utf8(f, first, last < 0xd800 ? last : 0xd7ff, next, since, otherwise);
    if (last > 0xdfff)
        otherwise = utf8(f, first > 0xdfff ? first : 0xe000, last, next, since, otherwise);
    return otherwise;
}

/* The form within a JSON string: RFC 8259, section 7. */
static uint32_t json_range(struct nfa *f, uint32_t first, uint32_t last, uint32_t next,
                           uint32_t since, uint32_t otherwise)
{
    static const struct {
        uint32_t cp;
        const char *form;
    } escapes[] = {{'\b', "\\b"}, {'\t', "\\t"}, {'\n', "\\n"}, {'\f', "\\f"},
                   {'\r', "\\r"}, {'"', "\\\""}, {'\\', "\\\\"}};
    uint32_t from = first;
    for (size_t i = 0; i < sizeof escapes / sizeof escapes[0]; i++)
        if (first <= escapes[i].cp && last >= escapes[i].cp)
            otherwise = either(f, otherwise, text(f, escapes[i].form, 2, next));
    for (; from <= last && from < 0x20; from++) {
        char form[7];
        if (from == 0 || (from >= '\b' && from <= '\r' && from != 0x0b))
            continue;
        form[0] = '\\', form[1] = 'u', form[2] = form[3] = '0';
        form[4] = (char)('0' + (from >> 4));
        form[5] = "0123456789abcdef"[from & 15];
        otherwise = either(f, otherwise, text(f, form, 6, next));
    }
    static const uint32_t apart[] = {'"', '\\'};
    for (size_t i = 0; i < 2 && from <= last; i++) {
        if (from < apart[i])
            otherwise =
                plain_range(f, from, last < apart[i] ? last : apart[i] - 1, next, since, otherwise);
        if (from <= apart[i])
            from = apart[i] + 1;
    }
    return from <= last ? plain_range(f, from, last, next, since, otherwise) : otherwise;
}

static uint32_t emit(struct nfa *f, const struct qn_gx *x, uint32_t next);

static uint32_t emit_set(struct nfa *f, const struct qn_gx *x, uint32_t next)
{
    uint32_t since = f->n, all = node(f, (struct node){.kind = NODE_FAIL});
    for (size_t i = 0; i < x->set.n; i++) {
        uint32_t last = x->set.v[i].last < QN_CODEPOINT_MAX ? x->set.v[i].last : QN_CODEPOINT_MAX;
        all = (f->encoding == QN_GX_JSON ? json_range : plain_range)(f, x->set.v[i].first, last,
                                                                     next, since, all);
    }
    return all;
}

static uint32_t emit_repeat(struct nfa *f, const struct qn_gx *x, uint32_t next)
{
    const struct qn_gx *body = x->repeat.body;
    uint32_t end = next;
    if (x->repeat.max == QN_REPEAT_EVER) {
        uint32_t loop = node(f, (struct node){.kind = NODE_SPLIT, .b = next});
        uint32_t start = emit(f, body, loop);
        f->v[loop].a = start;
        end = loop;
    } else {
        for (uint32_t i = x->repeat.min; i < x->repeat.max && !f->full; i++) {
            uint32_t start = emit(f, body, end);
            end = node(f, (struct node){.kind = NODE_SPLIT, .a = start, .b = next});
        }
    }
    for (uint32_t i = 0; i < x->repeat.min && !f->full; i++) {
        uint32_t made = f->n, start = emit(f, body, end);
        /* An iteration that adds no node will not add any later either, so the loop would not end
         * by filling f. */
        if (start == end && f->n == made)
            break;
        end = start;
    }
    return end;
}

static uint32_t emit(struct nfa *f, const struct qn_gx *x, uint32_t next)
{
    if (f->full)
        return 0;
    switch (x->kind) {
    case QN_GX_EMPTY:
        return next;
    case QN_GX_BYTES:
        if (f->encoding == QN_GX_UTF8)
            return text(f, x->bytes.s, x->bytes.n, next);
        for (size_t at = 0, n = x->bytes.n; n > 0 && !f->full; n = at) {
            /* Characters are emitted from the last to the first. */
            at = n - 1;
            while (at > 0 && ((uint8_t)x->bytes.s[at] & 0xc0) == 0x80)
                at--;
            uint32_t cp;
            qn_utf8_decode(x->bytes.s + at, n - at, &cp);
            uint32_t fail = node(f, (struct node){.kind = NODE_FAIL});
            next = json_range(f, cp, cp, next, f->n, fail);
        }
        return next;
    case QN_GX_SET:
        return emit_set(f, x, next);
    case QN_GX_SEQ:
        for (size_t i = x->list.n; i-- > 0;)
            next = emit(f, x->list.v[i], next);
        return next;
    case QN_GX_ALT: {
        uint32_t all = node(f, (struct node){.kind = NODE_FAIL});
        for (size_t i = x->list.n; i-- > 0;) {
            uint32_t one = emit(f, x->list.v[i], next);
            all = either(f, all, one);
        }
        return all;
    }
    case QN_GX_REPEAT:
        return emit_repeat(f, x, next);
    case QN_GX_BEGIN:
        return node(f, (struct node){.kind = NODE_BEGIN, .a = next});
    case QN_GX_END:
        return node(f, (struct node){.kind = NODE_END, .a = next});
    case QN_GX_NEVER:
    case QN_GX_RULE:
    case QN_GX_DFA:
        break;
    }
    return node(f, (struct node){.kind = NODE_FAIL});
}

/* Collects in f->found the nodes that are reached from `start` without reading a byte: byte nodes,
 * the match, and conditions on the end of the text. first: no byte has been read; last: no byte
 * will follow. */
static void reach(struct nfa *f, uint32_t start, bool first, bool last)
{
    size_t n = 0;
    if (f->mark[start] != f->epoch) {
        f->mark[start] = f->epoch;
        f->stack[n++] = start;
    }
    uint64_t steps = 1;
    for (; n > 0; steps++) {
        uint32_t i = f->stack[--n], to[2];
        const struct node *v = &f->v[i];
        size_t ways = 0;
        if (v->kind == NODE_SPLIT) {
            to[ways++] = v->b;
            to[ways++] = v->a;
        } else if (v->kind == NODE_BEGIN) {
            if (first)
                to[ways++] = v->a;
        } else if (v->kind == NODE_END) {
            f->found[f->n_found++] = i;
            if (last)
                to[ways++] = v->a;
        } else if (v->kind != NODE_FAIL) {
            f->found[f->n_found++] = i;
        }
        for (size_t w = 0; w < ways; w++) {
            if (f->mark[to[w]] != f->epoch) {
                f->mark[to[w]] = f->epoch;
                f->stack[n++] = to[w];
            }
        }
    }
    qn_budget_take(f->budget, steps);
}

static void begin_set(struct nfa *f)
{
    f->epoch++;
    f->n_found = 0;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* A state's key: 1 when no byte has been read yet (else 0), then the node numbers. */
static void write_set(struct nfa *f, uint32_t first, struct qn_buf *to)
{
    qsort(f->found, f->n_found, sizeof *f->found, by_number);
    qn_buf_add(to, &first, sizeof first);
    qn_buf_add(to, f->found, f->n_found * sizeof *f->found);
}

static bool subset_step(void *ctx, const void *from, size_t n, uint8_t byte, struct qn_buf *to)
{
    struct nfa *f = ctx;
    const char *p = from;
    begin_set(f);
    for (size_t at = sizeof(uint32_t); at < n; at += sizeof(uint32_t)) {
        uint32_t i;
        memcpy(&i, p + at, sizeof i);
        if (f->v[i].kind == NODE_BYTES && byte >= f->v[i].lo && byte <= f->v[i].hi)
            reach(f, f->v[i].a, false, false);
    }
    if (f->n_found == 0)
        return false;
    write_set(f, 0, to);
    return true;
}

static uint8_t subset_flags(void *ctx, const void *state, size_t n)
{
    struct nfa *f = ctx;
    const char *p = state;
    uint32_t first;
    memcpy(&first, p, sizeof first);
    begin_set(f);
    for (size_t at = sizeof first; at < n; at += sizeof(uint32_t)) {
        uint32_t i;
        memcpy(&i, p + at, sizeof i);
        reach(f, i, first, true);
    }
    for (size_t i = 0; i < f->n_found; i++)
        if (f->v[f->found[i]].kind == NODE_MATCH)
            return QN_DFA_ACCEPT;
    return 0;
}

/* Bytes that no edge distinguishes share a class. */
static void make_classes(const struct nfa *f, struct qn_dfa_plan *plan)
{
    bool begins[257] = {true};
    for (uint32_t i = 0; i < f->n; i++) {
        if (f->v[i].kind == NODE_BYTES) {
            begins[f->v[i].lo] = true;
            begins[f->v[i].hi + 1] = true;
        }
    }
    for (int byte = 0; byte < 256; byte++) {
        plan->classes += begins[byte];
        plan->of[byte] = (uint8_t)(plan->classes - 1);
    }
}

qn_err qn_gx_compile(const struct qn_gx *x, enum qn_gx_encoding encoding,
                     struct qn_constraint_budget *budget, struct qn_dfa *out, struct qn_error *e)
{
    struct nfa f = {.encoding = encoding, .budget = budget};
    uint32_t match = node(&f, (struct node){.kind = NODE_MATCH});
    uint32_t start = emit(&f, x, match);
    if (f.full) {
        free(f.v);
        return budget->over
                   ? qn_budget_fail(e)
                   : qn_fail(e, QN_ELIMIT, "needs more than %d states", (int)QN_GRAMMAR_NFA_MAX);
    }
    f.mark = qn_xcalloc(f.n, sizeof *f.mark);
    f.stack = qn_xcalloc((size_t)f.n + 1, sizeof *f.stack);
    f.found = qn_xcalloc((size_t)f.n + 1, sizeof *f.found);
    struct qn_dfa_plan plan = {
        .ctx = &f, .step = subset_step, .flags = subset_flags, .budget = budget};
    make_classes(&f, &plan);
    struct qn_buf key;
    qn_buf_init(&key, QN_DFA_KEYS_MAX);
    begin_set(&f);
    reach(&f, start, true, false);
    write_set(&f, 1, &key);
    qn_err err = qn_dfa_build(&plan, key.data, key.len, out, e);
    qn_buf_deinit(&key);
    free(f.v);
    free(f.mark);
    free(f.stack);
    free(f.found);
    return err;
}

qn_err qn_dfa_without(struct qn_grammar *g, const char *marker, struct qn_dfa *out,
                      struct qn_error *e)
{
    const struct qn_gx *all = qn_gx_repeat(g, qn_gx_set_not(g, NULL, 0), 0, QN_REPEAT_EVER);
    const struct qn_gx *with[3] = {all, qn_gx_text(g, marker), all};
    struct qn_dfa any, some;
    qn_err err = qn_gx_compile(all, QN_GX_UTF8, g->budget, &any, e);
    if (err)
        return err;
    err = qn_gx_compile(qn_gx_seq(g, with, 3), QN_GX_UTF8, g->budget, &some, e);
    if (!err) {
        err = qn_dfa_subtract(&any, &some, g->budget, out, e);
        qn_dfa_deinit(&some);
    }
    qn_dfa_deinit(&any);
    return err;
}
