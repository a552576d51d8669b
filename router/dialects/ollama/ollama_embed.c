/* POST /api/embed ("input": one or several texts) and its older form /api/embeddings ("prompt": one
 * text; the reply has its vector). A request without a text loads the model, as in /api/chat. */
#include "dialects/ollama/ollama.h"
#include "dialects/shared/embed.h"

#include "answers/answer.h"
#include "base/clock.h"

#include <string.h>

enum { NS_PER_MS = 1000000 };

static const char *const known[] = {"model",      "name",       "input",    "prompt", "options",
                                    "dimensions", "keep_alive", "truncate", "ttl",    NULL};

/* Reads the common members: model (or name, in older clients), keep_alive, truncate, options. */
static qn_err read_common(const struct qn_jref *root, struct qn_request *rq, struct qn_error *e)
{
    struct qn_jref v = qn_json_get(root, "name"), options = qn_json_get(root, "options");
    qn_err err = qn_embed_job(rq, QN_TASK_EMBED, root, e);
    if (!err && !rq->model)
        err = qn_json_str_opt(&v, &rq->model, e);
    if (!err && (!rq->model || !*rq->model))
        err = qn_fail_param(e, QN_EINVAL, "model", "model is required");
    struct qn_job *job = rq->jobs;
    v = qn_json_get(root, "truncate");
    if (!err && qn_json_type(&v) <= QN_JSON_NULL)
        job->truncate = true;
    return err ? err : qn_ollama_options(&options, rq->arena, &job->sampling, &rq->context, e);
}

/* v: a text, or (many) an array of texts. Without a text there is no job, and the model is
 * loaded. */
static qn_err read_texts(const struct qn_jref *v, bool many, struct qn_request *rq,
                         struct qn_error *e)
{
    const char *text = "";
    struct qn_jref it;
    bool list = many && qn_json_type(v) == QN_JSON_ARRAY;
    if (many && !list && qn_json_type(v) != QN_JSON_STRING)
        return qn_json_fail(v, e, "expected a text or an array of texts");
    if (list ? qn_json_count(v) == 0 : qn_json_type(v) == QN_JSON_STRING && !*qn_json_raw_str(v)) {
        rq->n_jobs = 0;
        return QN_OK;
    }
    qn_err err = list ? QN_OK : qn_embed_text(v, &text, e);
    if (!err)
        err = qn_embed_inputs(rq, v, !list, e);
    for (bool more = list && qn_json_first(v, &it); more && !err; more = qn_json_next(&it))
        err = qn_embed_text(&it, &text, e);
    return err;
}

static qn_err parse_input(struct qn_request *rq, struct qn_error *e)
{
    struct qn_jref root = qn_json_root(rq->doc), v = qn_json_get(&root, "dimensions");
    int64_t dimensions = 0;
    qn_err err = read_common(&root, rq, e);
    if (!err)
        err = qn_json_i64_opt(&v, 0, QN_JOB_DIMENSIONS_MAX, &dimensions, e);
    if (dimensions > 0)
        rq->jobs->embed.dimensions = dimensions;
    v = qn_json_get(&root, "input");
    if (!err)
        err = read_texts(&v, true, rq, e);
    if (!err)
        qn_ollama_unknown(&root, "embed", known);
    return err;
}

static qn_err parse_prompt(struct qn_request *rq, struct qn_error *e)
{
    struct qn_jref root = qn_json_root(rq->doc), v = qn_json_get(&root, "prompt");
    qn_err err = read_common(&root, rq, e);
    if (!err)
        err = read_texts(&v, false, rq, e);
    if (!err)
        qn_ollama_unknown(&root, "embeddings", known);
    return err;
}

static void open_list(struct qn_reply *r)
{
    struct qn_embed_reply *m = r->own;
    m->begun = true;
    qn_jw_obj(&m->w);
    qn_jw_kstr(&m->w, "model", r->rq->model);
    qn_jw_key(&m->w, "embeddings");
    qn_jw_arr(&m->w);
}

static qn_err event_inputs(struct qn_reply *r, size_t job, const struct qn_event *ev,
                           struct qn_error *e)
{
    struct qn_embed_reply *m = r->own;
    qn_err err = qn_embed_event(r, job, ev, e);
    if (err || ev->kind != QN_EV_VECTORS)
        return err;
    if (!m->begun)
        open_list(r);
    for (size_t i = 0; i < (size_t)ev->count; i++)
        qn_embed_vector(m, ev, i, false);
    return QN_OK;
}

static void end_inputs(struct qn_reply *r)
{
    struct qn_embed_reply *m = r->own;
    int64_t granted_ms = r->granted_ms > 0 ? r->granted_ms - r->began_ms : 0;
    if (!m->begun)
        open_list(r);
    qn_jw_arr_end(&m->w);
    qn_jw_ki64(&m->w, "total_duration", (qn_now_ms() - r->began_ms) * NS_PER_MS);
    qn_jw_ki64(&m->w, "load_duration", granted_ms * NS_PER_MS);
    qn_jw_ki64(&m->w, "prompt_eval_count", m->prompt);
    qn_jw_obj_end(&m->w);
}

static qn_err event_prompt(struct qn_reply *r, size_t job, const struct qn_event *ev,
                           struct qn_error *e)
{
    struct qn_embed_reply *m = r->own;
    qn_err err = qn_embed_event(r, job, ev, e);
    if (err || ev->kind != QN_EV_VECTORS)
        return err;
    m->begun = true;
    qn_jw_obj(&m->w);
    qn_jw_key(&m->w, "embedding");
    qn_embed_vector(m, ev, 0, false);
    qn_jw_obj_end(&m->w);
    return QN_OK;
}

static void end_prompt(struct qn_reply *r)
{
    const struct qn_embed_reply *m = r->own;
    if (!m->begun)
        qn_buf_str(r->out, "{\"embedding\":[]}");
}

static void fail(struct qn_reply *r, const struct qn_problem *p)
{
    r->cut = r->started;
    if (!r->started)
        qn_problem_body(p, QN_FAMILY_TEXT, r->out);
}

const struct qn_dialect qn_ollama_embed = {
    .task = QN_TASK_EMBED,
    .stream_type = "application/json",
    .parse = parse_input,
    .begin = qn_embed_begin,
    .event = event_inputs,
    .end = end_inputs,
    .fail = fail,
    .ping = qn_embed_ping,
    .free = qn_embed_free,
};

const struct qn_dialect qn_ollama_embeddings = {
    .task = QN_TASK_EMBED,
    .stream_type = "application/json",
    .parse = parse_prompt,
    .begin = qn_embed_begin,
    .event = event_prompt,
    .end = end_prompt,
    .fail = fail,
    .ping = qn_embed_ping,
    .free = qn_embed_free,
};
