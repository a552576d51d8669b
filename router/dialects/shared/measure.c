/* See measure.h. */
#include "dialects/shared/measure.h"

#include "dialects/shared/keep_alive.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

qn_err qn_measure_job(struct qn_request *rq, enum qn_task task, const struct qn_jref *root,
                      struct qn_error *e)
{
    struct qn_job *job = qn_arena_alloc(rq->arena, sizeof *job);
    struct qn_jref v = qn_json_get(root, "model");
    qn_job_init(job);
    job->task = task;
    rq->jobs = job;
    rq->n_jobs = 1;
    qn_err err = qn_json_str_opt(&v, &rq->model, e);
    if (rq->model && !*rq->model)
        rq->model = NULL;
    if (!err)
        err = qn_keep_alive_of(root, &rq->keep_alive_ms, e);
    v = qn_json_get(root, "truncate");
    return err ? err : qn_json_bool_opt(&v, &job->truncate, e);
}

void qn_measure_begin(struct qn_reply *r)
{
    struct qn_measured *m = qn_xcalloc(1, sizeof *m);
    m->n =
        *(const size_t *)r->rq->own; /* every such request's own begins with its inputs' number */
    m->vector = qn_xcalloc(m->n, sizeof *m->vector);
    m->score = qn_xcalloc(m->n, sizeof *m->score);
    for (size_t i = 0; i < m->n; i++)
        m->score[i] = NAN;
    r->own = m;
}

void qn_measure_free(void *own)
{
    struct qn_measured *m = own;
    if (!m)
        return;
    free(m->vector);
    free(m->score);
    free(m);
}

/* Every input must have got its answer. */
static qn_err check_all(const struct qn_measured *m, enum qn_task task, struct qn_error *e)
{
    for (size_t i = 0; i < m->n; i++)
        if (task == QN_TASK_EMBED ? !m->vector[i] : isnan(m->score[i]))
            return qn_fail(e, QN_ECHILD, "the model's process left out input %zu", i);
    return QN_OK;
}

qn_err qn_measure_event(struct qn_reply *r, size_t job, const struct qn_event *ev,
                        struct qn_error *e)
{
    struct qn_measured *m = r->own;
    enum qn_task task = r->rq->jobs[0].task;
    if (ev->kind == QN_EV_USAGE)
        m->prompt += ev->usage.prompt;
    if (ev->kind == QN_EV_DONE)
        return check_all(m, task, e);
    if (ev->kind != QN_EV_VECTOR && ev->kind != QN_EV_SCORE)
        return QN_OK;
    if (job != 0 || ev->index < 0 || (size_t)ev->index >= m->n ||
        (ev->kind == QN_EV_VECTOR) != (task == QN_TASK_EMBED))
        return qn_fail(e, QN_ECHILD, "the model's process answered what nobody asked for");
    if (ev->kind == QN_EV_SCORE) {
        m->score[ev->index] = ev->score;
        return QN_OK;
    }
    size_t n = strlen(ev->vector) + 1;
    char *copy = qn_arena_try(r->arena, n);
    if (!copy)
        return qn_fail(e, QN_ELIMIT, "the reply is too long");
    m->vector[ev->index] = memcpy(copy, ev->vector, n);
    return QN_OK;
}

void qn_measure_usage(const struct qn_measured *m, struct qn_jw *w)
{
    qn_jw_key(w, "usage");
    qn_jw_obj(w);
    qn_jw_ki64(w, "prompt_tokens", m->prompt);
    qn_jw_ki64(w, "total_tokens", m->prompt);
    qn_jw_obj_end(w);
}

void qn_measure_ping(struct qn_reply *r)
{
    (void)r;
}
