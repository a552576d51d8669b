/* POST tokenize, as in llama-server and Lemonade: returns a model's tokens of a text. No start
 * token is added unless add_special is true. Nothing is computed. */
#include "dialects/dialect.h"
#include "dialects/openai/openai.h"

#include <stdlib.h>
#include <string.h>

struct tokenized {
    const char *tokens; /* a JSON array; NULL: not received yet */
};

static qn_err parse(struct qn_request *rq, struct qn_error *e)
{
    struct qn_jref root = qn_json_root(rq->doc);
    struct qn_job *job = qn_arena_alloc(rq->arena, sizeof *job);
    struct qn_jref v = qn_json_get(&root, "content");
    bool add_special = false;
    qn_job_init(job);
    job->task = QN_TASK_COMPLETE;
    job->count_only = job->want_tokens = true;
    rq->jobs = job;
    qn_err err = qn_json_str(&v, &job->complete.prompt, e);
    if (!err && strlen(job->complete.prompt) > QN_JOB_PROMPT_BYTES_MAX)
        err = qn_json_fail(&v, e, "too long: at most %d bytes", QN_JOB_PROMPT_BYTES_MAX);
    v = qn_json_get(&root, "add_special");
    if (!err)
        err = qn_json_bool_opt(&v, &add_special, e);
    v = qn_json_get(&root, "model");
    if (!err)
        err = qn_json_str_opt(&v, &rq->model, e);
    if (err)
        return err;
    job->complete.bare = !add_special;
    /* An empty text has no tokens; a model that is asked for it would add a start token. */
    rq->n_jobs = *job->complete.prompt || add_special;
    return QN_OK;
}

static void begin(struct qn_reply *r)
{
    r->own = qn_xcalloc(1, sizeof(struct tokenized));
}

static qn_err event(struct qn_reply *r, size_t job, const struct qn_event *ev, struct qn_error *e)
{
    struct tokenized *t = r->own;
    (void)job;
    if (ev->kind != QN_EV_DONE)
        return QN_OK;
    if (!ev->tokens)
        return qn_fail_param(e, QN_EUNSUPPORTED, "model",
                             "the engine of this model counts tokens but does not return them");
    size_t n = strlen(ev->tokens) + 1;
    char *copy = qn_arena_try(r->arena, n);
    if (!copy)
        return qn_fail(e, QN_ELIMIT, "the reply is too long");
    t->tokens = memcpy(copy, ev->tokens, n);
    return QN_OK;
}

static void end(struct qn_reply *r)
{
    const struct tokenized *t = r->own;
    const char *tokens = t->tokens ? t->tokens : "[]";
    struct qn_jw w = qn_jw_to(r->out);
    qn_jw_obj(&w);
    qn_jw_key(&w, "tokens");
    qn_jw_raw(&w, tokens, strlen(tokens));
    qn_jw_kstr(&w, "model", r->rq->model);
    qn_jw_obj_end(&w);
}

static void ping(struct qn_reply *r)
{
    (void)r;
}

const struct qn_dialect qn_tokenize_dialect = {
    .task = QN_TASK_COMPLETE,
    .stream_type = "application/json",
    .last_used = true,
    .parse = parse,
    .begin = begin,
    .event = event,
    .end = end,
    .fail = qn_openai_fail,
    .ping = ping,
    .free = free,
};
