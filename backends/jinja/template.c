/* Compiling and rendering: the interface of the interpreter to the rest of the program. */
#include "jinja/template.h"

#include "jinja/bind.h"
#include "jinja/compiled.h"
#include "jinja/eval.h"
#include "jinja/globals.h"
#include "jinja/parse.h"
#include "jinja/scope.h"

#include <stdlib.h>
#include <string.h>

/* A compiled tree takes at most a few hundred times the size of its source, so compiling does not
 * reach this limit. */
#define COMPILED_MAX ((size_t)2048 * QN_TEMPLATE_SOURCE_MAX)

qn_err qn_template_new(const char *source, size_t n, struct qn_template **out, struct qn_error *e)
{
    if (n > QN_TEMPLATE_SOURCE_MAX)
        return qn_fail(e, QN_ELIMIT, "chat template of %zu bytes: the limit is %d", n,
                       QN_TEMPLATE_SOURCE_MAX);
    struct qn_template *t = qn_xcalloc(1, sizeof(*t));
    t->arena = qn_arena_new(COMPILED_MAX);
    t->source = qn_tlex_prepare(t->arena, source, n, &t->n);
    qn_err err = qn_tparse(t, e);
    if (!err)
        err = qn_tscope_resolve(t, e);
    if (err)
        qn_template_free(t);
    else
        *out = t;
    return err;
}

void qn_template_free(struct qn_template *t)
{
    if (!t)
        return;
    qn_arena_free(t->arena);
    free(t);
}

struct qn_tval *qn_trun_variable(struct qn_trun *run, const char *name, size_t n)
{
    uint32_t symbol = qn_tsymbol_find(run->t, name, n);
    return symbol == QN_TSYMBOL_NONE ? NULL : &run->context[symbol];
}

/* Sets the variables that the template mentions from the members of the JSON object. */
static enum qn_tflow bind_members(struct qn_trun *run, void *ctx)
{
    const struct qn_jref *vars = ctx;
    struct qn_jref it;
    for (bool more = qn_json_first(vars, &it); more; more = qn_json_next(&it)) {
        struct qn_tval *place = qn_trun_variable(run, it.key, strlen(it.key));
        if (place)
            QN_T_TRY(qn_tval_from_json(run, &it, place));
    }
    return QN_T_OK;
}

static enum qn_tflow render(struct qn_trun *run, qn_tbind bind, void *ctx)
{
    const struct qn_template *t = run->t;
    QN_T_TRY(qn_trun_alloc(run, (t->symbols_n + 1) * sizeof(*run->context), &run->context));
    QN_T_TRY(qn_tglobals_bind(run));
    QN_T_TRY(bind(run, ctx));
    QN_T_TRY(qn_tframe_new(run, &t->body, NULL, &run->frame));
    qn_tscope_enter(run, &t->body.scope);
    return qn_texec(run, &t->nodes);
}

qn_err qn_template_render_bound(const struct qn_template *t, qn_tbind bind, void *ctx,
                                int64_t wall_ms, struct qn_buf *out, struct qn_error *e)
{
    struct qn_trun run = {.t = t, .e = e, .wall_ms = wall_ms, .steps = QN_TEMPLATE_STEPS_MAX};
    run.arena = qn_arena_new(QN_TEMPLATE_MEMORY_MAX);
    qn_buf_init(&run.out, QN_TEMPLATE_OUTPUT_MAX);
    qn_err err = QN_OK;
    if (render(&run, bind, ctx) != QN_T_OK)
        err = run.code;
    else if (qn_buf_add(out, run.out.data, run.out.len))
        err = qn_fail(e, QN_ELIMIT, "the rendered chat template of %zu bytes is too long",
                      run.out.len);
    qn_buf_deinit(&run.out);
    qn_arena_free(run.arena);
    return err;
}

qn_err qn_template_render(const struct qn_template *t, const struct qn_jref *vars, int64_t wall_ms,
                          struct qn_buf *out, struct qn_error *e)
{
    struct qn_jref root = *vars;
    if (qn_json_type(vars) != QN_JSON_OBJECT)
        return qn_fail(e, QN_EINVAL, "the variables of a chat template are an object");
    return qn_template_render_bound(t, bind_members, &root, wall_ms, out, e);
}
