/* Compiling and rendering: what the rest of the child sees of the interpreter. */
#include "llm/template.h"

#include "llm/template_builtin.h"
#include "llm/template_compiled.h"
#include "llm/template_eval.h"
#include "llm/template_parse.h"

#include <stdlib.h>
#include <string.h>

/* A tree takes at most about a hundred times its source, so compiling never meets this limit. */
#define COMPILED_MAX ((size_t)1024 * QN_TEMPLATE_SOURCE_MAX)

qn_err qn_template_new(const char *source, size_t n, struct qn_template **out, struct qn_error *e)
{
    if (n > QN_TEMPLATE_SOURCE_MAX)
        return qn_fail(e, QN_ELIMIT, "chat template of %zu bytes: the limit is %d", n,
                       QN_TEMPLATE_SOURCE_MAX);
    struct qn_template *t = qn_xcalloc(1, sizeof(*t));
    t->arena = qn_arena_new(COMPILED_MAX);
    qn_tsource_init(&t->source, t->arena, source, n);
    qn_err err = qn_tparse(t, e);
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

/* Binds those members of the object that the template mentions. */
static enum qn_tflow bind_variables(struct qn_trun *run, const struct qn_jref *vars)
{
    struct qn_jref it;
    for (bool more = qn_json_first(vars, &it); more; more = qn_json_next(&it)) {
        uint32_t symbol = qn_tsymbol_find(run->t, it.key, strlen(it.key));
        struct qn_tval v;
        if (symbol == QN_TSYMBOL_NONE)
            continue;
        QN_T_TRY(qn_tval_from_json(run, &it, &v));
        QN_T_TRY(qn_trun_bind(run, symbol, &v));
    }
    return QN_T_OK;
}

static enum qn_tflow render(struct qn_trun *run, const struct qn_jref *vars)
{
    QN_T_TRY(qn_trun_alloc(run, (run->t->symbols_n + 1) * sizeof(*run->bindings), &run->bindings));
    QN_T_TRY(qn_tglobals_bind(run));
    QN_T_TRY(bind_variables(run, vars));
    enum qn_tflow flow = qn_texec(run, &run->t->body);
    if (flow == QN_T_BREAK || flow == QN_T_CONTINUE)
        return qn_trun_fail(run, "break and continue need a loop around them");
    return flow;
}

qn_err qn_template_render(const struct qn_template *t, const struct qn_jref *vars, int64_t wall_ms,
                          struct qn_buf *out, struct qn_error *e)
{
    if (qn_json_type(vars) != QN_JSON_OBJECT)
        return qn_fail(e, QN_EINVAL, "the variables of a chat template are an object");
    struct qn_trun run = {.t = t, .e = e, .wall_ms = wall_ms, .steps = QN_TEMPLATE_STEPS_MAX};
    run.arena = qn_arena_new(QN_TEMPLATE_MEMORY_MAX);
    qn_buf_init(&run.out, QN_TEMPLATE_OUTPUT_MAX);
    qn_err err = QN_OK;
    if (render(&run, vars) != QN_T_OK)
        err = run.code;
    else if (qn_buf_add(out, run.out.data, run.out.len))
        err = qn_fail(e, QN_ELIMIT, "the rendered chat template of %zu bytes is too long",
                      run.out.len);
    qn_buf_deinit(&run.out);
    qn_arena_free(run.arena);
    return err;
}
