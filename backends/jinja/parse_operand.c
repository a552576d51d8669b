/* See parse.h: operands, calls, filters and tests. */
#include "base/buf.h"
#include "jinja/parse.h"

/* Parses one argument of a call. stage: 0 positional, 1 named, 2 after *, 3 after **. */
static struct qn_tnode *parse_argument(struct qn_tparser *p, int *stage)
{
    enum qn_tkind kind = QN_N_KINDS;
    int now = 0;
    struct qn_tval name = {0};
    if (qn_taccept(p, "*")) {
        kind = QN_N_SPREAD;
        now = 2;
    } else if (qn_taccept(p, "**")) {
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
    bool ok = qn_texpect(p, "(");
    while (ok && !qn_taccept(p, ")")) {
        struct qn_tnode *arg = parse_argument(p, &stage);
        ok = arg != NULL;
        if (ok && (args.n >= NAMED_MAX || named_twice(&args, arg))) {
            qn_tparse_fail(p, "keyword argument repeated, or too many arguments");
            ok = false;
        }
        if (ok)
            qn_tkids_add(&args, arg);
        if (ok && !qn_tat(p, ")"))
            ok = qn_texpect(p, ",");
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

/* Reads name.name...: names of filters and tests may be dotted. */
static bool parse_dotted(struct qn_tparser *p, struct qn_tval *out)
{
    if (p->tok->kind != QN_TOK_NAME) {
        qn_tparse_fail(p, "a name is missing");
        return false;
    }
    *out = qn_tval_string(p->tok->s, p->tok->n);
    p->tok++;
    while (qn_taccept(p, ".")) {
        if (p->tok->kind != QN_TOK_NAME) {
            qn_tparse_fail(p, "a name is missing");
            return false;
        }
        p->tok++;
        *out = qn_tval_cstr("?"); /* no filter or test has a dotted name */
    }
    return true;
}

struct qn_tnode *qn_tparse_filters(struct qn_tparser *p, struct qn_tnode *operand,
                                   bool inline_start)
{
    struct qn_tnode *node = operand;
    while (inline_start || qn_taccept(p, "|")) {
        struct qn_tnode *filter = qn_tparse_node(p, QN_N_FILTER);
        inline_start = false;
        filter->a = node;
        if (!parse_dotted(p, &filter->val) ||
            (qn_tat(p, "(") && !parse_arguments(p, &filter->args)))
            return NULL;
        node = qn_tparse_done(p, filter);
        if (!node)
            return NULL;
    }
    return node;
}

/* Whether the token after a test's name begins its argument, which may be written without
 * parentheses. */
static bool at_test_argument(const struct qn_tparser *p)
{
    if (p->tok->kind == QN_TOK_NAME)
        return !qn_tparse_at(p, QN_TOK_NAME, "else") && !qn_tparse_at(p, QN_TOK_NAME, "or") &&
               !qn_tparse_at(p, QN_TOK_NAME, "and");
    return p->tok->kind == QN_TOK_STRING || p->tok->kind == QN_TOK_INT ||
           p->tok->kind == QN_TOK_FLOAT || qn_tat(p, "[") || qn_tat(p, "{");
}

static struct qn_tnode *parse_test(struct qn_tparser *p, struct qn_tnode *operand)
{
    bool negated = qn_taccept_name(p, "not");
    struct qn_tnode *test = qn_tparse_node(p, QN_N_TEST);
    test->a = operand;
    if (!parse_dotted(p, &test->val))
        return NULL;
    if (qn_tat(p, "(")) {
        if (!parse_arguments(p, &test->args))
            return NULL;
    } else if (at_test_argument(p)) {
        struct qn_tkids args = {0};
        if (qn_tparse_at(p, QN_TOK_NAME, "is"))
            return qn_tparse_fail(p, "You cannot chain multiple tests with is");
        struct qn_tnode *arg = qn_tparse_primary(p);
        arg = arg ? qn_tparse_postfix(p, arg) : NULL;
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
        if (i == 1 && !qn_taccept(p, ":"))
            break;
        if (qn_tat(p, ":") || qn_tat(p, "]") || qn_tat(p, ","))
            continue;
        *part[i] = qn_tparse_expression(p, true);
        if (!*part[i])
            return NULL;
    }
    return qn_tparse_done(p, node);
}

static struct qn_tnode *parse_subscribed(struct qn_tparser *p)
{
    if (qn_taccept(p, ":"))
        return parse_slice(p, NULL);
    struct qn_tnode *node = qn_tparse_expression(p, true);
    return node && qn_taccept(p, ":") ? parse_slice(p, node) : node;
}

static struct qn_tnode *parse_index(struct qn_tparser *p, struct qn_tnode *object)
{
    struct qn_tkids kids = {0};
    bool ok = true;
    while (ok && !qn_taccept(p, "]")) {
        if (kids.n > 0)
            ok = qn_texpect(p, ",");
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

struct qn_tnode *qn_tparse_postfix(struct qn_tparser *p, struct qn_tnode *node)
{
    while (node) {
        if (qn_taccept(p, "."))
            node = parse_member(p, node);
        else if (qn_taccept(p, "["))
            node = parse_index(p, node);
        else if (qn_tat(p, "("))
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
    if (qn_taccept_name(p, "true") || qn_taccept_name(p, "True"))
        v = qn_tval_bool(true);
    else if (qn_taccept_name(p, "false") || qn_taccept_name(p, "False"))
        v = qn_tval_bool(false);
    else if (qn_taccept_name(p, "none") || qn_taccept_name(p, "None"))
        v = qn_tval_none();
    return v.type ? literal(p, v) : qn_tparse_name(p, QN_USE_LOAD);
}

/* Adjacent string literals are concatenated. */
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
    while (ok && !qn_taccept(p, end)) {
        struct qn_tnode *item = qn_tparse_expression(p, true);
        ok = item != NULL;
        if (ok)
            qn_tkids_add(&kids, item);
        if (ok && pairs) {
            ok = qn_texpect(p, ":") && (item = qn_tparse_expression(p, true)) != NULL;
            if (ok)
                qn_tkids_add(&kids, item);
        }
        if (ok && !qn_tat(p, end))
            ok = qn_texpect(p, ",");
    }
    node->kids = qn_tparse_kids(p, &kids);
    return ok ? qn_tparse_done(p, node) : NULL;
}

struct qn_tnode *qn_tparse_primary(struct qn_tparser *p)
{
    if (p->tok->kind == QN_TOK_NAME)
        return parse_name_or_constant(p);
    if (p->tok->kind == QN_TOK_STRING)
        return parse_strings(p);
    if (p->tok->kind == QN_TOK_INT || p->tok->kind == QN_TOK_FLOAT)
        return qn_tparse_number(p);
    if (qn_taccept(p, "["))
        return parse_items(p, false);
    if (qn_taccept(p, "{"))
        return parse_items(p, true);
    if (!qn_taccept(p, "(")) {
        int n = p->tok->n > 40 ? 40 : (int)p->tok->n;
        return qn_tparse_fail(p, "unexpected '%.*s'", n, p->tok->s);
    }
    struct qn_tnode *inner = qn_tparse_tuple(p, QN_TUPLE_BRACKETS, NULL);
    return inner && qn_texpect(p, ")") ? inner : NULL;
}

struct qn_tnode *qn_tparse_filter_chain(struct qn_tparser *p, struct qn_tnode *node)
{
    while (node) {
        if (qn_tat(p, "|"))
            node = qn_tparse_filters(p, node, false);
        else if (qn_taccept_name(p, "is"))
            node = parse_test(p, node);
        else if (qn_tat(p, "("))
            node = parse_call(p, node);
        else
            break;
    }
    return node;
}
