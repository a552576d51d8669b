/* See embed.h. */
#include "dialects/shared/embed.h"

#include "answers/answer.h"
#include "dialects/shared/keep_alive.h"
#include "digest/base64.h"

#include <stdlib.h>
#include <string.h>

qn_err qn_embed_job(struct qn_request *rq, enum qn_task task, const struct qn_jref *root,
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

qn_err qn_embed_inputs(struct qn_request *rq, const struct qn_jref *v, bool one, struct qn_error *e)
{
    struct qn_embed *m = &rq->jobs->embed;
    size_t n = one ? 1 : qn_json_count(v);
    if (n == 0)
        return qn_json_fail(v, e, "at least one input is needed");
    if (n > QN_JOB_INPUTS_MAX)
        return qn_json_fail(v, e, "at most %d inputs are allowed, not %zu", QN_JOB_INPUTS_MAX, n);
    m->count = (int64_t)n;
    m->inputs = *v;
    m->inputs.up = NULL; /* it points to the caller's stack */
    m->one = one;
    rq->stream = m->count > QN_EMBED_WHOLE_INPUTS && rq->jobs->task == QN_TASK_EMBED;
    return QN_OK;
}

qn_err qn_embed_text(const struct qn_jref *v, const char **out, struct qn_error *e)
{
    qn_err err = qn_json_str(v, out, e);
    if (!err && strlen(*out) > QN_JOB_PROMPT_BYTES_MAX)
        err = qn_json_fail(v, e, "too long: at most %d bytes", QN_JOB_PROMPT_BYTES_MAX);
    return err;
}

void qn_embed_begin(struct qn_reply *r)
{
    struct qn_embed_reply *m = qn_xcalloc(1, sizeof *m);
    const struct qn_job *job = r->rq->jobs;
    m->n = r->rq->n_jobs ? (size_t)job->embed.count : 0;
    if (m->n && job->task == QN_TASK_RERANK)
        m->score = qn_xcalloc(m->n, sizeof *m->score);
    m->w = qn_jw_to(r->out);
    qn_buf_init(&m->b64, 2 * QN_EVENT_RESULTS_BYTES_MAX);
    r->own = m;
}

void qn_embed_free(void *own)
{
    struct qn_embed_reply *m = own;
    if (!m)
        return;
    qn_buf_deinit(&m->b64);
    free(m->score);
    free(m);
}

qn_err qn_embed_event(struct qn_reply *r, size_t job, const struct qn_event *ev, struct qn_error *e)
{
    struct qn_embed_reply *m = r->own;
    bool embed = r->rq->jobs[0].task == QN_TASK_EMBED;
    if (ev->kind == QN_EV_USAGE)
        m->prompt += ev->usage.prompt;
    if (ev->kind == QN_EV_DONE && m->told < m->n)
        return qn_fail(e, QN_ECHILD, "the model's process returned no result for input %zu",
                       m->told);
    if (ev->kind != QN_EV_VECTORS && ev->kind != QN_EV_SCORES)
        return QN_OK;
    if (job != 0 || (ev->kind == QN_EV_VECTORS) != embed || (size_t)ev->count > m->n - m->told ||
        (size_t)ev->index != m->told)
        return qn_fail(e, QN_ECHILD,
                       "the model's process sent results of %lld inputs from %lld on instead of "
                       "those from %zu to %zu",
                       (long long)ev->count, (long long)ev->index, m->told, m->n);
    size_t dims = (size_t)(ev->bytes / ev->count / 4);
    if (m->dims && dims != m->dims)
        return qn_fail(e, QN_ECHILD,
                       "the model's process sent a vector of %zu numbers after one of %zu", dims,
                       m->dims);
    m->dims = dims;
    for (size_t i = 0; !embed && i < (size_t)ev->count; i++)
        m->score[m->told + i] = qn_event_float(ev->data, i);
    m->told += (size_t)ev->count;
    return QN_OK;
}

void qn_embed_vector(struct qn_embed_reply *m, const struct qn_event *ev, size_t i, bool base64)
{
    if (base64) {
        qn_buf_clear(&m->b64);
        qn_buf_char(&m->b64, '"');
        qn_base64_add(&m->b64, ev->data + 4 * m->dims * i, 4 * m->dims);
        qn_buf_char(&m->b64, '"');
        qn_jw_raw(&m->w, m->b64.data, m->b64.len);
        return;
    }
    qn_jw_arr(&m->w);
    for (size_t k = 0; k < m->dims; k++)
        qn_jw_f32(&m->w, qn_event_float(ev->data, m->dims * i + k));
    qn_jw_arr_end(&m->w);
}

void qn_embed_usage(const struct qn_embed_reply *m, struct qn_jw *w)
{
    qn_jw_key(w, "usage");
    qn_jw_obj(w);
    qn_jw_ki64(w, "prompt_tokens", m->prompt);
    qn_jw_ki64(w, "total_tokens", m->prompt);
    qn_jw_obj_end(w);
}

void qn_embed_fail(struct qn_reply *r, const struct qn_problem *p)
{
    r->cut = r->started;
    if (!r->started)
        qn_problem_body(p, r->rq->family, r->out);
}

void qn_embed_ping(struct qn_reply *r)
{
    (void)r;
}
