/* POST completions: raw text in, the text that continues it out. One job per prompt. */
#include "dialects/openai/openai.h"
#include "dialects/shared/defaults.h"

#include "base/str.h"
#include "contract/codec.h"
#include "dialects/shared/logprobs.h"

#include <math.h>
#include <string.h>

static const char prefix[] = "cmpl-";
static const char object[] = "text_completion";

static const char *const known[] = {
    "prompt", "echo", "suffix", "best_of", "response_format", "grammar", "json_schema", NULL,
};

/* Columns of logprobs in struct qn_openai_choice. */
enum { TOP = 0, TOKENS = 1, OFFSETS = 2 };

static qn_err read_tokens(const struct qn_jref *list, struct qn_request *rq, struct qn_job *job,
                          struct qn_error *e)
{
    size_t n = qn_json_count(list);
    if (n == 0)
        return qn_json_fail(list, e, "at least one token is needed");
    int64_t *v = n > QN_JOB_PROMPT_BYTES_MAX ? NULL : qn_arena_try(rq->arena, n * sizeof *v);
    if (!v)
        return qn_json_fail(list, e, "too many tokens");
    struct qn_jref it;
    size_t i = 0;
    for (bool more = qn_json_first(list, &it); more; more = qn_json_next(&it), i++) {
        qn_err err = qn_json_i64(&it, 0, INT32_MAX, &v[i], e);
        if (err)
            return err;
    }
    job->complete.prompt_tokens = (struct qn_i64s){v, n};
    return QN_OK;
}

/* Reads one prompt: a string, or an array of tokens. */
static qn_err read_one(const struct qn_jref *v, struct qn_request *rq, struct qn_job *job,
                       struct qn_error *e)
{
    if (qn_json_type(v) == QN_JSON_ARRAY)
        return read_tokens(v, rq, job, e);
    if (qn_json_type(v) != QN_JSON_STRING)
        return qn_json_fail(v, e, "expected a string or an array of token ids");
    job->complete.prompt = qn_json_raw_str(v);
    if (strlen(job->complete.prompt) > QN_JOB_PROMPT_BYTES_MAX)
        return qn_json_fail(v, e, "too long: at most %d bytes", QN_JOB_PROMPT_BYTES_MAX);
    return QN_OK;
}

static qn_err read_prompts(const struct qn_jref *v, struct qn_request *rq,
                           const struct qn_job *pattern, struct qn_error *e)
{
    struct qn_jref it = *v;
    bool list = false; /* several prompts; an array of numbers is one prompt */
    if (qn_json_type(v) == QN_JSON_ARRAY) {
        if (!qn_json_first(v, &it))
            return qn_json_fail(v, e, "at least one prompt is needed");
        list = qn_json_type(&it) != QN_JSON_NUMBER;
    } else if (qn_json_type(v) != QN_JSON_STRING) {
        return qn_json_fail(v, e, "expected a string, an array of strings or token ids");
    }
    size_t n = list ? qn_json_count(v) : 1;
    if (n > QN_REQUEST_JOBS_MAX)
        return qn_json_fail(v, e, "at most %d prompts are allowed, not %zu", QN_REQUEST_JOBS_MAX,
                            n);
    rq->jobs = qn_arena_alloc(rq->arena, n * sizeof *rq->jobs);
    rq->n_jobs = n;
    if (!list) {
        rq->jobs[0] = *pattern;
        return read_one(v, rq, &rq->jobs[0], e);
    }
    qn_err err = QN_OK;
    for (size_t i = 0; i < n && !err; i++) {
        rq->jobs[i] = *pattern;
        err = read_one(&it, rq, &rq->jobs[i], e);
        qn_json_next(&it);
    }
    return err;
}

/* best_of: this many choices are generated, and the n with the greatest probability per token are
 * returned. */
static qn_err read_best_of(const struct qn_jref *root, const struct qn_request *rq,
                           struct qn_sampling *s, struct qn_openai_ask *ask, struct qn_error *e)
{
    struct qn_jref v = qn_json_get(root, "best_of");
    int64_t n = s->n == QN_UNSET ? 1 : s->n, best_of = n;
    ask->n = (size_t)n;
    qn_err err = qn_json_i64_opt(&v, 1, QN_JOB_CHOICES_MAX, &best_of, e);
    if (err || best_of == n)
        return err;
    if (best_of < n)
        return qn_json_fail(&v, e, "must not be less than n");
    if (rq->stream)
        return qn_json_fail(
            &v, e,
            "best_of cannot be streamed, because the best choices are known only at the end");
    ask->best_of = true;
    s->n = best_of;
    if (s->logprobs == QN_UNSET)
        s->logprobs = 0;
    return QN_OK;
}

/* Reads OpenAI's number of alternatives per token or, as in Lemonade, whether the log-probabilities
 * of the tokens themselves are wanted. */
static qn_err read_logprobs(const struct qn_jref *root, struct qn_sampling *s, struct qn_error *e)
{
    struct qn_jref v = qn_json_get(root, "logprobs");
    if (qn_json_type(&v) != QN_JSON_BOOL)
        return qn_sampling_read(s, "logprobs", &v, e);
    if (qn_json_raw_bool(&v))
        s->logprobs = 0;
    return QN_OK;
}

static qn_err parse(struct qn_request *rq, struct qn_error *e)
{
    struct qn_jref root = qn_json_root(rq->doc);
    struct qn_openai_ask *ask = qn_arena_alloc(rq->arena, sizeof *ask);
    struct qn_job job;
    qn_job_init(&job);
    job.task = QN_TASK_COMPLETE;
    rq->own = ask;
    qn_err err = qn_openai_common(&root, rq, &job.sampling, ask, e);
    if (!err)
        err = read_logprobs(&root, &job.sampling, e);
    ask->logprobs = job.sampling.logprobs != QN_UNSET;
    struct qn_jref v = qn_json_get(&root, "echo");
    if (!err)
        err = qn_json_bool_opt(&v, &ask->echo, e);
    job.complete.echo = ask->echo;
    v = qn_json_get(&root, "suffix");
    if (!err)
        err = qn_json_str_opt(&v, &job.complete.suffix, e);
    if (!err)
        err = qn_openai_constraints(&root, rq, &job, e);
    if (!err)
        err = read_best_of(&root, rq, &job.sampling, ask, e);
    qn_sampling_defaults(&rq->profile->complete, &job.sampling);
    v = qn_json_get(&root, "prompt");
    if (!err)
        err = read_prompts(&v, rq, &job, e);
    if (!err)
        qn_openai_unknown(&root, "completions", known);
    return err;
}

static void comma(struct qn_buf *b)
{
    if (b->len)
        qn_buf_char(b, ',');
}

static int64_t characters(const char *s)
{
    int64_t n = 0;
    for (; *s; s++)
        n += ((unsigned char)*s & 0xC0) != 0x80;
    return n;
}

/* Appends the event's tokens to the four columns of the choice's logprobs. */
static qn_err add_tokens(struct qn_openai_choice *c, const struct qn_event *ev, struct qn_error *e)
{
    struct qn_json *doc;
    qn_err err = qn_json_parse(ev->logprobs, strlen(ev->logprobs), &doc, e);
    if (err)
        return err;
    struct qn_jref root = qn_json_root(doc), token, other;
    int64_t offset = c->offset;
    struct qn_buf name;
    qn_buf_init(&name, QN_REPLY_MAX);
    for (bool more = qn_json_first(&root, &token); more; more = qn_json_next(&token)) {
        struct qn_jref text = qn_json_get(&token, "token"), p = qn_json_get(&token, "logprob");
        struct qn_jref top = qn_json_get(&token, "top");
        /* The first token of the prompt has no probability. */
        bool has_p = qn_json_type(&p) == QN_JSON_NUMBER;
        if (has_p) {
            c->logprob_sum += qn_json_raw_f64(&p);
            c->logprob_n++;
        }
        comma(&c->more[TOKENS]);
        struct qn_jw w = qn_jw_to(&c->more[TOKENS]);
        qn_buf_clear(&name);
        qn_logprobs_name(&token, &name);
        qn_jw_str(&w, qn_buf_cstr(&name));
        comma(&c->logprobs);
        w = qn_jw_to(&c->logprobs);
        if (has_p)
            qn_jw_f64(&w, qn_json_raw_f64(&p));
        else
            qn_jw_null(&w);
        comma(&c->more[OFFSETS]);
        w = qn_jw_to(&c->more[OFFSETS]);
        qn_jw_i64(&w, offset);
        offset += characters(qn_json_raw_str(&text));
        comma(&c->more[TOP]);
        w = qn_jw_to(&c->more[TOP]);
        if (!has_p) {
            qn_jw_null(&w);
            continue;
        }
        qn_jw_obj(&w);
        for (bool m = qn_json_first(&top, &other); m; m = qn_json_next(&other)) {
            struct qn_jref v = qn_json_get(&other, "logprob");
            qn_buf_clear(&name);
            qn_logprobs_name(&other, &name);
            qn_jw_kf64(&w, qn_buf_cstr(&name), qn_json_raw_f64(&v));
        }
        qn_jw_obj_end(&w);
    }
    qn_buf_deinit(&name);
    qn_json_free(doc);
    return c->more[TOP].overflow || c->logprobs.overflow
               ? qn_fail(e, QN_ELIMIT, "the reply is too long")
               : QN_OK;
}

static void write_column(struct qn_jw *w, const char *name, struct qn_buf *items)
{
    struct qn_buf list;
    qn_buf_init(&list, QN_REPLY_MAX + 2);
    qn_buf_char(&list, '[');
    qn_buf_add(&list, qn_buf_cstr(items), items->len);
    qn_buf_char(&list, ']');
    qn_jw_key(w, name);
    qn_jw_raw(w, list.data, list.len);
    qn_buf_deinit(&list);
    qn_buf_clear(items);
}

static void write_choice(struct qn_jw *w, size_t index, const char *text, bool logprobs,
                         struct qn_openai_choice *c, enum qn_finish finish, const char *unfinished)
{
    qn_jw_obj(w);
    qn_jw_kstr(w, "text", text);
    qn_jw_ki64(w, "index", (int64_t)index);
    qn_jw_key(w, "logprobs");
    if (logprobs) {
        qn_jw_obj(w);
        write_column(w, "tokens", &c->more[TOKENS]);
        write_column(w, "token_logprobs", &c->logprobs);
        write_column(w, "top_logprobs", &c->more[TOP]);
        write_column(w, "text_offset", &c->more[OFFSETS]);
        qn_jw_obj_end(w);
    } else {
        qn_jw_null(w);
    }
    qn_jw_kstr(w, "finish_reason", finish == QN_FINISH_NONE ? unfinished : qn_finish_name(finish));
    qn_jw_obj_end(w);
}

/* Writes the last chunk of a choice. */
static void end_choice(struct qn_reply *r, size_t index, struct qn_openai_choice *c, bool usage)
{
    struct qn_jw w = qn_openai_chunk(r, prefix, object);
    write_choice(&w, index, "", false, c, c->finish, NULL);
    if (usage) {
        qn_jw_arr_end(&w);
        qn_openai_usage_write(r->own, &w);
        qn_jw_obj_end(&w);
        qn_buf_str(r->out, "\n\n");
    } else {
        qn_openai_chunk_end(r, &w);
    }
}

static qn_err event(struct qn_reply *r, size_t job, const struct qn_event *ev, struct qn_error *e)
{
    if (ev->kind == QN_EV_USAGE)
        qn_openai_usage(r, ev);
    if (ev->kind != QN_EV_TEXT && ev->kind != QN_EV_DONE)
        return QN_OK;
    size_t index;
    struct qn_openai_choice *c = qn_openai_choice(r, job, ev, &index);
    if (!c)
        return qn_fail(e, QN_ECHILD, "the model's process sent a choice that was not requested");
    const struct qn_openai_ask *ask = r->rq->own;
    bool text = ev->kind == QN_EV_TEXT;
    bool tokens = text && (ask->logprobs || ask->best_of) && ev->logprobs;
    qn_err err = tokens ? add_tokens(c, ev, e) : QN_OK;
    if (err)
        return err;
    if (text)
        c->offset += characters(ev->text);
    else
        c->finish = ev->finish;
    if (!r->rq->stream)
        return text && qn_buf_str(&c->text, ev->text)
                   ? qn_fail(e, QN_ELIMIT, "the reply is too long")
                   : QN_OK;
    if (text) {
        struct qn_jw w = qn_openai_chunk(r, prefix, object);
        write_choice(&w, index, ev->text, tokens, c, QN_FINISH_NONE, r->rq->profile->unfinished);
        qn_openai_chunk_end(r, &w);
    } else if (!qn_openai_ends_late(r)) {
        end_choice(r, index, c, false);
    }
    return QN_OK;
}

static double likelihood(const struct qn_openai_choice *c)
{
    return c->logprob_n ? c->logprob_sum / (double)c->logprob_n : -INFINITY;
}

/* Returns the most likely of a job's choices that is not in the reply yet. */
static struct qn_openai_choice *take_best(const struct qn_openai *o, size_t job)
{
    struct qn_openai_choice *best = NULL;
    for (size_t i = job * o->per_job; i < (job + 1) * o->per_job; i++) {
        struct qn_openai_choice *c = &o->choices[i];
        if (!c->told && (!best || likelihood(c) > likelihood(best)))
            best = c;
    }
    best->told = true;
    return best;
}

static void end(struct qn_reply *r)
{
    struct qn_openai *o = r->own;
    const struct qn_openai_ask *ask = r->rq->own;
    if (r->rq->stream) {
        for (size_t i = 0; i < o->n && qn_openai_ends_late(r); i++)
            end_choice(r, i, &o->choices[i], i + 1 == o->n);
        qn_openai_stream_end(r, prefix, object);
        return;
    }
    struct qn_jw w = qn_openai_open(r, prefix, object);
    for (size_t i = 0; i < r->rq->n_jobs * ask->n; i++) {
        struct qn_openai_choice *c = ask->best_of ? take_best(o, i / ask->n) : &o->choices[i];
        write_choice(&w, i, qn_buf_cstr(&c->text), ask->logprobs, c, c->finish, NULL);
    }
    qn_jw_arr_end(&w);
    qn_openai_usage_write(o, &w);
    qn_jw_obj_end(&w);
}

const struct qn_dialect qn_openai_complete = {
    .task = QN_TASK_COMPLETE,
    .stream_type = "text/event-stream",
    .parse = parse,
    .begin = qn_openai_begin,
    .event = event,
    .end = end,
    .fail = qn_openai_fail,
    .ping = qn_openai_ping,
    .free = qn_openai_free,
};
