/* Statements: one function per kind of node, chosen by a table. */
#include "llm/template_eval.h"

#include "llm/template_builtin.h"
#include "llm/template_compiled.h"
#include "llm/template_print.h"

#include <string.h>

typedef enum qn_tflow (*exec_fn)(struct qn_trun *run, const struct qn_tnode *node);

static enum qn_tflow exec_text(struct qn_trun *run, const struct qn_tnode *node)
{
    return qn_trun_put(run, node->val.s, node->val.n);
}

static enum qn_tflow exec_output(struct qn_trun *run, const struct qn_tnode *node)
{
    struct qn_tval v;
    QN_T_TRY(qn_teval_value(run, node->a, &v));
    run->at = node->at;
    return qn_tval_put(run, &v);
}

static enum qn_tflow exec_if(struct qn_trun *run, const struct qn_tnode *node)
{
    for (size_t i = 0; i < node->kids.n; i++) {
        const struct qn_tnode *branch = node->kids.v[i];
        struct qn_tval condition;
        QN_T_TRY(qn_teval_value(run, branch->a, &condition));
        if (qn_tval_truth(&condition))
            return qn_texec(run, &branch->kids);
    }
    return qn_texec(run, &node->other);
}

/* Gives each name of a tuple its item. */
static enum qn_tflow unpack(struct qn_trun *run, const struct qn_tnode *tuple,
                            const struct qn_tval *v)
{
    if (!qn_tval_is(v, QN_T_LISTS))
        return qn_trun_fail(run, "%s cannot be unpacked", qn_ttype_name(v->type));
    if (v->list->n != tuple->kids.n)
        return qn_trun_fail(run, "%zu items cannot be unpacked into %zu names", v->list->n,
                            tuple->kids.n);
    for (size_t i = 0; i < tuple->kids.n; i++) {
        const struct qn_tnode *name = tuple->kids.v[i];
        if (name->kind != QN_N_NAME)
            return qn_trun_fail(run, "only names can be assigned to here");
        QN_T_TRY(qn_trun_bind(run, name->symbol, &v->list->items[i]));
    }
    return QN_T_OK;
}

static enum qn_tflow assign_names(struct qn_trun *run, const struct qn_tnode *target,
                                  const struct qn_tval *v)
{
    if (target->kind == QN_N_NAME)
        return qn_trun_bind(run, target->symbol, v);
    if (target->kind == QN_N_TUPLE)
        return unpack(run, target, v);
    return qn_trun_fail(run, "this cannot be assigned to");
}

/* What the loop runs over: a list's items or a dictionary's keys. */
static enum qn_tflow loop_items(struct qn_trun *run, const struct qn_tnode *source,
                                struct qn_tlist **out)
{
    struct qn_tval v;
    QN_T_TRY(qn_teval_value(run, source, &v));
    if (qn_tval_is(&v, QN_T_DICTS))
        QN_T_TRY(qn_tdict_keys(run, &v, &v));
    if (!qn_tval_is(&v, QN_T_LISTS))
        return qn_trun_fail(run, "%s cannot be looped over", qn_ttype_name(v.type));
    *out = v.list;
    return QN_T_OK;
}

/* for x in items if condition: the items for which it holds. */
static enum qn_tflow select_items(struct qn_trun *run, const struct qn_tnode *node,
                                  const struct qn_tlist *all, struct qn_tlist **out)
{
    QN_T_TRY(qn_tlist_new(run, 0, out));
    for (size_t i = 0; i < all->n; i++) {
        size_t scope = qn_trun_enter(run);
        struct qn_tval condition;
        enum qn_tflow flow = assign_names(run, node->a, &all->items[i]);
        if (flow == QN_T_OK)
            flow = qn_teval_value(run, node->b->b, &condition);
        if (flow == QN_T_OK && qn_tval_truth(&condition))
            flow = qn_tlist_push(run, *out, &all->items[i]);
        qn_trun_leave(run, scope);
        QN_T_TRY(flow);
    }
    return QN_T_OK;
}

/* The variable `loop`. */
static enum qn_tflow bind_loop(struct qn_trun *run, uint32_t symbol, const struct qn_tlist *items,
                               size_t i)
{
    const struct {
        const char *name;
        struct qn_tval val;
    } members[] = {
        {"index", qn_tval_int((double)i + 1)},
        {"index0", qn_tval_int((double)i)},
        {"revindex", qn_tval_int((double)(items->n - i))},
        {"revindex0", qn_tval_int((double)(items->n - i) - 1)},
        {"first", qn_tval_bool(i == 0)},
        {"last", qn_tval_bool(i + 1 == items->n)},
        {"length", qn_tval_int((double)items->n)},
        {"previtem", i > 0 ? items->items[i - 1] : qn_tval_undefined()},
        {"nextitem", i + 1 < items->n ? items->items[i + 1] : qn_tval_undefined()},
    };
    enum { MEMBERS = sizeof(members) / sizeof(members[0]) };
    struct qn_tval loop = qn_tval_dict(QN_T_DICT, NULL);
    QN_T_TRY(qn_tdict_new(run, MEMBERS, &loop.dict));
    for (size_t k = 0; k < MEMBERS; k++)
        loop.dict->members[k] = (struct qn_tmember){
            .key = members[k].name, .n = strlen(members[k].name), .val = members[k].val};
    loop.dict->n = MEMBERS;
    return qn_trun_bind(run, symbol, &loop);
}

/* Runs the body over the items; *whole says whether any iteration came to its end. What an
 * iteration had written when it is broken off is lost, as in the reference. */
static enum qn_tflow iterate(struct qn_trun *run, const struct qn_tnode *node,
                             const struct qn_tlist *items, bool *whole)
{
    bool mentioned = node->flag || run->t->macros_loop;
    uint32_t loop = mentioned ? qn_tsymbol_find(run->t, "loop", 4) : QN_TSYMBOL_NONE;
    for (size_t i = 0; i < items->n; i++) {
        size_t mark = run->out.len;
        if (loop != QN_TSYMBOL_NONE)
            QN_T_TRY(bind_loop(run, loop, items, i));
        QN_T_TRY(assign_names(run, node->a, &items->items[i]));
        enum qn_tflow flow = qn_texec(run, &node->kids);
        if (flow == QN_T_FAIL)
            return flow;
        if (flow == QN_T_OK)
            *whole = true;
        else
            qn_trun_cut(run, mark);
        if (flow == QN_T_BREAK)
            break;
        QN_T_TRY(qn_trun_charge(run, 1));
    }
    return QN_T_OK;
}

static enum qn_tflow exec_for(struct qn_trun *run, const struct qn_tnode *node)
{
    struct qn_tlist *items;
    bool select = node->b->kind == QN_N_SELECT, whole = false;
    QN_T_TRY(loop_items(run, select ? node->b->a : node->b, &items));
    if (select)
        QN_T_TRY(select_items(run, node, items, &items));
    size_t scope = qn_trun_enter(run);
    enum qn_tflow flow = iterate(run, node, items, &whole);
    if (flow == QN_T_OK && !whole)
        flow = qn_texec(run, &node->other);
    qn_trun_leave(run, scope);
    return flow;
}

/* namespace.member = value */
static enum qn_tflow assign_member(struct qn_trun *run, const struct qn_tnode *target,
                                   const struct qn_tval *v)
{
    struct qn_tval object;
    QN_T_TRY(qn_teval_value(run, target->a, &object));
    if (object.type != QN_T_NAMESPACE || target->kind != QN_N_MEMBER)
        return qn_trun_fail(run, "only members of a namespace can be assigned to");
    return qn_tdict_set(run, object.dict, target->val.s, target->val.n, v);
}

static enum qn_tflow assign(struct qn_trun *run, const struct qn_tnode *target,
                            const struct qn_tval *v)
{
    if (target->kind == QN_N_MEMBER || target->kind == QN_N_INDEX)
        return assign_member(run, target, v);
    return assign_names(run, target, v);
}

static enum qn_tflow exec_set(struct qn_trun *run, const struct qn_tnode *node)
{
    struct qn_tval v;
    QN_T_TRY(qn_teval(run, node->b, &v));
    run->at = node->at;
    return assign(run, node->a, &v);
}

/* The text that statements write, as a value. */
static enum qn_tflow capture(struct qn_trun *run, const struct qn_tnodes *body, struct qn_tval *out)
{
    size_t mark = run->out.len;
    enum qn_tflow flow = qn_texec(run, body);
    if (flow == QN_T_OK)
        return qn_trun_take(run, mark, out);
    qn_trun_cut(run, mark);
    return flow;
}

static enum qn_tflow exec_set_block(struct qn_trun *run, const struct qn_tnode *node)
{
    struct qn_tval v;
    QN_T_TRY(capture(run, &node->kids, &v));
    run->at = node->at;
    return assign(run, node->a, &v);
}

static enum qn_tflow exec_macro(struct qn_trun *run, const struct qn_tnode *node)
{
    struct qn_tval macro = {.type = QN_T_FUNCTION};
    QN_T_TRY(qn_trun_alloc(run, sizeof(*macro.fn), &macro.fn));
    *macro.fn = (struct qn_tfunc){.call = qn_teval_macro, .node = node};
    return qn_trun_bind(run, node->symbol, &macro);
}

static enum qn_tflow exec_call_block(struct qn_trun *run, const struct qn_tnode *node)
{
    struct qn_tval v;
    QN_T_TRY(qn_teval_call_block(run, node, &v));
    return qn_tval_put(run, &v);
}

static enum qn_tflow exec_filter_block(struct qn_trun *run, const struct qn_tnode *node)
{
    struct qn_tval v;
    struct qn_targs args;
    QN_T_TRY(capture(run, &node->kids, &v));
    QN_T_TRY(qn_teval_arguments(run, &node->a->kids, &args));
    run->at = node->at;
    QN_T_TRY(qn_tfilter_apply(run, &node->a->val, node->a->flag, &v, &args, &v));
    return qn_tval_put(run, &v);
}

static enum qn_tflow exec_break(struct qn_trun *run, const struct qn_tnode *node)
{
    (void)run;
    (void)node;
    return QN_T_BREAK;
}

static enum qn_tflow exec_continue(struct qn_trun *run, const struct qn_tnode *node)
{
    (void)run;
    (void)node;
    return QN_T_CONTINUE;
}

static const exec_fn execute[QN_N_KINDS] = {
    [QN_N_TEXT] = exec_text,
    [QN_N_OUTPUT] = exec_output,
    [QN_N_IF] = exec_if,
    [QN_N_FOR] = exec_for,
    [QN_N_SET] = exec_set,
    [QN_N_SET_BLOCK] = exec_set_block,
    [QN_N_MACRO] = exec_macro,
    [QN_N_CALL_BLOCK] = exec_call_block,
    [QN_N_FILTER_BLOCK] = exec_filter_block,
    [QN_N_BREAK] = exec_break,
    [QN_N_CONTINUE] = exec_continue,
};

enum qn_tflow qn_texec(struct qn_trun *run, const struct qn_tnodes *body)
{
    enum qn_tflow flow = QN_T_OK;
    if (run->frames >= QN_TEMPLATE_FRAMES_MAX)
        return qn_trun_limit(run, "blocks and macro calls are nested too deeply");
    run->frames++;
    for (size_t i = 0; flow == QN_T_OK && i < body->n; i++) {
        run->at = body->v[i]->at;
        flow = qn_trun_charge(run, 1);
        if (flow == QN_T_OK)
            flow = execute[body->v[i]->kind](run, body->v[i]);
    }
    run->frames--;
    return flow;
}
