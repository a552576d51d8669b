/* Expressions, by precedence. From loosest to tightest: `x if c else y`; or; and; not; comparisons;
 * + - ~; * / // %; **; `is` tests; filters; signs; calls, members and slices.
 * In brackets commas may be left out between items, because the reference lets them be. */
#include "llm/template_parse.h"

#include "llm/template_text.h"

#include <stdlib.h>
#include <string.h>

static const struct level {
    struct {
        enum qn_ttoken_kind token;
        const char *s, *next; /* next: a second word that must follow */
        enum qn_tkind kind;
        enum qn_top op;
    } row[8];
} levels[] = {
    {{{QN_TOK_NAME, "or", NULL, QN_N_OR, QN_OP_NONE}}},
    {{{QN_TOK_NAME, "and", NULL, QN_N_AND, QN_OP_NONE}}},
    {{{0}}}, /* not: a prefix, see parse_not */
    {{{QN_TOK_PUNCT, "==", NULL, QN_N_BINARY, QN_OP_EQ},
      {QN_TOK_PUNCT, "!=", NULL, QN_N_BINARY, QN_OP_NE},
      {QN_TOK_PUNCT, "<=", NULL, QN_N_BINARY, QN_OP_LE},
      {QN_TOK_PUNCT, ">=", NULL, QN_N_BINARY, QN_OP_GE},
      {QN_TOK_PUNCT, "<", NULL, QN_N_BINARY, QN_OP_LT},
      {QN_TOK_PUNCT, ">", NULL, QN_N_BINARY, QN_OP_GT},
      {QN_TOK_NAME, "in", NULL, QN_N_BINARY, QN_OP_IN},
      {QN_TOK_NAME, "not", "in", QN_N_BINARY, QN_OP_NOT_IN}}},
    {{{QN_TOK_PUNCT, "+", NULL, QN_N_BINARY, QN_OP_ADD},
      {QN_TOK_PUNCT, "-", NULL, QN_N_BINARY, QN_OP_SUB},
      {QN_TOK_PUNCT, "~", NULL, QN_N_BINARY, QN_OP_CONCAT}}},
    {{{QN_TOK_PUNCT, "*", NULL, QN_N_BINARY, QN_OP_MUL},
      {QN_TOK_PUNCT, "//", NULL, QN_N_BINARY, QN_OP_FLOOR_DIV},
      {QN_TOK_PUNCT, "/", NULL, QN_N_BINARY, QN_OP_DIV},
      {QN_TOK_PUNCT, "%", NULL, QN_N_BINARY, QN_OP_MOD}}},
    {{{QN_TOK_PUNCT, "**", NULL, QN_N_BINARY, QN_OP_POW}}},
};

enum { LEVEL_NOT = 2, LEVELS = sizeof(levels) / sizeof(levels[0]) };

static const struct qn_tnode *parse_not(struct qn_tparser *p);
static const struct qn_tnode *parse_test(struct qn_tparser *p);

static const struct qn_tnode *parse_level(struct qn_tparser *p, int level)
{
    if (level == LEVELS)
        return parse_test(p);
    if (level == LEVEL_NOT)
        return parse_not(p);
    const struct qn_tnode *left = parse_level(p, level + 1);
    for (size_t i = 0; left && i < 8 && levels[level].row[i].s;) {
        enum qn_ttoken_kind token = levels[level].row[i].token;
        const char *next = levels[level].row[i].next;
        uint32_t at = p->tok->at;
        if (!qn_tparse_at(p, token, levels[level].row[i].s) ||
            (next && !qn_ttoken_is(p->tok + 1, token, next))) {
            i++;
            continue;
        }
        p->tok += next ? 2 : 1;
        struct qn_tnode *node = qn_tparse_node(p, levels[level].row[i].kind, at);
        node->op = levels[level].row[i].op;
        node->a = left;
        node->b = parse_level(p, level + 1);
        left = node->b ? qn_tparse_done(p, node) : NULL;
        i = 0;
    }
    return left;
}

static const struct qn_tnode *parse_not(struct qn_tparser *p)
{
    uint32_t at = p->tok->at;
    if (!qn_tparse_accept(p, QN_TOK_NAME, "not"))
        return parse_level(p, LEVEL_NOT + 1);
    if (!qn_tparse_down(p))
        return NULL;
    struct qn_tnode *node = qn_tparse_node(p, QN_N_NOT, at);
    node->a = parse_not(p);
    p->depth--;
    return node->a ? qn_tparse_done(p, node) : NULL;
}

const struct qn_tnode *qn_tparse_expression(struct qn_tparser *p)
{
    if (!qn_tparse_down(p))
        return NULL;
    const struct qn_tnode *value = parse_level(p, 0);
    uint32_t at = p->tok->at;
    if (value && qn_tparse_accept(p, QN_TOK_NAME, "if")) {
        struct qn_tnode *node = qn_tparse_node(p, QN_N_SELECT, at);
        node->a = value;
        node->b = parse_level(p, 0);
        if (node->b && qn_tparse_accept(p, QN_TOK_NAME, "else")) {
            node->kind = QN_N_TERNARY;
            node->c = qn_tparse_expression(p);
        }
        bool whole = node->b && (node->kind == QN_N_SELECT || node->c);
        value = whole ? qn_tparse_done(p, node) : NULL;
    }
    p->depth--;
    return value;
}

const struct qn_tnode *qn_tparse_filter(struct qn_tparser *p, const struct qn_tnode *operand,
                                        uint32_t at)
{
    struct qn_tnode *node = qn_tparse_node(p, QN_N_FILTER, at);
    if (p->tok->kind != QN_TOK_NAME)
        return qn_tparse_fail(p, "a filter's name is missing");
    node->val = qn_tval_string(p->tok->s, p->tok->n);
    node->a = operand;
    p->tok++;
    if (qn_tparse_at(p, QN_TOK_PUNCT, "(")) {
        node->flag = true;
        if (!qn_tparse_arguments(p, &node->kids))
            return NULL;
    }
    return qn_tparse_done(p, node);
}

static const struct qn_tnode *parse_sign(struct qn_tparser *p)
{
    bool minus = qn_tparse_at(p, QN_TOK_PUNCT, "-");
    if (!minus && !qn_tparse_at(p, QN_TOK_PUNCT, "+"))
        return qn_tparse_postfix(p);
    if (!qn_tparse_down(p))
        return NULL;
    struct qn_tnode *node = qn_tparse_node(p, QN_N_SIGN, p->tok->at);
    node->op = minus ? QN_OP_SUB : QN_OP_ADD;
    p->tok++;
    node->a = parse_sign(p);
    p->depth--;
    return node->a ? qn_tparse_done(p, node) : NULL;
}

static const struct qn_tnode *parse_filters(struct qn_tparser *p)
{
    const struct qn_tnode *node = parse_sign(p);
    for (uint32_t at = p->tok->at; node && qn_tparse_accept(p, QN_TOK_PUNCT, "|"); at = p->tok->at)
        node = qn_tparse_filter(p, node, at);
    return node;
}

static const struct qn_tnode *parse_test(struct qn_tparser *p)
{
    const struct qn_tnode *operand = parse_filters(p);
    for (uint32_t at = p->tok->at; operand && qn_tparse_accept(p, QN_TOK_NAME, "is");
         at = p->tok->at) {
        struct qn_tnode *node = qn_tparse_node(p, QN_N_TEST, at);
        node->flag = qn_tparse_accept(p, QN_TOK_NAME, "not");
        if (p->tok->kind != QN_TOK_NAME)
            return qn_tparse_fail(p, "a test's name is missing after `is`");
        node->a = operand;
        node->val = qn_tval_string(p->tok->s, p->tok->n);
        p->tok++;
        operand = qn_tparse_done(p, node);
    }
    return operand;
}

/* The inside of [ ] after a value: an index or up to three parts with colons. */
static const struct qn_tnode *parse_index(struct qn_tparser *p, const struct qn_tnode *object,
                                          uint32_t at)
{
    const struct qn_tnode *parts[3] = {NULL, NULL, NULL};
    size_t colons = 0;
    bool any = false;
    while (!qn_tparse_at(p, QN_TOK_PUNCT, "]")) {
        if (qn_tparse_accept(p, QN_TOK_PUNCT, ":")) {
            if (++colons > 2)
                return qn_tparse_fail(p, "a slice has at most three parts");
            continue;
        }
        if (parts[colons])
            return qn_tparse_fail(p, "`]` is missing");
        parts[colons] = qn_tparse_expression(p);
        if (!parts[colons])
            return NULL;
        any = true;
    }
    p->tok++;
    if (!any && colons == 0)
        return qn_tparse_fail(p, "an index is missing between [ and ]");
    struct qn_tnode *node = qn_tparse_node(p, colons > 0 ? QN_N_SLICE : QN_N_INDEX, at);
    node->a = object;
    if (colons == 0) {
        node->b = parts[0];
    } else {
        struct qn_tkids kids = {0};
        for (size_t i = 0; i < 3; i++)
            qn_tkids_add(&kids, parts[i]);
        node->kids = qn_tparse_kids(p, &kids);
    }
    return qn_tparse_done(p, node);
}

static const struct qn_tnode *number(struct qn_tparser *p)
{
    struct qn_tnode *node = qn_tparse_node(p, QN_N_LITERAL, p->tok->at);
    double num = qn_text_parse_float(p->tok->s, p->tok->n);
    node->val = p->tok->kind == QN_TOK_INT ? qn_tval_int(num) : qn_tval_float(num);
    p->tok++;
    return qn_tparse_done(p, node);
}

static const struct qn_tnode *parse_member(struct qn_tparser *p, const struct qn_tnode *object,
                                           uint32_t at)
{
    struct qn_tnode *node = qn_tparse_node(p, QN_N_MEMBER, at);
    node->a = object;
    if (p->tok->kind == QN_TOK_INT) {
        node->kind = QN_N_INDEX;
        node->b = number(p);
    } else if (p->tok->kind == QN_TOK_NAME) {
        node->val = qn_tval_string(p->tok->s, p->tok->n);
        p->tok++;
    } else {
        return qn_tparse_fail(p, "a name is missing after the point");
    }
    return qn_tparse_done(p, node);
}

static const struct qn_tnode *parse_argument(struct qn_tparser *p)
{
    uint32_t at = p->tok->at;
    bool keyword = p->tok->kind == QN_TOK_NAME && qn_ttoken_is(p->tok + 1, QN_TOK_PUNCT, "=");
    bool spread = qn_tparse_at(p, QN_TOK_PUNCT, "*"),
         spread_kw = qn_tparse_at(p, QN_TOK_PUNCT, "**");
    if (!keyword && !spread && !spread_kw)
        return qn_tparse_expression(p);
    struct qn_tnode *node = qn_tparse_node(p,
                                           keyword  ? QN_N_KEYWORD
                                           : spread ? QN_N_SPREAD
                                                    : QN_N_SPREAD_KW,
                                           at);
    node->val = qn_tval_string(p->tok->s, p->tok->n);
    p->tok += keyword ? 2 : 1;
    node->a = qn_tparse_expression(p);
    return node->a ? qn_tparse_done(p, node) : NULL;
}

bool qn_tparse_arguments(struct qn_tparser *p, struct qn_tnodes *out)
{
    struct qn_tkids kids = {0};
    bool named = false, ok = qn_tparse_expect(p, "(");
    while (ok && !qn_tparse_accept(p, QN_TOK_PUNCT, ")")) {
        const struct qn_tnode *argument = parse_argument(p);
        if (argument) {
            bool by_name = argument->kind == QN_N_KEYWORD || argument->kind == QN_N_SPREAD_KW;
            if (named && !by_name)
                argument = qn_tparse_fail(p, "positional arguments come before named ones");
            named = named || by_name;
        }
        if (!argument)
            ok = false;
        else
            qn_tkids_add(&kids, argument);
        qn_tparse_accept(p, QN_TOK_PUNCT, ",");
    }
    *out = qn_tparse_kids(p, &kids);
    return ok;
}

static const struct qn_tnode *parse_items(struct qn_tparser *p)
{
    struct qn_tnode *node = qn_tparse_node(p, QN_N_LIST, p->tok->at);
    struct qn_tkids kids = {0};
    bool ok = true;
    p->tok++;
    while (ok && !qn_tparse_accept(p, QN_TOK_PUNCT, "]")) {
        const struct qn_tnode *item = qn_tparse_expression(p);
        qn_tkids_add(&kids, item);
        qn_tparse_accept(p, QN_TOK_PUNCT, ",");
        ok = item != NULL;
    }
    node->kids = qn_tparse_kids(p, &kids);
    return ok ? qn_tparse_done(p, node) : NULL;
}

static const struct qn_tnode *parse_members(struct qn_tparser *p)
{
    struct qn_tnode *node = qn_tparse_node(p, QN_N_DICT, p->tok->at);
    struct qn_tkids kids = {0};
    bool ok = true;
    p->tok++;
    while (ok && !qn_tparse_accept(p, QN_TOK_PUNCT, "}")) {
        const struct qn_tnode *key = qn_tparse_expression(p);
        const struct qn_tnode *value = NULL;
        if (key && qn_tparse_expect(p, ":"))
            value = qn_tparse_expression(p);
        qn_tkids_add(&kids, key);
        qn_tkids_add(&kids, value);
        qn_tparse_accept(p, QN_TOK_PUNCT, ",");
        ok = value != NULL;
    }
    node->kids = qn_tparse_kids(p, &kids);
    return ok ? qn_tparse_done(p, node) : NULL;
}

/* Neighbouring strings are one. */
static const struct qn_tnode *parse_strings(struct qn_tparser *p)
{
    struct qn_tnode *node = qn_tparse_node(p, QN_N_LITERAL, p->tok->at);
    const struct qn_ttoken *first = p->tok;
    size_t n = 0;
    for (; p->tok->kind == QN_TOK_STRING; p->tok++)
        n += p->tok->n;
    char *s = qn_arena_alloc(p->t->arena, n + 1);
    node->val = qn_tval_string(s, n);
    for (; first < p->tok; first++) {
        memcpy(s, first->s, first->n);
        s += first->n;
    }
    return qn_tparse_done(p, node);
}

static const struct qn_tnode *parse_name(struct qn_tparser *p)
{
    struct qn_tnode *node = qn_tparse_node(p, QN_N_NAME, p->tok->at);
    node->val = qn_tval_string(p->tok->s, p->tok->n);
    node->symbol = qn_tparse_symbol(p, p->tok->s, p->tok->n);
    p->loops += qn_tval_str_eq(&node->val, "loop");
    p->varargs = p->varargs || qn_tval_str_eq(&node->val, "varargs");
    p->kwargs = p->kwargs || qn_tval_str_eq(&node->val, "kwargs");
    p->tok++;
    return qn_tparse_done(p, node);
}

static const struct qn_tnode *parse_primary(struct qn_tparser *p)
{
    switch (p->tok->kind) {
    case QN_TOK_INT:
    case QN_TOK_FLOAT:
        return number(p);
    case QN_TOK_STRING:
        return parse_strings(p);
    case QN_TOK_NAME:
        return parse_name(p);
    default:
        break;
    }
    if (qn_tparse_at(p, QN_TOK_PUNCT, "["))
        return parse_items(p);
    if (qn_tparse_at(p, QN_TOK_PUNCT, "{"))
        return parse_members(p);
    if (!qn_tparse_accept(p, QN_TOK_PUNCT, "("))
        return qn_tparse_fail(p, "an expression is missing");
    const struct qn_tnode *inner = qn_tparse_sequence(p, false);
    return inner && qn_tparse_expect(p, ")") ? inner : NULL;
}

const struct qn_tnode *qn_tparse_postfix(struct qn_tparser *p)
{
    const struct qn_tnode *node = parse_primary(p);
    while (node) {
        uint32_t at = p->tok->at;
        if (qn_tparse_accept(p, QN_TOK_PUNCT, ".")) {
            node = parse_member(p, node, at);
        } else if (qn_tparse_accept(p, QN_TOK_PUNCT, "[")) {
            node = parse_index(p, node, at);
        } else if (qn_tparse_at(p, QN_TOK_PUNCT, "(")) {
            struct qn_tnode *call = qn_tparse_node(p, QN_N_CALL, at);
            call->a = node;
            node = qn_tparse_arguments(p, &call->kids) ? qn_tparse_done(p, call) : NULL;
        } else {
            break;
        }
    }
    return node;
}

const struct qn_tnode *qn_tparse_sequence(struct qn_tparser *p, bool primaries)
{
    uint32_t at = p->tok->at;
    const struct qn_tnode *(*parse)(struct qn_tparser *) =
        primaries ? parse_primary : qn_tparse_expression;
    const struct qn_tnode *first = parse(p);
    if (!first || !qn_tparse_at(p, QN_TOK_PUNCT, ","))
        return first;
    struct qn_tnode *tuple = qn_tparse_node(p, QN_N_TUPLE, at);
    struct qn_tkids kids = {0};
    qn_tkids_add(&kids, first);
    while (first && qn_tparse_accept(p, QN_TOK_PUNCT, ",")) {
        first = parse(p);
        qn_tkids_add(&kids, first);
    }
    tuple->kids = qn_tparse_kids(p, &kids);
    return first ? qn_tparse_done(p, tuple) : NULL;
}
