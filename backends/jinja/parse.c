/* See parse.h: functions that all parts of the parser use. */
#include "jinja/parse.h"

#include "base/buf.h"
#include "jinja/template.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void *qn_tparse_fail(struct qn_tparser *p, const char *fmt, ...)
{
    char text[256];
    va_list ap;
    if (p->err)
        return NULL;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    p->err = qn_fail(p->e, QN_EFORMAT, "chat template, line %u: %s", p->tok->line, text);
    return NULL;
}

struct qn_tnode *qn_tparse_node(struct qn_tparser *p, enum qn_tkind kind)
{
    struct qn_tnode *node = qn_arena_alloc(p->t->arena, sizeof(*node));
    node->kind = kind;
    node->line = p->tok->line;
    node->escape = p->escape;
    return node;
}

static int higher(int height, const struct qn_tnode *node)
{
    return node && node->height > height ? node->height : height;
}

static int highest(int height, const struct qn_tnodes *nodes)
{
    for (size_t i = 0; i < nodes->n; i++)
        height = higher(height, nodes->v[i]);
    return height;
}

struct qn_tnode *qn_tparse_done(struct qn_tparser *p, struct qn_tnode *node)
{
    int height = higher(higher(higher(0, node->a), node->b), node->c);
    height = highest(highest(highest(height, &node->kids), &node->other), &node->args);
    if (node->body)
        height = highest(highest(height, &node->body->params), &node->body->defaults);
    if (height >= QN_TNODE_HEIGHT_MAX)
        return qn_tparse_fail(p, "this expression is longer than %d operators",
                              QN_TNODE_HEIGHT_MAX);
    node->height = (uint16_t)(height + 1);
    return node;
}

void qn_tkids_add(struct qn_tkids *k, struct qn_tnode *node)
{
    if (k->n == k->cap) {
        k->cap = k->cap ? k->cap * 2 : 8;
        k->v = qn_xrealloc(k->v, k->cap * sizeof(struct qn_tnode *));
    }
    k->v[k->n++] = node;
}

struct qn_tnodes qn_tparse_kids(struct qn_tparser *p, struct qn_tkids *k)
{
    struct qn_tnodes out = {.n = k->n};
    if (k->n > 0) {
        out.v = qn_arena_alloc(p->t->arena, k->n * sizeof(struct qn_tnode *));
        memcpy(out.v, k->v, k->n * sizeof(struct qn_tnode *));
    }
    free(k->v);
    *k = (struct qn_tkids){0};
    return out;
}

bool qn_tparse_at(const struct qn_tparser *p, enum qn_ttoken_kind kind, const char *s)
{
    return qn_ttoken_is(p->tok, kind, s);
}

bool qn_tparse_accept(struct qn_tparser *p, enum qn_ttoken_kind kind, const char *s)
{
    if (!qn_tparse_at(p, kind, s))
        return false;
    p->tok++;
    return true;
}

bool qn_tparse_expect(struct qn_tparser *p, enum qn_ttoken_kind kind, const char *s)
{
    if (qn_tparse_accept(p, kind, s))
        return true;
    int n = p->tok->n > 40 ? 40 : (int)p->tok->n;
    if (p->tok->kind == QN_TOK_END)
        qn_tparse_fail(p, "unexpected end of template, expected '%s'", s);
    else
        qn_tparse_fail(p, "expected '%s', got '%.*s'", s, n, p->tok->s);
    return false;
}

bool qn_tparse_down(struct qn_tparser *p)
{
    if (p->depth >= QN_TEMPLATE_DEPTH_MAX) {
        qn_tparse_fail(p, "nested deeper than %d levels", QN_TEMPLATE_DEPTH_MAX);
        return false;
    }
    p->depth++;
    return true;
}

/* The table slot in which a name is stored or would be stored. Hash: FNV-1a. */
static uint32_t *bucket(const struct qn_template *t, const char *s, size_t n)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ (unsigned char)s[i]) * 16777619u;
    for (;; hash++) {
        uint32_t *b = &t->buckets[hash & (t->buckets_n - 1)];
        if (*b == 0)
            return b;
        const struct qn_tsymbol *symbol = &t->symbols[*b - 1];
        if (symbol->n == n && memcmp(symbol->s, s, n) == 0)
            return b;
    }
}

uint32_t qn_tsymbol_find(const struct qn_template *t, const char *s, size_t n)
{
    uint32_t found = t->buckets_n ? *bucket(t, s, n) : 0;
    return found ? found - 1 : QN_TSYMBOL_NONE;
}

static void grow_symbols(struct qn_tparser *p)
{
    struct qn_template *t = p->t;
    uint32_t cap = p->symbols_cap ? p->symbols_cap * 2 : 64;
    struct qn_tsymbol *symbols = qn_arena_alloc(t->arena, cap * sizeof(*symbols));
    if (t->symbols_n > 0)
        memcpy(symbols, t->symbols, t->symbols_n * sizeof(*symbols));
    t->symbols = symbols;
    p->symbols_cap = cap;
    t->buckets_n = cap * 2;
    t->buckets = qn_arena_alloc(t->arena, t->buckets_n * sizeof(*t->buckets));
    for (uint32_t i = 0; i < t->symbols_n; i++)
        *bucket(t, symbols[i].s, symbols[i].n) = i + 1;
}

static uint32_t symbol_of(struct qn_tparser *p, const char *s, size_t n)
{
    struct qn_template *t = p->t;
    if (t->symbols_n == p->symbols_cap)
        grow_symbols(p);
    uint32_t *b = bucket(t, s, n);
    if (*b == 0) {
        t->symbols[t->symbols_n] = (struct qn_tsymbol){.s = s, .n = n};
        *b = ++t->symbols_n;
    }
    return *b - 1;
}

struct qn_tnode *qn_tparse_name(struct qn_tparser *p, int use)
{
    static const char *const constants[] = {"true", "false", "none", "True", "False", "None"};
    if (p->tok->kind != QN_TOK_NAME)
        return qn_tparse_fail(p, "a name is missing");
    for (size_t i = 0; use != QN_USE_LOAD && i < 6; i++)
        if (qn_tparse_at(p, QN_TOK_NAME, constants[i]))
            return qn_tparse_fail(p, "can't assign to '%s'", constants[i]);
    struct qn_tnode *node = qn_tparse_node(p, QN_N_NAME);
    node->val = qn_tval_string(p->tok->s, p->tok->n);
    node->symbol = symbol_of(p, p->tok->s, p->tok->n);
    node->use = (uint8_t)use;
    p->tok++;
    return qn_tparse_done(p, node);
}
