/* See parse.h: operators, tuples and assignment targets. */
#include "jinja/parse.h"

#include <stdlib.h>

static struct qn_tnode *binary(struct qn_tparser *p, enum qn_tkind kind, enum qn_top op,
                               struct qn_tnode *a, struct qn_tnode *b)
{
    struct qn_tnode *node = qn_tparse_node(p, kind);
    node->op = op;
    node->a = a;
    node->b = b;
    return b ? qn_tparse_done(p, node) : NULL;
}

static struct qn_tnode *parse_unary(struct qn_tparser *p, bool with_filter)
{
    struct qn_tnode *node;
    if (qn_tat(p, "-") || qn_tat(p, "+")) {
        node = qn_tparse_node(p, QN_N_SIGN);
        node->op = qn_tat(p, "-") ? QN_OP_SUB : QN_OP_ADD;
        p->tok++;
        if (!qn_tparse_down(p))
            return NULL;
        node->a = parse_unary(p, false);
        p->depth--;
        node = node->a ? qn_tparse_done(p, node) : NULL;
    } else {
        node = qn_tparse_primary(p);
    }
    node = node ? qn_tparse_postfix(p, node) : NULL;
    return node && with_filter ? qn_tparse_filter_chain(p, node) : node;
}

static struct qn_tnode *parse_pow(struct qn_tparser *p)
{
    struct qn_tnode *left = parse_unary(p, true);
    while (left && qn_taccept(p, "**"))
        left = binary(p, QN_N_BINARY, QN_OP_POW, left, parse_unary(p, true));
    return left;
}

static struct qn_tnode *parse_product(struct qn_tparser *p)
{
    struct qn_tnode *left = parse_pow(p);
    while (left) {
        enum qn_top op = qn_taccept(p, "*")    ? QN_OP_MUL
                         : qn_taccept(p, "/")  ? QN_OP_DIV
                         : qn_taccept(p, "//") ? QN_OP_FLOOR_DIV
                         : qn_taccept(p, "%")  ? QN_OP_MOD
                                               : QN_OP_NONE;
        if (op == QN_OP_NONE)
            break;
        left = binary(p, QN_N_BINARY, op, left, parse_pow(p));
    }
    return left;
}

static struct qn_tnode *parse_concat(struct qn_tparser *p)
{
    struct qn_tnode *first = parse_product(p);
    if (!first || !qn_tat(p, "~"))
        return first;
    struct qn_tnode *node = qn_tparse_node(p, QN_N_CONCAT);
    struct qn_tkids kids = {0};
    qn_tkids_add(&kids, first);
    while (first && qn_taccept(p, "~")) {
        first = parse_product(p);
        if (first)
            qn_tkids_add(&kids, first);
    }
    node->kids = qn_tparse_kids(p, &kids);
    return first ? qn_tparse_done(p, node) : NULL;
}

static struct qn_tnode *parse_sum(struct qn_tparser *p)
{
    struct qn_tnode *left = parse_concat(p);
    while (left) {
        enum qn_top op = qn_taccept(p, "+")   ? QN_OP_ADD
                         : qn_taccept(p, "-") ? QN_OP_SUB
                                              : QN_OP_NONE;
        if (op == QN_OP_NONE)
            break;
        left = binary(p, QN_N_BINARY, op, left, parse_concat(p));
    }
    return left;
}

static enum qn_top accept_comparison(struct qn_tparser *p)
{
    static const char *const signs[] = {"==", "!=", "<=", ">=", "<", ">"};
    static const enum qn_top ops[] = {QN_OP_EQ, QN_OP_NE, QN_OP_LE, QN_OP_GE, QN_OP_LT, QN_OP_GT};
    for (size_t i = 0; i < 6; i++)
        if (qn_taccept(p, signs[i]))
            return ops[i];
    if (qn_taccept_name(p, "in"))
        return QN_OP_IN;
    if (qn_tparse_at(p, QN_TOK_NAME, "not") && qn_ttoken_is(p->tok + 1, QN_TOK_NAME, "in")) {
        p->tok += 2;
        return QN_OP_NOT_IN;
    }
    return QN_OP_NONE;
}

static struct qn_tnode *parse_compare(struct qn_tparser *p)
{
    struct qn_tnode *first = parse_sum(p);
    struct qn_tkids kids = {0};
    bool ok = first != NULL;
    while (ok) {
        enum qn_top op = accept_comparison(p);
        if (op == QN_OP_NONE)
            break;
        struct qn_tnode *operand = qn_tparse_node(p, QN_N_OPERAND);
        operand->op = op;
        operand->a = parse_sum(p);
        ok = operand->a && qn_tparse_done(p, operand);
        qn_tkids_add(&kids, operand);
    }
    if (!ok || kids.n == 0) {
        free(kids.v);
        return ok ? first : NULL;
    }
    struct qn_tnode *node = qn_tparse_node(p, QN_N_COMPARE);
    node->a = first;
    node->kids = qn_tparse_kids(p, &kids);
    return qn_tparse_done(p, node);
}

static struct qn_tnode *parse_not(struct qn_tparser *p)
{
    if (!qn_taccept_name(p, "not"))
        return parse_compare(p);
    struct qn_tnode *node = qn_tparse_node(p, QN_N_NOT);
    if (!qn_tparse_down(p))
        return NULL;
    node->a = parse_not(p);
    p->depth--;
    return node->a ? qn_tparse_done(p, node) : NULL;
}

static struct qn_tnode *parse_and(struct qn_tparser *p)
{
    struct qn_tnode *left = parse_not(p);
    while (left && qn_taccept_name(p, "and"))
        left = binary(p, QN_N_AND, QN_OP_NONE, left, parse_not(p));
    return left;
}

static struct qn_tnode *parse_or(struct qn_tparser *p)
{
    struct qn_tnode *left = parse_and(p);
    while (left && qn_taccept_name(p, "or"))
        left = binary(p, QN_N_OR, QN_OP_NONE, left, parse_and(p));
    return left;
}

static struct qn_tnode *parse_condition(struct qn_tparser *p)
{
    struct qn_tnode *value = parse_or(p);
    while (value && qn_taccept_name(p, "if")) {
        struct qn_tnode *node = qn_tparse_node(p, QN_N_TERNARY);
        node->a = value;
        node->b = parse_or(p);
        if (!node->b)
            return NULL;
        if (qn_taccept_name(p, "else")) {
            node->c = qn_tparse_expression(p, true);
            if (!node->c)
                return NULL;
        }
        value = qn_tparse_done(p, node);
    }
    return value;
}

struct qn_tnode *qn_tparse_expression(struct qn_tparser *p, bool condition)
{
    if (!qn_tparse_down(p))
        return NULL;
    struct qn_tnode *node = condition ? parse_condition(p) : parse_or(p);
    p->depth--;
    return node;
}

static bool at_tuple_end(const struct qn_tparser *p, const char *end)
{
    return p->tok->kind == QN_TOK_CLOSE_EXPR || p->tok->kind == QN_TOK_CLOSE_STMT ||
           qn_tat(p, ")") || (end && qn_tparse_at(p, QN_TOK_NAME, end));
}

struct qn_tnode *qn_tparse_tuple(struct qn_tparser *p, int how, const char *end)
{
    struct qn_tnode *node = qn_tparse_node(p, QN_N_TUPLE), *single = NULL;
    struct qn_tkids kids = {0};
    bool tuple = false, ok = true;
    while (ok && !at_tuple_end(p, end)) {
        single = how & QN_TUPLE_PRIMARIES ? qn_tparse_primary(p)
                                          : qn_tparse_expression(p, !(how & QN_TUPLE_NO_CONDITION));
        ok = single != NULL;
        if (!ok)
            break;
        qn_tkids_add(&kids, single);
        if (!qn_taccept(p, ","))
            break;
        tuple = true;
    }
    node->kids = qn_tparse_kids(p, &kids);
    if (!ok)
        return NULL;
    if (!tuple && node->kids.n == 1)
        return single;
    if (!tuple && !(how & QN_TUPLE_BRACKETS))
        return qn_tparse_fail(p, "Expected an expression");
    return qn_tparse_done(p, node);
}

static bool assignable(struct qn_tparser *p, struct qn_tnode *node, int use)
{
    if (node->kind == QN_N_NAME) {
        node->use = (uint8_t)use;
        return true;
    }
    bool ok = node->kind == QN_N_TUPLE;
    for (size_t i = 0; ok && i < node->kids.n; i++)
        ok = assignable(p, node->kids.v[i], use);
    if (!ok)
        qn_tparse_fail(p, "can't assign to this");
    return ok;
}

struct qn_tnode *qn_tparse_target(struct qn_tparser *p, int use, const char *end,
                                  bool with_namespace)
{
    if (with_namespace && p->tok->kind == QN_TOK_NAME &&
        qn_ttoken_is(p->tok + 1, QN_TOK_PUNCT, ".")) {
        struct qn_tnode *node = qn_tparse_node(p, QN_N_NSREF);
        node->a = qn_tparse_name(p, QN_USE_LOAD);
        p->tok++;
        if (!node->a || p->tok->kind != QN_TOK_NAME)
            return qn_tparse_fail(p, "a name is missing");
        node->val = qn_tval_string(p->tok->s, p->tok->n);
        p->tok++;
        return qn_tparse_done(p, node);
    }
    struct qn_tnode *node = qn_tparse_tuple(p, QN_TUPLE_PRIMARIES, end);
    return node && assignable(p, node, use) ? node : NULL;
}
