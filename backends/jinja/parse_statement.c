/* See parse.h: statements. */
#include "base/buf.h"
#include "jinja/parse.h"

#include <stdlib.h>

static bool at_name(const struct qn_tparser *p, const char *s)
{
    return qn_tparse_at(p, QN_TOK_NAME, s);
}

static bool accept_name(struct qn_tparser *p, const char *s)
{
    return qn_tparse_accept(p, QN_TOK_NAME, s);
}

static bool close_statement(struct qn_tparser *p)
{
    return qn_tparse_expect(p, QN_TOK_CLOSE_STMT, "%}");
}

static struct qn_tnode *parse_statement(struct qn_tparser *p);

static struct qn_tnode *parse_output(struct qn_tparser *p)
{
    struct qn_tnode *node = qn_tparse_node(p, QN_N_OUTPUT);
    p->tok++;
    node->a = qn_tparse_tuple(p, 0, NULL);
    if (!node->a || !qn_tparse_expect(p, QN_TOK_CLOSE_EXPR, "}}"))
        return NULL;
    return qn_tparse_done(p, node);
}

static struct qn_tnode *parse_part(struct qn_tparser *p)
{
    if (p->tok->kind == QN_TOK_OPEN_EXPR)
        return parse_output(p);
    if (p->tok->kind == QN_TOK_OPEN_STMT) {
        p->tok++;
        struct qn_tnode *node = parse_statement(p);
        return node && close_statement(p) ? node : NULL;
    }
    struct qn_tnode *node = qn_tparse_node(p, QN_N_TEXT);
    node->val = qn_tval_string(p->tok->s, p->tok->n);
    p->tok++;
    return qn_tparse_done(p, node);
}

/* Parses nodes up to a tag that begins with one of the words (NULL: up to the end). That word is
 * then the next token. */
static bool parse_body(struct qn_tparser *p, const char *const *until, struct qn_tnodes *out)
{
    struct qn_tkids kids = {0};
    bool ok = qn_tparse_down(p), ended = false;
    while (ok && !ended && (until || p->tok->kind != QN_TOK_END)) {
        for (size_t i = 0; until && until[i]; i++)
            ended = ended || (p->tok->kind == QN_TOK_OPEN_STMT &&
                              qn_ttoken_is(p->tok + 1, QN_TOK_NAME, until[i]));
        if (ended)
            break;
        if (p->tok->kind == QN_TOK_END) {
            while (until[1])
                until++;
            qn_tparse_fail(p, "`{%% %s %%}` is missing", until[0]);
            ok = false;
            break;
        }
        struct qn_tnode *node = parse_part(p);
        ok = node != NULL;
        if (ok)
            qn_tkids_add(&kids, node);
    }
    if (ended)
        p->tok++;
    *out = qn_tparse_kids(p, &kids);
    p->depth--;
    return ok;
}

/* Parses the nodes between the end of this tag and a tag that begins with one of the words. */
static bool parse_statements(struct qn_tparser *p, const char *const *until, struct qn_tnodes *out)
{
    qn_tparse_accept(p, QN_TOK_PUNCT, ":");
    return close_statement(p) && parse_body(p, until, out);
}

static bool parse_block(struct qn_tparser *p, const char *word, struct qn_tnodes *out)
{
    const char *until[] = {word, NULL};
    return parse_statements(p, until, out) && accept_name(p, word);
}

static struct qn_tnode *parse_if(struct qn_tparser *p, struct qn_tnode *node)
{
    static const char *const until[] = {"elif", "else", "endif", NULL};
    struct qn_tkids branches = {0};
    bool ok = true;
    do {
        struct qn_tnode *branch = qn_tparse_node(p, QN_N_BRANCH);
        branch->a = qn_tparse_tuple(p, QN_TUPLE_NO_CONDITION, NULL);
        ok = branch->a && parse_statements(p, until, &branch->kids) && qn_tparse_done(p, branch);
        if (ok)
            qn_tkids_add(&branches, branch);
    } while (ok && accept_name(p, "elif"));
    node->kids = qn_tparse_kids(p, &branches);
    if (ok && accept_name(p, "else"))
        ok = parse_block(p, "endif", &node->other);
    else if (ok)
        ok = accept_name(p, "endif");
    return ok ? qn_tparse_done(p, node) : NULL;
}

static struct qn_tnode *parse_for(struct qn_tparser *p, struct qn_tnode *node)
{
    static const char *const until[] = {"else", "endfor", NULL};
    node->a = qn_tparse_target(p, QN_USE_STORE, "in", false);
    if (!node->a || !qn_tparse_expect(p, QN_TOK_NAME, "in"))
        return NULL;
    node->b = qn_tparse_tuple(p, QN_TUPLE_NO_CONDITION, "recursive");
    if (!node->b)
        return NULL;
    if (accept_name(p, "if")) {
        node->c = qn_tparse_expression(p, true);
        if (!node->c)
            return NULL;
    }
    node->flag = accept_name(p, "recursive");
    bool ok = parse_statements(p, until, &node->kids);
    if (ok && accept_name(p, "else"))
        ok = parse_block(p, "endfor", &node->other);
    else if (ok)
        ok = accept_name(p, "endfor");
    return ok ? qn_tparse_done(p, node) : NULL;
}

static struct qn_tnode *parse_set(struct qn_tparser *p, struct qn_tnode *node)
{
    node->a = qn_tparse_target(p, QN_USE_STORE, NULL, true);
    if (!node->a)
        return NULL;
    if (qn_tparse_accept(p, QN_TOK_PUNCT, "=")) {
        node->b = qn_tparse_tuple(p, 0, NULL);
        return node->b ? qn_tparse_done(p, node) : NULL;
    }
    node->kind = QN_N_SET_BLOCK;
    if (qn_tparse_at(p, QN_TOK_PUNCT, "|")) {
        node->b = qn_tparse_filters(p, NULL, false);
        if (!node->b)
            return NULL;
    }
    return parse_block(p, "endset", &node->kids) ? qn_tparse_done(p, node) : NULL;
}

static bool same_param(const struct qn_tkids *params, const struct qn_tnode *param)
{
    for (size_t i = 0; i < params->n; i++)
        if (params->v[i]->symbol == param->symbol)
            return true;
    return false;
}

static bool parse_signature(struct qn_tparser *p, struct qn_tbody *body)
{
    enum { PARAMS_MAX = 255 };
    struct qn_tkids params = {0}, defaults = {0};
    bool ok = qn_tparse_expect(p, QN_TOK_PUNCT, "(");
    while (ok && !qn_tparse_accept(p, QN_TOK_PUNCT, ")")) {
        struct qn_tnode *param = qn_tparse_name(p, QN_USE_PARAM), *value = NULL;
        ok = param != NULL;
        if (ok && (params.n == PARAMS_MAX || same_param(&params, param))) {
            qn_tparse_fail(p, "duplicate argument, or more than %d", PARAMS_MAX);
            ok = false;
        }
        if (ok)
            qn_tkids_add(&params, param);
        if (ok && qn_tparse_accept(p, QN_TOK_PUNCT, "=")) {
            value = qn_tparse_expression(p, true);
            ok = value != NULL;
            if (ok)
                qn_tkids_add(&defaults, value);
        } else if (ok && defaults.n > 0) {
            qn_tparse_fail(p, "non-default argument follows default argument");
            ok = false;
        }
        if (ok && !qn_tparse_at(p, QN_TOK_PUNCT, ")")) {
            ok = qn_tparse_expect(p, QN_TOK_PUNCT, ",");
            if (ok && qn_tparse_at(p, QN_TOK_PUNCT, ")")) {
                qn_tparse_fail(p, "a name is missing");
                ok = false;
            }
        }
    }
    body->params = qn_tparse_kids(p, &params);
    body->defaults = qn_tparse_kids(p, &defaults);
    return ok;
}

static struct qn_tnode *parse_macro(struct qn_tparser *p, struct qn_tnode *node)
{
    node->body = qn_arena_alloc(p->t->arena, sizeof *node->body);
    node->a = qn_tparse_name(p, QN_USE_STORE);
    bool ok = node->a && parse_signature(p, node->body) && parse_block(p, "endmacro", &node->kids);
    return ok ? qn_tparse_done(p, node) : NULL;
}

static struct qn_tnode *parse_call(struct qn_tparser *p, struct qn_tnode *node)
{
    node->body = qn_arena_alloc(p->t->arena, sizeof *node->body);
    if (qn_tparse_at(p, QN_TOK_PUNCT, "(") && !parse_signature(p, node->body))
        return NULL;
    node->a = qn_tparse_expression(p, true);
    if (!node->a)
        return NULL;
    if (node->a->kind != QN_N_CALL)
        return qn_tparse_fail(p, "expected call");
    return parse_block(p, "endcall", &node->kids) ? qn_tparse_done(p, node) : NULL;
}

/* {% generation %} marks the model's own text, for training. It is parsed like a call block without
 * arguments. */
static struct qn_tnode *parse_generation(struct qn_tparser *p, struct qn_tnode *node)
{
    node->body = qn_arena_alloc(p->t->arena, sizeof *node->body);
    return parse_block(p, "endgeneration", &node->kids) ? qn_tparse_done(p, node) : NULL;
}

static struct qn_tnode *parse_filter(struct qn_tparser *p, struct qn_tnode *node)
{
    node->a = qn_tparse_filters(p, NULL, true);
    return node->a && parse_block(p, "endfilter", &node->kids) ? qn_tparse_done(p, node) : NULL;
}

static struct qn_tnode *parse_with(struct qn_tparser *p, struct qn_tnode *node)
{
    struct qn_tkids args = {0};
    bool ok = true;
    while (ok && p->tok->kind != QN_TOK_CLOSE_STMT) {
        if (args.n > 0)
            ok = qn_tparse_expect(p, QN_TOK_PUNCT, ",");
        struct qn_tnode *target = ok ? qn_tparse_target(p, QN_USE_PARAM, NULL, false) : NULL;
        ok = target && qn_tparse_expect(p, QN_TOK_PUNCT, "=");
        struct qn_tnode *value = ok ? qn_tparse_expression(p, true) : NULL;
        ok = value != NULL;
        if (ok) {
            qn_tkids_add(&args, target);
            qn_tkids_add(&args, value);
        }
    }
    node->args = qn_tparse_kids(p, &args);
    return ok && parse_block(p, "endwith", &node->kids) ? qn_tparse_done(p, node) : NULL;
}

static struct qn_tnode *parse_autoescape(struct qn_tparser *p, struct qn_tnode *node)
{
    uint8_t outer = p->escape;
    node->a = qn_tparse_expression(p, true);
    if (!node->a)
        return NULL;
    p->escape = QN_ESCAPE_RUNTIME;
    if (node->a->kind == QN_N_LITERAL &&
        qn_tval_is(&node->a->val, QN_T_BIT(QN_T_BOOL) | QN_T_BIT(QN_T_NONE)))
        p->escape = node->a->val.type == QN_T_BOOL && node->a->val.b ? QN_ESCAPE_YES : QN_ESCAPE_NO;
    bool ok = parse_block(p, "endautoescape", &node->kids);
    p->escape = outer;
    return ok ? qn_tparse_done(p, node) : NULL;
}

static struct qn_tnode *parse_named_block(struct qn_tparser *p, struct qn_tnode *node)
{
    struct qn_tnode *name = qn_tparse_name(p, QN_USE_LOAD);
    if (!name)
        return NULL;
    node->val = name->val;
    node->body = qn_arena_alloc(p->t->arena, sizeof *node->body);
    node->flag = accept_name(p, "scoped");
    node->flag |= accept_name(p, "required");
    if (node->flag)
        return qn_tparse_fail(p, "scoped and required blocks are not supported");
    if (!parse_block(p, "endblock", &node->kids))
        return NULL;
    if (p->tok->kind == QN_TOK_NAME && p->tok->n == node->val.n &&
        memcmp(p->tok->s, node->val.s, node->val.n) == 0)
        p->tok++;
    return qn_tparse_done(p, node);
}

static void skip_context(struct qn_tparser *p)
{
    if ((at_name(p, "with") || at_name(p, "without")) &&
        qn_ttoken_is(p->tok + 1, QN_TOK_NAME, "context"))
        p->tok += 2;
}

static struct qn_tnode *parse_from(struct qn_tparser *p, struct qn_tnode *node)
{
    struct qn_tkids names = {0};
    bool ok = qn_tparse_expect(p, QN_TOK_NAME, "import");
    while (ok) {
        struct qn_tnode *name = qn_tparse_name(p, QN_USE_STORE);
        if (name && accept_name(p, "as"))
            name = qn_tparse_name(p, QN_USE_STORE);
        ok = name != NULL;
        if (ok)
            qn_tkids_add(&names, name);
        if (ok && !qn_tparse_accept(p, QN_TOK_PUNCT, ","))
            break;
    }
    skip_context(p);
    node->kids = qn_tparse_kids(p, &names);
    return ok ? qn_tparse_done(p, node) : NULL;
}

/* include, extends, import and from are parsed, and fail when they are executed, because no other
 * templates exist. */
static struct qn_tnode *parse_import(struct qn_tparser *p, struct qn_tnode *node)
{
    struct qn_tval tag = qn_tval_string(p->tok[-1].s, p->tok[-1].n);
    struct qn_tkids names = {0};
    node->val = tag;
    node->a = qn_tparse_expression(p, true);
    if (!node->a)
        return NULL;
    if (qn_tval_str_eq(&tag, "from"))
        return parse_from(p, node);
    if (qn_tval_str_eq(&tag, "include") && at_name(p, "ignore") &&
        qn_ttoken_is(p->tok + 1, QN_TOK_NAME, "missing"))
        p->tok += 2;
    if (qn_tval_str_eq(&tag, "import")) {
        struct qn_tnode *name =
            qn_tparse_expect(p, QN_TOK_NAME, "as") ? qn_tparse_name(p, QN_USE_STORE) : NULL;
        if (!name)
            return NULL;
        qn_tkids_add(&names, name);
        node->kids = qn_tparse_kids(p, &names);
    }
    skip_context(p);
    return qn_tparse_done(p, node);
}

static struct qn_tnode *parse_print(struct qn_tparser *p, struct qn_tnode *node)
{
    struct qn_tkids kids = {0};
    bool ok = true;
    node->kind =
        QN_N_IF; /* several outputs: represented as an `if` without branches and with an else */
    while (ok && p->tok->kind != QN_TOK_CLOSE_STMT) {
        if (kids.n > 0 && !qn_tparse_expect(p, QN_TOK_PUNCT, ","))
            ok = false;
        struct qn_tnode *output = qn_tparse_node(p, QN_N_OUTPUT);
        output->a = ok ? qn_tparse_expression(p, true) : NULL;
        ok = output->a && qn_tparse_done(p, output);
        if (ok)
            qn_tkids_add(&kids, output);
    }
    node->other = qn_tparse_kids(p, &kids);
    return ok ? qn_tparse_done(p, node) : NULL;
}

static struct qn_tnode *parse_nothing(struct qn_tparser *p, struct qn_tnode *node)
{
    return qn_tparse_done(p, node);
}

static struct qn_tnode *parse_statement(struct qn_tparser *p)
{
    static const struct {
        const char *word;
        enum qn_tkind kind;
        struct qn_tnode *(*parse)(struct qn_tparser *, struct qn_tnode *);
    } statements[] = {
        {"if", QN_N_IF, parse_if},
        {"for", QN_N_FOR, parse_for},
        {"set", QN_N_SET, parse_set},
        {"macro", QN_N_MACRO, parse_macro},
        {"call", QN_N_CALL_BLOCK, parse_call},
        {"generation", QN_N_CALL_BLOCK, parse_generation},
        {"filter", QN_N_FILTER_BLOCK, parse_filter},
        {"with", QN_N_WITH, parse_with},
        {"autoescape", QN_N_AUTOESCAPE, parse_autoescape},
        {"block", QN_N_BLOCK, parse_named_block},
        {"include", QN_N_IMPORT, parse_import},
        {"import", QN_N_IMPORT, parse_import},
        {"from", QN_N_IMPORT, parse_import},
        {"extends", QN_N_IMPORT, parse_import},
        {"print", QN_N_OUTPUT, parse_print},
        {"break", QN_N_BREAK, parse_nothing},
        {"continue", QN_N_CONTINUE, parse_nothing},
    };
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        if (!at_name(p, statements[i].word))
            continue;
        struct qn_tnode *node = qn_tparse_node(p, statements[i].kind);
        p->tok++;
        return statements[i].parse(p, node);
    }
    int n = p->tok->n > 40 ? 40 : (int)p->tok->n;
    return qn_tparse_fail(p, "Encountered unknown tag '%.*s'", n, p->tok->s);
}

qn_err qn_tparse(struct qn_template *t, struct qn_error *e)
{
    struct qn_ttoken *tokens = NULL;
    qn_err err = qn_tlex(t->source, t->n, t->arena, &tokens, e);
    if (err)
        return err;
    struct qn_tparser p = {.t = t, .tok = tokens, .e = e};
    parse_body(&p, NULL, &t->nodes);
    free(tokens);
    return p.err;
}
