/* Statements, and the parser's own tools. */
#include "llm/template_parse.h"

#include "base/buf.h"
#include "llm/template.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *qn_tparse_fail(struct qn_tparser *p, const char *fmt, ...)
{
    char text[256];
    unsigned line, column;
    va_list ap;
    if (p->err)
        return NULL;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    qn_tsource_place(&p->t->source, p->tok->at, &line, &column);
    p->err = qn_fail(p->e, QN_EFORMAT, "chat template, line %u, column %u: %s", line, column, text);
    return NULL;
}

struct qn_tnode *qn_tparse_node(struct qn_tparser *p, enum qn_tkind kind, uint32_t at)
{
    struct qn_tnode *node = qn_arena_alloc(p->t->arena, sizeof(*node));
    node->kind = kind;
    node->at = at;
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
    height = highest(highest(height, &node->kids), &node->other);
    if (height >= QN_TNODE_HEIGHT_MAX)
        return qn_tparse_fail(p, "this expression is longer than %d operators",
                              QN_TNODE_HEIGHT_MAX);
    node->height = (uint16_t)(height + 1);
    return node;
}

void qn_tkids_add(struct qn_tkids *k, const struct qn_tnode *node)
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

bool qn_tparse_expect(struct qn_tparser *p, const char *punct)
{
    if (qn_tparse_accept(p, QN_TOK_PUNCT, punct))
        return true;
    qn_tparse_fail(p, "`%s` is missing", punct);
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

/* Where a name is, or would go, in the table of symbols. Hash: FNV-1a. */
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
    uint32_t found = *bucket(t, s, n);
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

uint32_t qn_tparse_symbol(struct qn_tparser *p, const char *s, size_t n)
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

static bool close_statement(struct qn_tparser *p)
{
    if (p->tok->kind != QN_TOK_CLOSE_STMT) {
        qn_tparse_fail(p, "`%%}` is missing");
        return false;
    }
    p->tok++;
    return true;
}

/* {% word ...: at the tag that begins with this word. */
static bool at_tag(const struct qn_tparser *p, const char *word)
{
    return p->tok->kind == QN_TOK_OPEN_STMT && qn_ttoken_is(p->tok + 1, QN_TOK_NAME, word);
}

/* The tag that at_tag found has nothing else in it. */
static bool end_tag(struct qn_tparser *p)
{
    p->tok += 2;
    return close_statement(p);
}

static const struct qn_tnode *parse_statement(struct qn_tparser *p);

/* The nodes up to a tag that begins with one of the words (NULL at the end). */
static bool parse_body(struct qn_tparser *p, const char *const *until, struct qn_tnodes *out)
{
    struct qn_tkids kids = {0};
    bool ok = qn_tparse_down(p);
    while (ok) {
        bool ended = false;
        for (size_t i = 0; until[i]; i++)
            ended = ended || at_tag(p, until[i]);
        if (ended)
            break;
        if (p->tok->kind == QN_TOK_END) {
            qn_tparse_fail(p, "`{%% %s %%}` is missing", until[0]);
            ok = false;
            break;
        }
        const struct qn_tnode *node = parse_statement(p);
        ok = node != NULL;
        if (ok)
            qn_tkids_add(&kids, node);
    }
    *out = qn_tparse_kids(p, &kids);
    p->depth -= ok;
    return ok;
}

/* The body of a block that only `word` ends, and that end itself. */
static bool parse_block(struct qn_tparser *p, const char *word, struct qn_tnodes *out)
{
    const char *until[] = {word, NULL};
    return close_statement(p) && parse_body(p, until, out) && end_tag(p);
}

static const struct qn_tnode *parse_branch(struct qn_tparser *p)
{
    static const char *const until[] = {"endif", "elif", "else", NULL};
    struct qn_tnode *branch = qn_tparse_node(p, QN_N_BRANCH, p->tok->at);
    branch->a = qn_tparse_expression(p);
    if (!branch->a || !close_statement(p) || !parse_body(p, until, &branch->kids))
        return NULL;
    return qn_tparse_done(p, branch);
}

/* {% else %} body, when it is there. */
static bool parse_else(struct qn_tparser *p, const char *end, struct qn_tnodes *out)
{
    const char *until[] = {end, NULL};
    if (!at_tag(p, "else"))
        return true;
    return end_tag(p) && parse_body(p, until, out);
}

static const struct qn_tnode *parse_if(struct qn_tparser *p, struct qn_tnode *node)
{
    struct qn_tkids branches = {0};
    const struct qn_tnode *branch = parse_branch(p);
    while (branch) {
        qn_tkids_add(&branches, branch);
        if (!at_tag(p, "elif"))
            break;
        p->tok += 2;
        branch = parse_branch(p);
    }
    node->kids = qn_tparse_kids(p, &branches);
    bool ok = branch && parse_else(p, "endif", &node->other) && end_tag(p);
    return ok ? qn_tparse_done(p, node) : NULL;
}

static const struct qn_tnode *parse_for(struct qn_tparser *p, struct qn_tnode *node)
{
    static const char *const until[] = {"endfor", "else", NULL};
    size_t loops = p->loops;
    node->a = qn_tparse_sequence(p, true);
    if (!node->a)
        return NULL;
    if (!qn_tparse_accept(p, QN_TOK_NAME, "in"))
        return qn_tparse_fail(p, "`in` is missing");
    node->b = qn_tparse_expression(p);
    bool ok = node->b && close_statement(p) && parse_body(p, until, &node->kids) &&
              parse_else(p, "endfor", &node->other) && end_tag(p);
    node->flag = p->loops > loops;
    return ok ? qn_tparse_done(p, node) : NULL;
}

static const struct qn_tnode *parse_set(struct qn_tparser *p, struct qn_tnode *node)
{
    node->a = qn_tparse_sequence(p, false);
    if (!node->a)
        return NULL;
    if (qn_tparse_accept(p, QN_TOK_PUNCT, "=")) {
        node->b = qn_tparse_sequence(p, false);
        return node->b && close_statement(p) ? qn_tparse_done(p, node) : NULL;
    }
    node->kind = QN_N_SET_BLOCK;
    return parse_block(p, "endset", &node->kids) ? qn_tparse_done(p, node) : NULL;
}

static bool parse_param(struct qn_tparser *p, struct qn_tparams *params, size_t cap)
{
    if (p->tok->kind != QN_TOK_NAME) {
        qn_tparse_fail(p, "a parameter's name is missing");
        return false;
    }
    struct qn_tparam param = {.name = qn_tval_string(p->tok->s, p->tok->n),
                              .symbol = qn_tparse_symbol(p, p->tok->s, p->tok->n)};
    for (size_t i = 0; i < params->n; i++) {
        if (params->v[i].symbol == param.symbol) {
            qn_tparse_fail(p, "two parameters have this name");
            return false;
        }
    }
    p->tok++;
    if (qn_tparse_accept(p, QN_TOK_PUNCT, "=")) {
        param.value = qn_tparse_expression(p);
        if (!param.value)
            return false;
    } else if (params->n > 0 && params->v[params->n - 1].value) {
        qn_tparse_fail(p, "a parameter without default follows one with default");
        return false;
    }
    if (params->n == cap) {
        qn_tparse_fail(p, "a macro has more than %zu parameters", cap);
        return false;
    }
    params->v[params->n++] = param;
    return true;
}

static struct qn_tparams *parse_params(struct qn_tparser *p)
{
    enum { PARAMS_MAX = 64 };
    struct qn_tparam found[PARAMS_MAX];
    struct qn_tparams *params = qn_arena_alloc(p->t->arena, sizeof(*params));
    params->v = found;
    if (!qn_tparse_expect(p, "("))
        return NULL;
    while (!qn_tparse_accept(p, QN_TOK_PUNCT, ")")) {
        if (!parse_param(p, params, PARAMS_MAX))
            return NULL;
        qn_tparse_accept(p, QN_TOK_PUNCT, ",");
    }
    params->v = qn_arena_alloc(p->t->arena, params->n * sizeof(found[0]) + 1);
    memcpy(params->v, found, params->n * sizeof(found[0]));
    return params;
}

static bool has_param(const struct qn_tparams *params, const char *name)
{
    for (size_t i = 0; i < params->n; i++)
        if (qn_tval_str_eq(&params->v[i].name, name))
            return true;
    return false;
}

/* The body of a macro or call block, and whether it asks for varargs and kwargs. */
static bool parse_macro_body(struct qn_tparser *p, const char *end, struct qn_tparams *params,
                             struct qn_tnode *node)
{
    bool varargs = p->varargs, kwargs = p->kwargs;
    size_t loops = p->loops;
    p->varargs = p->kwargs = false;
    bool ok = parse_block(p, end, &node->kids);
    params->varargs = p->varargs && !has_param(params, "varargs");
    params->kwargs = p->kwargs && !has_param(params, "kwargs");
    p->varargs = p->varargs || varargs;
    p->kwargs = p->kwargs || kwargs;
    node->params = params;
    p->t->macros_loop = p->t->macros_loop || p->loops > loops;
    return ok;
}

static const struct qn_tnode *parse_macro(struct qn_tparser *p, struct qn_tnode *node)
{
    if (p->tok->kind != QN_TOK_NAME)
        return qn_tparse_fail(p, "the macro's name is missing");
    node->val = qn_tval_string(p->tok->s, p->tok->n);
    node->symbol = qn_tparse_symbol(p, p->tok->s, p->tok->n);
    p->tok++;
    struct qn_tparams *params = parse_params(p);
    bool ok = params && parse_macro_body(p, "endmacro", params, node);
    return ok ? qn_tparse_done(p, node) : NULL;
}

static const struct qn_tnode *parse_call(struct qn_tparser *p, struct qn_tnode *node)
{
    struct qn_tparams *params = qn_arena_alloc(p->t->arena, sizeof(*params));
    if (qn_tparse_at(p, QN_TOK_PUNCT, "(") && !(params = parse_params(p)))
        return NULL;
    node->val = qn_tval_string("caller", 6);
    node->symbol = qn_tparse_symbol(p, "caller", 6);
    node->a = qn_tparse_postfix(p);
    if (!node->a)
        return NULL;
    if (node->a->kind != QN_N_CALL)
        return qn_tparse_fail(p, "a call block needs a call, as in {%% call macro() %%}");
    return parse_macro_body(p, "endcall", params, node) ? qn_tparse_done(p, node) : NULL;
}

static const struct qn_tnode *parse_filter_block(struct qn_tparser *p, struct qn_tnode *node)
{
    node->a = qn_tparse_filter(p, NULL, p->tok->at);
    if (!node->a || !parse_block(p, "endfilter", &node->kids))
        return NULL;
    return qn_tparse_done(p, node);
}

static const struct qn_tnode *parse_jump(struct qn_tparser *p, struct qn_tnode *node)
{
    return close_statement(p) ? qn_tparse_done(p, node) : NULL;
}

static const struct {
    const char *word;
    enum qn_tkind kind;
    const struct qn_tnode *(*parse)(struct qn_tparser *p, struct qn_tnode *node);
} statements[] = {
    {"if", QN_N_IF, parse_if},
    {"for", QN_N_FOR, parse_for},
    {"set", QN_N_SET, parse_set},
    {"macro", QN_N_MACRO, parse_macro},
    {"call", QN_N_CALL_BLOCK, parse_call},
    {"filter", QN_N_FILTER_BLOCK, parse_filter_block},
    {"break", QN_N_BREAK, parse_jump},
    {"continue", QN_N_CONTINUE, parse_jump},
};

static const struct qn_tnode *parse_tag(struct qn_tparser *p)
{
    uint32_t at = p->tok->at;
    p->tok++;
    if (p->tok->kind != QN_TOK_NAME)
        return qn_tparse_fail(p, "the tag's name is missing");
    for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]); i++) {
        if (qn_tparse_accept(p, QN_TOK_NAME, statements[i].word))
            return statements[i].parse(p, qn_tparse_node(p, statements[i].kind, at));
    }
    return qn_tparse_fail(p, "unknown or misplaced tag `%.*s`",
                          p->tok->n > 64 ? 64 : (int)p->tok->n, p->tok->s);
}

static const struct qn_tnode *parse_statement(struct qn_tparser *p)
{
    struct qn_tnode *node;
    switch (p->tok->kind) {
    case QN_TOK_OPEN_STMT:
        return parse_tag(p);
    case QN_TOK_TEXT:
        node = qn_tparse_node(p, QN_N_TEXT, p->tok->at);
        node->val = qn_tval_string(p->tok->s, p->tok->n);
        p->tok++;
        return qn_tparse_done(p, node);
    default:
        break;
    }
    node = qn_tparse_node(p, QN_N_OUTPUT, p->tok->at);
    p->tok++;
    node->a = qn_tparse_expression(p);
    if (node->a && p->tok->kind != QN_TOK_CLOSE_EXPR)
        return qn_tparse_fail(p, "`}}` is missing");
    p->tok++;
    return node->a ? qn_tparse_done(p, node) : NULL;
}

qn_err qn_tparse(struct qn_template *t, struct qn_error *e)
{
    struct qn_ttoken *tokens;
    qn_err err = qn_tlex(&t->source, t->arena, &tokens, e);
    if (err)
        return err;
    struct qn_tparser p = {.t = t, .tok = tokens, .e = e};
    struct qn_tkids kids = {0};
    grow_symbols(&p);
    while (!p.err && p.tok->kind != QN_TOK_END) {
        const struct qn_tnode *node = parse_statement(&p);
        if (node)
            qn_tkids_add(&kids, node);
    }
    t->body = qn_tparse_kids(&p, &kids);
    free(tokens);
    return p.err;
}
