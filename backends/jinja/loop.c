/* See loop.h. Also implements {% for %}. */
#include "jinja/loop.h"

#include "jinja/eval.h"
#include "jinja/template.h"

#include <stdio.h>

enum qn_tflow qn_tloop_next(struct qn_trun *run, struct qn_tloop *loop, struct qn_tval *out,
                            bool *more)
{
    *more = true;
    if (loop->after.type != QN_T_MISSING) {
        *out = loop->after;
        loop->after = qn_tval_of(QN_T_MISSING);
    } else {
        QN_T_TRY(qn_titer_next(run, &loop->cursor, out, more));
    }
    if (*more) {
        loop->index0++;
        loop->before = loop->current;
        loop->current = *out;
    }
    return QN_T_OK;
}

enum qn_tflow qn_tloop_next_pair(struct qn_trun *run, struct qn_tloop *loop, struct qn_tval *out,
                                 bool *more)
{
    struct qn_tval self = {.type = QN_T_LOOP, .loop = loop}, item;
    QN_T_TRY(qn_tloop_next(run, loop, &item, more));
    return *more ? qn_tval_pair(run, &item, &self, out) : QN_T_OK;
}

static enum qn_tflow peek(struct qn_trun *run, struct qn_tloop *loop, bool *more)
{
    struct qn_tval item; /* local, because at its end an iterator may have stored a skipped item in
                            it */
    *more = true;
    if (loop->after.type != QN_T_MISSING)
        return QN_T_OK;
    QN_T_TRY(qn_titer_next(run, &loop->cursor, &item, more));
    if (*more)
        loop->after = item;
    return QN_T_OK;
}

enum qn_tflow qn_tloop_length(struct qn_trun *run, struct qn_tloop *loop, size_t *out)
{
    struct qn_tlist *rest = NULL;
    if (!loop->has_length && qn_tval_has_len(&loop->cursor.over)) {
        QN_T_TRY(qn_tval_len(run, &loop->cursor.over, &loop->length));
    } else if (!loop->has_length) {
        QN_T_TRY(qn_titer_list(run, &loop->cursor.over, &rest));
        loop->cursor = (struct qn_tcursor){.over = qn_tval_list(rest)};
        loop->length = rest->n + (size_t)(loop->index0 + 1) + (loop->after.type != QN_T_MISSING);
    }
    loop->has_length = true;
    *out = loop->length;
    return QN_T_OK;
}

static enum qn_tflow neighbour(struct qn_trun *run, struct qn_tloop *loop, bool next,
                               struct qn_tval *out)
{
    bool more = false;
    if (!next) {
        *out = loop->index0 == 0 || loop->before.type == QN_T_MISSING
                   ? qn_tval_hint("there is no previous item")
                   : loop->before;
        return QN_T_OK;
    }
    QN_T_TRY(peek(run, loop, &more));
    *out = more ? loop->after : qn_tval_hint("there is no next item");
    return QN_T_OK;
}

enum qn_tflow qn_tloop_member(struct qn_trun *run, struct qn_tloop *loop,
                              const struct qn_tval *name, struct qn_tval *out)
{
    size_t n = 0;
    bool more = false;
    if (qn_tval_str_eq(name, "index"))
        *out = qn_tval_int(loop->index0 + 1);
    else if (qn_tval_str_eq(name, "index0"))
        *out = qn_tval_int(loop->index0);
    else if (qn_tval_str_eq(name, "first"))
        *out = qn_tval_bool(loop->index0 == 0);
    else if (qn_tval_str_eq(name, "depth"))
        *out = qn_tval_int(loop->depth0 + 1);
    else if (qn_tval_str_eq(name, "depth0"))
        *out = qn_tval_int(loop->depth0);
    else if (qn_tval_str_eq(name, "previtem") || qn_tval_str_eq(name, "nextitem"))
        return neighbour(run, loop, name->s[0] == 'n', out);
    else if (qn_tval_str_eq(name, "last")) {
        QN_T_TRY(peek(run, loop, &more));
        *out = qn_tval_bool(!more);
    } else if (qn_tval_str_eq(name, "length")) {
        QN_T_TRY(qn_tloop_length(run, loop, &n));
        *out = qn_tval_size(n);
    } else if (qn_tval_str_eq(name, "revindex") || qn_tval_str_eq(name, "revindex0")) {
        QN_T_TRY(qn_tloop_length(run, loop, &n));
        *out = qn_tval_int((int64_t)n - loop->index0 - (name->n == 9));
    }
    return QN_T_OK;
}

enum qn_tflow qn_tloop_put(struct qn_trun *run, struct qn_tloop *loop)
{
    char text[80];
    size_t n = 0;
    QN_T_TRY(qn_tloop_length(run, loop, &n));
    snprintf(text, sizeof text, "<LoopContext %lld/%zu>", (long long)loop->index0 + 1, n);
    return qn_trun_puts(run, text);
}

/* {% for %} */

struct filter { /* the `if` after a loop's items: a generator with its own frame */
    const struct qn_tnode *node;
    struct qn_tframe *frame;
};

static enum qn_tflow next_filtered(struct qn_trun *run, struct qn_titer *it, struct qn_tval *out,
                                   bool *more)
{
    const struct filter *f = it->state;
    struct qn_tframe *saved = run->frame;
    bool truth = false;
    while (!truth) {
        struct qn_tval verdict;
        QN_T_TRY(qn_titer_next(run, &it->cursor, out, more));
        if (!*more)
            return QN_T_OK;
        run->frame = f->frame;
        QN_T_TRY(qn_tassign(run, f->node->test->params.v[0], out));
        QN_T_TRY(qn_teval(run, f->node->c, &verdict));
        QN_T_TRY(qn_tval_truth(run, &verdict, &truth));
        run->frame = saved;
    }
    return QN_T_OK;
}

static enum qn_tflow filtered(struct qn_trun *run, const struct qn_tnode *node,
                              struct qn_tframe *outer, const struct qn_tval *items,
                              struct qn_tval *out)
{
    struct qn_titer *it = NULL;
    struct filter *f = NULL;
    struct qn_tframe *saved = run->frame;
    QN_T_TRY(qn_trun_alloc(run, sizeof *f, &f));
    f->node = node;
    QN_T_TRY(qn_tframe_new(run, node->test, outer, &f->frame));
    run->frame = f->frame;
    qn_tscope_enter(run, &node->test->scope);
    run->frame = saved;
    QN_T_TRY(qn_titer_new(run, &it, out));
    it->next = next_filtered;
    it->name = "generator";
    it->state = f;
    return qn_titer_begin(run, items, &it->cursor);
}

/* Runs the iterations, with the loop's variables in run->frame. */
static enum qn_tflow iterate(struct qn_trun *run, const struct qn_tnode *node,
                             struct qn_tloop *loop)
{
    struct qn_tval item, self = {.type = QN_T_LOOP, .loop = loop};
    bool more = false, empty = true;
    enum qn_tflow flow = QN_T_OK;
    QN_T_TRY(qn_tloop_next(run, loop, &item, &more));
    while (more) {
        QN_T_TRY(qn_tassign(run, node->a, &item));
        if (node->has_loop)
            run->frame->slots[node->loop_slot] = self;
        qn_tscope_enter(run, &node->scope);
        flow = qn_texec(run, &node->kids);
        if (flow == QN_T_FAIL)
            return flow;
        if (flow == QN_T_BREAK)
            break;
        if (flow == QN_T_OK) /* an iteration that ends by `continue` does not count for `else` */
            empty = false;
        QN_T_TRY(qn_tloop_next(run, loop, &item, &more));
    }
    qn_tscope_leave(run, &node->scope);
    if (!empty || node->other.n == 0)
        return QN_T_OK;
    qn_tscope_enter(run, &node->else_scope);
    flow = qn_texec(run, &node->other);
    qn_tscope_leave(run, &node->else_scope);
    return flow;
}

static enum qn_tflow start(struct qn_trun *run, const struct qn_tnode *node,
                           struct qn_tframe *outer, const struct qn_tval *items, int64_t depth0,
                           struct qn_tloop **out)
{
    struct qn_tval over = *items;
    QN_T_TRY(qn_trun_alloc(run, sizeof **out, out));
    if (node->c)
        QN_T_TRY(filtered(run, node, outer, items, &over));
    **out = (struct qn_tloop){.node = node, .outer = outer, .index0 = -1, .depth0 = depth0};
    return qn_titer_begin(run, &over, &(*out)->cursor);
}

/* Runs one level of a recursive loop, which behaves like a function that returns its text. */
static enum qn_tflow descend(struct qn_trun *run, const struct qn_tnode *node,
                             struct qn_tframe *outer, const struct qn_tval *items, int64_t depth0,
                             struct qn_tval *out)
{
    struct qn_tframe *saved = run->frame, *frame = NULL;
    struct qn_tloop *loop = NULL;
    size_t mark = run->out.len;
    if (run->calls >= QN_TEMPLATE_DEPTH_MAX)
        return qn_trun_limit(run, "calls nested more than %d deep", QN_TEMPLATE_DEPTH_MAX);
    QN_T_TRY(qn_tframe_new(run, node->body, outer, &frame));
    QN_T_TRY(start(run, node, outer, items, depth0, &loop));
    run->calls++;
    run->frame = frame;
    QN_T_TRY(iterate(run, node, loop));
    run->frame = saved;
    run->calls--;
    QN_T_TRY(qn_trun_take(run, mark, out));
    if (node->escape == QN_ESCAPE_YES || (node->escape == QN_ESCAPE_RUNTIME && run->autoescape))
        out->kind = QN_T_MARKUP;
    return QN_T_OK;
}

enum qn_tflow qn_tloop_call(struct qn_trun *run, struct qn_tloop *loop, const struct qn_targs *args,
                            struct qn_tval *out)
{
    struct qn_tval items;
    QN_T_TRY(qn_trun_args(run, args, "iterable", 1, &items));
    if (!loop->node->flag)
        return qn_trun_fail(run,
                            "The loop must have the 'recursive' marker to be called recursively.");
    return descend(run, loop->node, loop->outer, &items, loop->depth0 + 1, out);
}

enum qn_tflow qn_texec_for(struct qn_trun *run, const struct qn_tnode *node)
{
    struct qn_tval items, text;
    struct qn_tloop *loop = NULL;
    QN_T_TRY(qn_teval(run, node->b, &items));
    if (!node->flag) {
        QN_T_TRY(start(run, node, run->frame, &items, 0, &loop));
        return iterate(run, node, loop);
    }
    QN_T_TRY(descend(run, node, run->frame, &items, 0, &text));
    return qn_trun_putv(run, &text);
}
