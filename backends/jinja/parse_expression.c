/* See parse.h: expressions. */
#include "base/buf.h"
#include "jinja/parse.h"

#include <stdlib.h>

/* Number tokens become values when the template is compiled: see number_literal.c. */
struct qn_tnode *qn_tparse_number(struct qn_tparser *p);

static struct qn_tnode *parse_or(struct qn_tparser *p);

static struct qn_tnode *binary(struct qn_tparser *p, enum qn_tkind kind, enum qn_top op,
                               struct qn_tnode *a, struct qn_tnode *b)
{
    struct qn_tnode *node = qn_tparse_node(p, kind);
    node->op = op;
    node->a = a;
    node->b = b;
    return b ? qn_tparse_done(p, node) : NULL;
}

static bool accept_name(struct qn_tparser *p, const char *s)
{
    return qn_tparse_accept(p, QN_TOK_NAME, s);
}

static bool accept(struct qn_tparser *p, const char *s)
{
    return qn_tparse_accept(p, QN_TOK_PUNCT, s);
}

static bool expect(struct qn_tparser *p, const char *s)
{
    return qn_tparse_expect(p, QN_TOK_PUNCT, s);
}

static bool at(const struct qn_tparser *p, const char *s)
{
    return qn_tparse_at(p, QN_TOK_PUNCT, s);
}

/* One argument of a call. stage: 0 positional, 1 named, 2 behind *, 3 behind **. */
static struct qn_tnode *parse_argument(struct qn_tparser *p, int *stage)
{
    enum qn_tkind kind = QN_N_KINDS;
    int now = 0;
    struct qn_tval name = {0};
    if (accept(p, "*")) {
        kind = QN_N_SPREAD;
        now = 2;
    } else if (accept(p, "**")) {
        kind = QN_N_SPREAD_KW;
        now = 3;
    } else if (p->tok->kind == QN_TOK_NAME && qn_ttoken_is(p->tok + 1, QN_TOK_PUNCT, "=")) {
        kind = QN_N_KEYWORD;
        now = 1;
        name = qn_tval_string(p->tok->s, p->tok->n);
        p->tok += 2;
    }
    if (*stage == 3 || (now == 2 && *stage == 2) || (now == 0 && *stage > 0))
        return qn_tparse_fail(p, "invalid syntax for function call expression");
    *stage = now > *stage ? now : *stage;
    struct qn_tnode *value = qn_tparse_expression(p, true);
    if (kind == QN_N_KINDS || !value)
        return value;
    struct qn_tnode *node = qn_tparse_node(p, kind);
    node->a = value;
    node->val = name;
    return qn_tparse_done(p, node);
}

static bool named_twice(const struct qn_tkids *args, const struct qn_tnode *last)
{
    for (size_t i = 0; last->kind == QN_N_KEYWORD && i < args->n; i++)
        if (args->v[i]->kind == QN_N_KEYWORD && args->v[i]->val.n == last->val.n &&
            memcmp(args->v[i]->val.s, last->val.s, last->val.n) == 0)
            return true;
    return false;
}

static bool parse_arguments(struct qn_tparser *p, struct qn_tnodes *out)
{
    enum { NAMED_MAX = 1000 };
    struct qn_tkids args = {0};
    int stage = 0;
    bool ok = expect(p, "(");
    while (ok && !accept(p, ")")) {
        struct qn_tnode *arg = parse_argument(p, &stage);
        ok = arg != NULL;
        if (ok && (args.n >= NAMED_MAX || named_twice(&args, arg))) {
            qn_tparse_fail(p, "keyword argument repeated, or too many arguments");
            ok = false;
        }
        if (ok)
            qn_tkids_add(&args, arg);
        if (ok && !at(p, ")"))
            ok = expect(p, ",");
    }
    *out = qn_tparse_kids(p, &args);
    return ok;
}

static struct qn_tnode *parse_call(struct qn_tparser *p, struct qn_tnode *callee)
{
    struct qn_tnode *node = qn_tparse_node(p, QN_N_CALL);
    node->a = callee;
    return parse_arguments(p, &node->args) ? qn_tparse_done(p, node) : NULL;
}

/* name.name...: filters and tests may have such names. */
static bool parse_dotted(struct qn_tparser *p, struct qn_tval *out)
{
    if (p->tok->kind != QN_TOK_NAME) {
        qn_tparse_fail(p, "a name is missing");
        return false;
    }
    *out = qn_tval_string(p->tok->s, p->tok->n);
    p->tok++;
    while (accept(p, ".")) {
        if (p->tok->kind != QN_TOK_NAME) {
            qn_tparse_fail(p, "a name is missing");
            return false;
        }
        p->tok++;
        *out = qn_tval_cstr("?"); /* nothing of such a name exists here */
    }
    return true;
}

struct qn_tnode *qn_tparse_filters(struct qn_tparser *p, struct qn_tnode *operand,
                                   bool inline_start)
{
    struct qn_tnode *node = operand;
    while (inline_start || accept(p, "|")) {
        struct qn_tnode *filter = qn_tparse_node(p, QN_N_FILTER);
        inline_start = false;
        filter->a = node;
        if (!parse_dotted(p, &filter->val) || (at(p, "(") && !parse_arguments(p, &filter->args)))
            return NULL;
        node = qn_tparse_done(p, filter);
        if (!node)
            return NULL;
    }
    return node;
}

static struct qn_tnode *parse_primary(struct qn_tparser *p);
static struct qn_tnode *parse_postfix(struct qn_tparser *p, struct qn_tnode *node);

/* Whether what follows a test's name is its argument, without brackets. */
static bool at_test_argument(const struct qn_tparser *p)
{
    if (p->tok->kind == QN_TOK_NAME)
        return !qn_tparse_at(p, QN_TOK_NAME, "else") && !qn_tparse_at(p, QN_TOK_NAME, "or") &&
               !qn_tparse_at(p, QN_TOK_NAME, "and");
    return p->tok->kind == QN_TOK_STRING || p->tok->kind == QN_TOK_INT ||
           p->tok->kind == QN_TOK_FLOAT || at(p, "[") || at(p, "{");
}

static struct qn_tnode *parse_test(struct qn_tparser *p, struct qn_tnode *operand)
{
    bool negated = accept_name(p, "not");
    struct qn_tnode *test = qn_tparse_node(p, QN_N_TEST);
    test->a = operand;
    if (!parse_dotted(p, &test->val))
        return NULL;
    if (at(p, "(")) {
        if (!parse_arguments(p, &test->args))
            return NULL;
    } else if (at_test_argument(p)) {
        struct qn_tkids args = {0};
        if (qn_tparse_at(p, QN_TOK_NAME, "is"))
            return qn_tparse_fail(p, "You cannot chain multiple tests with is");
        struct qn_tnode *arg = parse_primary(p);
        arg = arg ? parse_postfix(p, arg) : NULL;
        if (!arg)
            return NULL;
        qn_tkids_add(&args, arg);
        test->args = qn_tparse_kids(p, &args);
    }
    test = qn_tparse_done(p, test);
    if (!negated || !test)
        return test;
    struct qn_tnode *node = qn_tparse_node(p, QN_N_NOT);
    node->a = test;
    return qn_tparse_done(p, node);
}

static struct qn_tnode *parse_slice(struct qn_tparser *p, struct qn_tnode *first)
{
    struct qn_tnode *node = qn_tparse_node(p, QN_N_SLICE);
    node->a = first;
    struct qn_tnode **part[] = {&node->b, &node->c};
    for (int i = 0; i < 2; i++) {
        if (i == 1 && !accept(p, ":"))
            break;
        if (at(p, ":") || at(p, "]") || at(p, ","))
            continue;
        *part[i] = qn_tparse_expression(p, true);
        if (!*part[i])
            return NULL;
    }
    return qn_tparse_done(p, node);
}

static struct qn_tnode *parse_subscribed(struct qn_tparser *p)
{
    if (accept(p, ":"))
        return parse_slice(p, NULL);
    struct qn_tnode *node = qn_tparse_expression(p, true);
    return node && accept(p, ":") ? parse_slice(p, node) : node;
}

static struct qn_tnode *parse_index(struct qn_tparser *p, struct qn_tnode *object)
{
    struct qn_tkids kids = {0};
    bool ok = true;
    while (ok && !accept(p, "]")) {
        if (kids.n > 0)
            ok = expect(p, ",");
        struct qn_tnode *arg = ok ? parse_subscribed(p) : NULL;
        ok = arg != NULL;
        if (ok)
            qn_tkids_add(&kids, arg);
    }
    struct qn_tnode *tuple = qn_tparse_node(p, QN_N_TUPLE), *node = qn_tparse_node(p, QN_N_INDEX);
    tuple->kids = qn_tparse_kids(p, &kids);
    if (!ok)
        return NULL;
    node->a = object;
    node->b = tuple->kids.n == 1 ? tuple->kids.v[0] : qn_tparse_done(p, tuple);
    return node->b ? qn_tparse_done(p, node) : NULL;
}

static struct qn_tnode *parse_member(struct qn_tparser *p, struct qn_tnode *object)
{
    struct qn_tnode *node = qn_tparse_node(p, QN_N_MEMBER);
    node->a = object;
    if (p->tok->kind == QN_TOK_INT) {
        node->kind = QN_N_INDEX;
        node->b = qn_tparse_number(p);
        return node->b ? qn_tparse_done(p, node) : NULL;
    }
    if (p->tok->kind != QN_TOK_NAME)
        return qn_tparse_fail(p, "expected name or number");
    node->val = qn_tval_string(p->tok->s, p->tok->n);
    p->tok++;
    return qn_tparse_done(p, node);
}

static struct qn_tnode *parse_postfix(struct qn_tparser *p, struct qn_tnode *node)
{
    while (node) {
        if (accept(p, "."))
            node = parse_member(p, node);
        else if (accept(p, "["))
            node = parse_index(p, node);
        else if (at(p, "("))
            node = parse_call(p, node);
        else
            break;
    }
    return node;
}

static struct qn_tnode *literal(struct qn_tparser *p, struct qn_tval v)
{
    struct qn_tnode *node = qn_tparse_node(p, QN_N_LITERAL);
    node->val = v;
    return qn_tparse_done(p, node);
}

static struct qn_tnode *parse_name_or_constant(struct qn_tparser *p)
{
    struct qn_tval v = {0};
    if (accept_name(p, "true") || accept_name(p, "True"))
        v = qn_tval_bool(true);
    else if (accept_name(p, "false") || accept_name(p, "False"))
        v = qn_tval_bool(false);
    else if (accept_name(p, "none") || accept_name(p, "None"))
        v = qn_tval_none();
    return v.type ? literal(p, v) : qn_tparse_name(p, QN_USE_LOAD);
}

/* Strings beside one another are one. */
static struct qn_tnode *parse_strings(struct qn_tparser *p)
{
    struct qn_tval v = qn_tval_string(p->tok->s, p->tok->n);
    p->tok++;
    if (p->tok->kind == QN_TOK_STRING) {
        struct qn_buf text;
        qn_buf_init(&text, SIZE_MAX);
        qn_buf_add(&text, v.s, v.n);
        for (; p->tok->kind == QN_TOK_STRING; p->tok++)
            qn_buf_add(&text, p->tok->s, p->tok->n);
        v = qn_tval_string(qn_arena_strndup(p->t->arena, qn_buf_cstr(&text), text.len), text.len);
        qn_buf_deinit(&text);
    }
    return literal(p, v);
}

static struct qn_tnode *parse_items(struct qn_tparser *p, bool pairs)
{
    struct qn_tnode *node = qn_tparse_node(p, pairs ? QN_N_DICT : QN_N_LIST);
    const char *end = pairs ? "}" : "]";
    struct qn_tkids kids = {0};
    bool ok = true;
    while (ok && !accept(p, end)) {
        struct qn_tnode *item = qn_tparse_expression(p, true);
        ok = item != NULL;
        if (ok)
            qn_tkids_add(&kids, item);
        if (ok && pairs) {
            ok = expect(p, ":") && (item = qn_tparse_expression(p, true)) != NULL;
            if (ok)
                qn_tkids_add(&kids, item);
        }
        if (ok && !at(p, end))
            ok = expect(p, ",");
    }
    node->kids = qn_tparse_kids(p, &kids);
    return ok ? qn_tparse_done(p, node) : NULL;
}

static struct qn_tnode *parse_primary(struct qn_tparser *p)
{
    if (p->tok->kind == QN_TOK_NAME)
        return parse_name_or_constant(p);
    if (p->tok->kind == QN_TOK_STRING)
        return parse_strings(p);
    if (p->tok->kind == QN_TOK_INT || p->tok->kind == QN_TOK_FLOAT)
        return qn_tparse_number(p);
    if (accept(p, "["))
        return parse_items(p, false);
    if (accept(p, "{"))
        return parse_items(p, true);
    if (!accept(p, "(")) {
        int n = p->tok->n > 40 ? 40 : (int)p->tok->n;
        return qn_tparse_fail(p, "unexpected '%.*s'", n, p->tok->s);
    }
    struct qn_tnode *inner = qn_tparse_tuple(p, QN_TUPLE_BRACKETS, NULL);
    return inner && expect(p, ")") ? inner : NULL;
}

static struct qn_tnode *parse_filter_chain(struct qn_tparser *p, struct qn_tnode *node)
{
    while (node) {
        if (at(p, "|"))
            node = qn_tparse_filters(p, node, false);
        else if (accept_name(p, "is"))
            node = parse_test(p, node);
        else if (at(p, "("))
            node = parse_call(p, node);
        else
            break;
    }
    return node;
}

static struct qn_tnode *parse_unary(struct qn_tparser *p, bool with_filter)
{
    struct qn_tnode *node;
    if (at(p, "-") || at(p, "+")) {
        node = qn_tparse_node(p, QN_N_SIGN);
        node->op = at(p, "-") ? QN_OP_SUB : QN_OP_ADD;
        p->tok++;
        if (!qn_tparse_down(p))
            return NULL;
        node->a = parse_unary(p, false);
        p->depth--;
        node = node->a ? qn_tparse_done(p, node) : NULL;
    } else {
        node = parse_primary(p);
    }
    node = node ? parse_postfix(p, node) : NULL;
    return node && with_filter ? parse_filter_chain(p, node) : node;
}

static struct qn_tnode *parse_pow(struct qn_tparser *p)
{
    struct qn_tnode *left = parse_unary(p, true);
    while (left && accept(p, "**"))
        left = binary(p, QN_N_BINARY, QN_OP_POW, left, parse_unary(p, true));
    return left;
}

static struct qn_tnode *parse_product(struct qn_tparser *p)
{
    struct qn_tnode *left = parse_pow(p);
    while (left) {
        enum qn_top op = accept(p, "*")    ? QN_OP_MUL
                         : accept(p, "/")  ? QN_OP_DIV
                         : accept(p, "//") ? QN_OP_FLOOR_DIV
                         : accept(p, "%")  ? QN_OP_MOD
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
    if (!first || !at(p, "~"))
        return first;
    struct qn_tnode *node = qn_tparse_node(p, QN_N_CONCAT);
    struct qn_tkids kids = {0};
    qn_tkids_add(&kids, first);
    while (first && accept(p, "~")) {
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
        enum qn_top op = accept(p, "+") ? QN_OP_ADD : accept(p, "-") ? QN_OP_SUB : QN_OP_NONE;
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
        if (accept(p, signs[i]))
            return ops[i];
    if (accept_name(p, "in"))
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
    if (!accept_name(p, "not"))
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
    while (left && accept_name(p, "and"))
        left = binary(p, QN_N_AND, QN_OP_NONE, left, parse_not(p));
    return left;
}

static struct qn_tnode *parse_or(struct qn_tparser *p)
{
    struct qn_tnode *left = parse_and(p);
    while (left && accept_name(p, "or"))
        left = binary(p, QN_N_OR, QN_OP_NONE, left, parse_and(p));
    return left;
}

static struct qn_tnode *parse_condition(struct qn_tparser *p)
{
    struct qn_tnode *value = parse_or(p);
    while (value && accept_name(p, "if")) {
        struct qn_tnode *node = qn_tparse_node(p, QN_N_TERNARY);
        node->a = value;
        node->b = parse_or(p);
        if (!node->b)
            return NULL;
        if (accept_name(p, "else")) {
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
    return p->tok->kind == QN_TOK_CLOSE_EXPR || p->tok->kind == QN_TOK_CLOSE_STMT || at(p, ")") ||
           (end && qn_tparse_at(p, QN_TOK_NAME, end));
}

struct qn_tnode *qn_tparse_tuple(struct qn_tparser *p, int how, const char *end)
{
    struct qn_tnode *node = qn_tparse_node(p, QN_N_TUPLE), *single = NULL;
    struct qn_tkids kids = {0};
    bool tuple = false, ok = true;
    while (ok && !at_tuple_end(p, end)) {
        single = how & QN_TUPLE_PRIMARIES ? parse_primary(p)
                                          : qn_tparse_expression(p, !(how & QN_TUPLE_NO_CONDITION));
        ok = single != NULL;
        if (!ok)
            break;
        qn_tkids_add(&kids, single);
        if (!accept(p, ","))
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
