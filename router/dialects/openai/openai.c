/* Shared by OpenAI's chat and completion endpoints: sampling members, the frame of a chunk, usage,
 * errors. Names and shapes: https://platform.openai.com/docs/api-reference; members beyond OpenAI's
 * (top_k, min_p, repeat_penalty, timings) have the names that other local servers use. */
#include "dialects/openai/openai.h"

#include "answers/answer.h"
#include "base/log.h"
#include "base/str.h"
#include "contract/codec.h"
#include "dialects/shared/adapters.h"
#include "dialects/shared/defaults.h"
#include "dialects/shared/keep_alive.h"
#include "dialects/shared/stops.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Members passed unchanged to the sampler. Types and ranges are the contract's. */
static const struct {
    const char *member, *field;
    bool minus_one; /* -1 means "no limit", like an absent value */
} scalars[] = {
    {"max_tokens", "max_tokens", true},
    {"n_predict", "max_tokens", true},
    {"max_completion_tokens", "max_tokens", true},
    {"temperature", "temperature", false},
    {"top_p", "top_p", false},
    {"top_k", "top_k", true},
    {"min_p", "min_p", false},
    {"typical_p", "typical_p", false},
    {"repetition_penalty", "repeat_penalty", false},
    {"repeat_penalty", "repeat_penalty", false},
    {"repeat_last_n", "repeat_last_n", false},
    {"presence_penalty", "presence_penalty", false},
    {"frequency_penalty", "frequency_penalty", false},
    {"seed", "seed", false},
    {"n", "n", false},
    {"ignore_eos", "ignore_eos", false},
};

/* Common members that are read elsewhere, and OpenAI's members without effect: there is one service
 * tier, chats are not stored, and prompts are cached independently of their key. */
static const char *const known_common[] = {
    "model",
    "stream",
    "stream_options",
    "stop",
    "logit_bias",
    "logprobs",
    "ctx_size",
    "keep_alive",
    "ttl",
    "lora",
    "context_shift",
    "user",
    "metadata",
    "store",
    "service_tier",
    "safety_identifier",
    "prompt_cache_key",
    "prompt_cache_retention",
    "cache_prompt",
    NULL,
};

static qn_err read_bias(const struct qn_jref *v, struct qn_request *rq, struct qn_sampling *s,
                        struct qn_error *e)
{
    if (qn_json_type(v) <= QN_JSON_NULL)
        return QN_OK;
    if (qn_json_type(v) != QN_JSON_OBJECT)
        return qn_json_fail(v, e, "expected an object of token ids and numbers");
    size_t n = qn_json_count(v);
    if (n > QN_JOB_LOGIT_BIAS_MAX)
        return qn_json_fail(v, e, "at most %d tokens may have a bias, not %zu",
                            QN_JOB_LOGIT_BIAS_MAX, n);
    s->logit_bias.v = qn_arena_alloc(rq->arena, (n + 1) * sizeof *s->logit_bias.v);
    struct qn_jref it;
    for (bool more = qn_json_first(v, &it); more; more = qn_json_next(&it)) {
        struct qn_bias *b = &s->logit_bias.v[s->logit_bias.n++];
        if (!qn_parse_i64(it.key, &b->token) || b->token < 0 || b->token > INT32_MAX)
            return qn_json_fail(&it, e, "the name of a member must be a token id");
        qn_err err = qn_json_f64(&it, -100, 100, &b->bias, e);
        if (err)
            return err;
    }
    return QN_OK;
}

/* Reads the context for loading the model and the time that the model stays loaded. */
static qn_err read_stay(const struct qn_jref *root, struct qn_request *rq, struct qn_error *e)
{
    struct qn_jref v = qn_json_get(root, "ctx_size");
    int64_t context = 0; /* 0: the child chooses */
    qn_err err = qn_json_i64_opt(&v, 0, INT32_MAX, &context, e);
    if (!err && context > 0)
        rq->context = context;
    return err ? err : qn_keep_alive_of(root, &rq->keep_alive_ms, e);
}

/* max_completion_tokens replaced max_tokens, so a request with both is ambiguous. null counts as
 * absent. */
static qn_err check_one_limit(const struct qn_jref *root, struct qn_error *e)
{
    struct qn_jref older = qn_json_get(root, "max_tokens");
    struct qn_jref newer = qn_json_get(root, "max_completion_tokens");
    if (qn_json_type(&older) <= QN_JSON_NULL || qn_json_type(&newer) <= QN_JSON_NULL)
        return QN_OK;
    return qn_json_fail(&newer, e, "max_tokens and max_completion_tokens exclude each other");
}

qn_err qn_openai_common(const struct qn_jref *root, struct qn_request *rq, struct qn_sampling *s,
                        struct qn_openai_ask *ask, struct qn_error *e)
{
    struct qn_jref v = qn_json_get(root, "model");
    qn_err err = qn_json_str_opt(&v, &rq->model, e);
    if (err)
        return err;
    if (rq->model && !*rq->model)
        rq->model = NULL;
    v = qn_json_get(root, "stream");
    if ((err = qn_json_bool_opt(&v, &rq->stream, e)))
        return err;
    struct qn_jref options = qn_json_get(root, "stream_options");
    if (qn_json_type(&options) > QN_JSON_NULL) {
        if (qn_json_type(&options) != QN_JSON_OBJECT)
            return qn_json_fail(&options, e, "expected an object");
        if (!rq->stream)
            return qn_json_fail(&options, e, "only allowed when stream is true");
        v = qn_json_get(&options, "include_usage");
        if ((err = qn_json_bool_opt(&v, &ask->include_usage, e)))
            return err;
    }
    if ((err = check_one_limit(root, e)))
        return err;
    for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++) {
        v = qn_json_get(root, scalars[i].member);
        if (scalars[i].minus_one && qn_json_type(&v) == QN_JSON_NUMBER && qn_json_raw_f64(&v) == -1)
            continue;
        if ((err = qn_sampling_read(s, scalars[i].field, &v, e)))
            return err;
    }
    v = qn_json_get(root, "temperature");
    if ((err = qn_sampling_check(rq->profile, s, &v, e)))
        return err;
    if ((err = read_stay(root, rq, e)) || (err = qn_read_adapters(root, rq, s, e)))
        return err;
    v = qn_json_get(root, "stop");
    if ((err = qn_stops_read(&v, QN_STOPS_ONE, rq->arena, &s->stop, e)))
        return err;
    v = qn_json_get(root, "logit_bias");
    return read_bias(&v, rq, s, e);
}

static bool listed(const char *name, const char *const *list)
{
    for (; *list; list++)
        if (qn_str_eq(name, *list))
            return true;
    return false;
}

void qn_openai_unknown(const struct qn_jref *root, const char *endpoint, const char *const *known)
{
    if (qn_log_get_level() < QN_LOG_DEBUG)
        return;
    struct qn_jref it;
    for (bool more = qn_json_first(root, &it); more; more = qn_json_next(&it)) {
        bool found = listed(it.key, known) || listed(it.key, known_common);
        for (size_t i = 0; i < sizeof scalars / sizeof *scalars && !found; i++)
            found = qn_str_eq(it.key, scalars[i].member);
        if (!found)
            qn_debug("openai", "endpoint=%s ignored=%.60s", endpoint, it.key);
    }
}

void qn_openai_begin(struct qn_reply *r)
{
    struct qn_openai *o = qn_xcalloc(1, sizeof *o);
    int64_t n = r->rq->jobs[0].sampling.n;
    o->per_job = n == QN_UNSET ? 1 : (size_t)n;
    o->n = o->per_job * r->rq->n_jobs;
    o->choices = qn_xcalloc(o->n, sizeof *o->choices);
    for (size_t i = 0; i < o->n; i++) {
        qn_buf_init(&o->choices[i].text, QN_REPLY_MAX);
        qn_buf_init(&o->choices[i].reasoning, QN_REPLY_MAX);
        qn_buf_init(&o->choices[i].logprobs, QN_REPLY_MAX);
        for (size_t k = 0; k < 3; k++)
            qn_buf_init(&o->choices[i].more[k], QN_REPLY_MAX);
    }
    r->own = o;
}

void qn_openai_free(void *own)
{
    struct qn_openai *o = own;
    if (!o)
        return;
    for (size_t i = 0; i < o->n; i++) {
        struct qn_openai_choice *c = &o->choices[i];
        qn_buf_deinit(&c->text);
        qn_buf_deinit(&c->reasoning);
        qn_buf_deinit(&c->logprobs);
        for (size_t k = 0; k < 3; k++)
            qn_buf_deinit(&c->more[k]);
        for (size_t k = 0; k < c->n_calls; k++)
            qn_buf_deinit(&c->calls[k].arguments);
        free(c->calls);
    }
    free(o->choices);
    free(o);
}

struct qn_openai_choice *qn_openai_choice(struct qn_reply *r, size_t job, const struct qn_event *ev,
                                          size_t *index)
{
    struct qn_openai *o = r->own;
    if (ev->index < 0 || (size_t)ev->index >= o->per_job || job >= r->rq->n_jobs)
        return NULL;
    *index = job * o->per_job + (size_t)ev->index;
    return &o->choices[*index];
}

qn_err qn_openai_take_call(struct qn_reply *r, struct qn_openai_choice *c, size_t index,
                           const struct qn_event *ev, struct qn_openai_call **call, bool *fresh,
                           struct qn_error *e)
{
    *fresh = ev->name != NULL;
    if (ev->call + 1 != (int64_t)c->n_calls + *fresh)
        return qn_fail(e, QN_ECHILD, "the model's process sent tool calls out of order");
    if (*fresh) {
        c->calls = qn_xrealloc(c->calls, (c->n_calls + 1) * sizeof *c->calls);
        struct qn_openai_call *it = &c->calls[c->n_calls++];
        /* Ids are unique in a conversation, because they are derived from the reply's random id. */
        it->id = ev->call_id && *ev->call_id ? qn_arena_strdup(r->arena, ev->call_id)
                                             : qn_arena_fmt(r->arena, "call_%.24s%zx%llx", r->id,
                                                            index, (long long)ev->call);
        it->name = qn_arena_strdup(r->arena, ev->name);
        qn_buf_init(&it->arguments, QN_REPLY_MAX);
    }
    *call = &c->calls[c->n_calls - 1];
    if (!r->rq->stream && qn_buf_str(&(*call)->arguments, ev->arguments))
        return qn_fail(e, QN_ELIMIT, "the reply is too long");
    return QN_OK;
}

void qn_openai_usage(struct qn_reply *r, const struct qn_event *ev)
{
    struct qn_openai *o = r->own;
    o->prompt += ev->usage.prompt;
    o->cached += ev->usage.cached;
    o->output += ev->usage.output;
    o->reasoning += ev->usage.reasoning;
    o->prompt_ms += ev->usage.prompt_ms;
    o->output_ms += ev->usage.output_ms;
}

struct qn_jw qn_openai_open(struct qn_reply *r, const char *prefix, const char *object)
{
    struct qn_jw w = qn_jw_to(r->out);
    qn_jw_obj(&w);
    char id[96];
    size_t n = strlen(prefix), m = strlen(r->id);
    if (m > sizeof id - 1 - n)
        m = sizeof id - 1 - n;
    memcpy(id, prefix, n);
    memcpy(id + n, r->id, m);
    qn_jw_key(&w, "id");
    qn_jw_strn(&w, id, n + m);
    qn_jw_kstr(&w, "object", object);
    qn_jw_ki64(&w, "created", r->created_s);
    qn_jw_kstr(&w, "model", r->rq->model);
    qn_jw_kstr(&w, "system_fingerprint", "quince-" QN_VERSION);
    qn_jw_key(&w, "choices");
    qn_jw_arr(&w);
    return w;
}

static double per_second(int64_t n, double ms)
{
    return ms > 0 ? (double)n * 1000 / ms : 0;
}

void qn_openai_usage_write(const struct qn_openai *o, struct qn_jw *w)
{
    qn_jw_key(w, "usage");
    qn_jw_obj(w);
    qn_jw_ki64(w, "prompt_tokens", o->prompt);
    qn_jw_ki64(w, "completion_tokens", o->output);
    qn_jw_ki64(w, "total_tokens", o->prompt + o->output);
    qn_jw_key(w, "prompt_tokens_details");
    qn_jw_obj(w);
    qn_jw_ki64(w, "cached_tokens", o->cached);
    qn_jw_obj_end(w);
    qn_jw_key(w, "completion_tokens_details");
    qn_jw_obj(w);
    qn_jw_ki64(w, "reasoning_tokens", o->reasoning);
    qn_jw_obj_end(w);
    qn_jw_obj_end(w);
    qn_jw_key(w, "timings");
    qn_jw_obj(w);
    qn_jw_ki64(w, "cache_n", o->cached);
    qn_jw_ki64(w, "prompt_n", o->prompt - o->cached);
    qn_jw_kf64(w, "prompt_ms", o->prompt_ms);
    qn_jw_kf64(w, "prompt_per_second", per_second(o->prompt - o->cached, o->prompt_ms));
    qn_jw_ki64(w, "predicted_n", o->output);
    qn_jw_kf64(w, "predicted_ms", o->output_ms);
    qn_jw_kf64(w, "predicted_per_second", per_second(o->output, o->output_ms));
    qn_jw_obj_end(w);
}

struct qn_jw qn_openai_chunk(struct qn_reply *r, const char *prefix, const char *object)
{
    qn_buf_str(r->out, "data: ");
    return qn_openai_open(r, prefix, object);
}

void qn_openai_chunk_end(struct qn_reply *r, struct qn_jw *w)
{
    const struct qn_openai_ask *ask = r->rq->own;
    qn_jw_arr_end(w);
    if (ask->include_usage)
        qn_jw_knull(w, "usage");
    qn_jw_obj_end(w);
    qn_buf_str(r->out, "\n\n");
}

bool qn_openai_ends_late(const struct qn_reply *r)
{
    const struct qn_openai_ask *ask = r->rq->own;
    return r->rq->profile->usage_in_last && !ask->include_usage;
}

void qn_openai_stream_end(struct qn_reply *r, const char *prefix, const char *object)
{
    const struct qn_openai_ask *ask = r->rq->own;
    if (ask->include_usage) { /* in a chunk of its own, without choices */
        struct qn_jw w = qn_openai_chunk(r, prefix, object);
        qn_jw_arr_end(&w);
        qn_openai_usage_write(r->own, &w);
        qn_jw_obj_end(&w);
        qn_buf_str(r->out, "\n\n");
    }
    qn_buf_str(r->out, "data: [DONE]\n\n");
}

void qn_openai_fail(struct qn_reply *r, const struct qn_problem *p)
{
    if (r->started)
        qn_buf_str(r->out, "data: ");
    qn_problem_body(p, r->rq->family, r->out);
    if (r->started)
        qn_buf_str(r->out, "\n\n");
    if (r->started && r->rq->profile->error_then_done)
        qn_buf_str(r->out, "data: [DONE]\n\n");
}

void qn_openai_ping(struct qn_reply *r)
{
    qn_buf_str(r->out, ": ping\n\n");
}
