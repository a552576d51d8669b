/* See scope.h: visits the children of a node. */
#include "jinja/scope.h"

static bool one(struct qn_tnode *node, qn_tvisit visit, void *ctx)
{
    return !node || visit(ctx, node);
}

static bool all(const struct qn_tnodes *nodes, qn_tvisit visit, void *ctx)
{
    for (size_t i = 0; i < nodes->n; i++)
        if (!visit(ctx, nodes->v[i]))
            return false;
    return true;
}

/* jinja2 visits all targets before the values. */
static bool with_children(const struct qn_tnode *node, qn_tvisit visit, void *ctx)
{
    for (size_t odd = 0; odd < 2; odd++)
        for (size_t i = odd; i < node->args.n; i += 2)
            if (!visit(ctx, node->args.v[i]))
                return false;
    return all(&node->kids, visit, ctx);
}

bool qn_tnode_children(const struct qn_tnode *node, qn_tvisit visit, void *ctx)
{
    switch (node->kind) {
    case QN_N_NSREF:
        return true;
    case QN_N_TERNARY:
        return one(node->b, visit, ctx) && one(node->a, visit, ctx) && one(node->c, visit, ctx);
    case QN_N_FOR:
        return one(node->a, visit, ctx) && one(node->b, visit, ctx) &&
               all(&node->kids, visit, ctx) && all(&node->other, visit, ctx) &&
               one(node->c, visit, ctx);
    case QN_N_MACRO:
    case QN_N_CALL_BLOCK:
        return (node->kind == QN_N_MACRO || one(node->a, visit, ctx)) &&
               all(&node->body->params, visit, ctx) && all(&node->body->defaults, visit, ctx) &&
               all(&node->kids, visit, ctx);
    case QN_N_FILTER_BLOCK:
        return all(&node->kids, visit, ctx) && one(node->a, visit, ctx);
    case QN_N_WITH:
        return with_children(node, visit, ctx);
    case QN_N_IMPORT:
        return one(node->a, visit, ctx);
    default:
        return one(node->a, visit, ctx) && one(node->b, visit, ctx) && one(node->c, visit, ctx) &&
               all(&node->kids, visit, ctx) && all(&node->other, visit, ctx) &&
               all(&node->args, visit, ctx);
    }
}
