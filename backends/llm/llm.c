#include "llm/llm.h"

#include "base/buf.h"
#include "base/log.h"
#include "base/str.h"
#include "engine/device.h"
#include "engine/ops.h"
#include "engine/pool.h"
#include "engine/weights.h"
#include "llm/batch.h"
#include "llm/prompt.h"
#include "nets/nets.h"
#include "nets/tokenizer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct llm {
    struct qn_device *dev;
    struct qn_weights *weights;
    struct qn_net *net;
    struct qn_tokenizer *tok;
    struct qn_prompter *prompter;
    struct qn_sampler_params defaults;
    struct qn_batch *batch;
    int32_t context;
};

/* struct qn_batch_model over the network and the tokenizer. */
static qn_err model_seq_new(void *ctx, int32_t context, struct qn_seq **out, struct qn_error *e)
{
    struct llm *m = ctx;
    return qn_seq_new(m->net, context, out, e);
}

static void model_forward(void *ctx, struct qn_chunk *chunks, size_t n)
{
    struct llm *m = ctx;
    qn_net_forward(m->net, chunks, n);
}

static const char *model_token_bytes(void *ctx, int32_t id, size_t *len)
{
    struct llm *m = ctx;
    return qn_token_bytes(m->tok, id, len);
}

/* Rows of the output matrix beyond the vocabulary (padding) stand for nothing, too. */
static bool model_token_is_control(void *ctx, int32_t id)
{
    struct llm *m = ctx;
    return qn_token_is_control(m->tok, id);
}

static bool model_token_is_end(void *ctx, int32_t id)
{
    struct llm *m = ctx;
    return qn_token_is_end(m->tok, id);
}

static bool on_progress(void *ctx, double fraction)
{
    qn_progress_set(ctx, fraction);
    return !qn_progress_cancelled(ctx);
}

/* Bytes the system can still give, or INT64_MAX when it does not say. */
static int64_t memory_available(void)
{
    FILE *f = fopen("/proc/meminfo", "re");
    int64_t kib = -1;
    char line[256];
    while (f && kib < 0 && fgets(line, sizeof line, f)) {
        long long v;
        if (sscanf(line, "MemAvailable: %lld kB", &v) == 1)
            kib = v;
    }
    if (f)
        fclose(f);
    return kib < 0 ? INT64_MAX : kib * 1024;
}

static qn_err read_options(const struct qn_load *opts, int *slots, struct qn_error *e)
{
    struct qn_jref v;
    for (bool more = qn_json_first(&opts->options, &v); more; more = qn_json_next(&v)) {
        if (!qn_str_eq(v.key, "slots"))
            return qn_fail_param(e, QN_EINVAL, v.key,
                                 "unknown option \"%s\" for a language model: \"slots\" exists",
                                 v.key);
        int64_t n = *slots;
        qn_err err = qn_json_i64_opt(&v, 1, QN_BATCH_SLOTS_MAX, &n, e);
        if (err)
            return err;
        *slots = (int)n;
    }
    return QN_OK;
}

/* Tokens per sequence: what was asked for, within what the model was trained on; without a wish,
 * QN_LLM_CONTEXT, halved until the caches fit into nine tenths of the free memory. */
static qn_err choose_context(const struct qn_net_info *info, int64_t asked, int slots, int32_t *out,
                             struct qn_error *e)
{
    int64_t free_bytes = memory_available() / 10 * 9;
    int64_t per_token = info->kv_token_bytes * slots;
    int64_t train = info->context_train > 0 ? info->context_train : QN_LLM_CONTEXT;
    int64_t context = asked > 0 ? asked : QN_LLM_CONTEXT;
    if (context > QN_LLM_CONTEXT_MAX)
        context = QN_LLM_CONTEXT_MAX;
    if (context > train) {
        if (asked > 0)
            qn_warn(
                "llm",
                "context asked=%lld trained=%lld: the model cannot use more than it was trained on",
                (long long)asked, (long long)train);
        context = train;
    }
    while (asked <= 0 && context > QN_LLM_CONTEXT_MIN && context * per_token > free_bytes)
        context /= 2;
    if (context * per_token > free_bytes)
        return qn_fail(e, QN_ENOMEM,
                       "a context of %lld tokens for %d slots needs %lld MiB, but only %lld MiB "
                       "are free: load the "
                       "model with a smaller context or fewer slots, or unload another model",
                       (long long)context, slots, (long long)(context * per_token >> 20),
                       (long long)(free_bytes >> 20));
    *out = (int32_t)context;
    return QN_OK;
}

/* The router may know of more processors than the pool can use. */
static int usable(int threads)
{
    return threads > QN_POOL_THREADS_MAX ? QN_POOL_THREADS_MAX : threads;
}

static void llm_unload(void *self)
{
    struct llm *m = self;
    qn_batch_free(m->batch);
    qn_prompter_free(m->prompter);
    if (m->tok)
        qn_tokenizer_free(m->tok);
    if (m->net)
        qn_net_free(m->net);
    qn_weights_close(m->weights);
    qn_device_free(m->dev);
    free(m);
}

/* Says which file it is about and what can be done, where the message only says what is wrong. */
static qn_err about_file(const char *path, struct qn_error *e)
{
    struct qn_error why = *e;
    size_t n = strlen(path);
    bool named = strstr(why.message, path) != NULL;
    const char *advice = why.code == QN_EUNSUPPORTED
                             ? "; choose another file of the model"
                             : "; the file is damaged or incomplete: get it again";
    if (why.param[0] || n > QN_ERROR_MESSAGE_MAX / 2 || named ||
        (why.code != QN_EFORMAT && why.code != QN_ENOTFOUND && why.code != QN_EUNSUPPORTED))
        return why.code;
    return qn_fail(e, why.code, "%s: %s%s", path, why.message, advice);
}

static qn_err llm_load(const struct qn_load *opts, struct qn_progress *p, void **self,
                       struct qn_ready *ready, struct qn_error *e)
{
    if (opts->n_files != 1)
        return qn_fail(e, QN_EINVAL, "a language model is one GGUF file, not %zu files",
                       opts->n_files);
    int slots = QN_LLM_SLOTS;
    struct llm *m = qn_xcalloc(1, sizeof *m);
    qn_err err = read_options(opts, &slots, e);
    if (!err)
        err = qn_device_cpu_new(usable(opts->threads), &m->dev, e);
    if (!err)
        err = qn_weights_open(&m->weights, opts->files[0], e);
    const struct qn_gguf *g = err ? NULL : qn_weights_gguf(m->weights);
    if (!err)
        err = qn_tokenizer_new(g, &m->tok, e);
    if (!err)
        err = qn_prompter_new(g, m->tok, &m->prompter, e);
    if (!err)
        err = qn_sampler_defaults(g, &m->defaults, e);
    if (!err)
        err = qn_net_load(&m->net, m->weights, m->dev, QN_LLM_CHUNK_MAX, on_progress, p, e);
    if (err)
        goto fail;
    const struct qn_net_info *info = qn_net_info(m->net);
    if (info->vocab < qn_tokenizer_size(m->tok)) {
        err = qn_fail(e, QN_EFORMAT, "the tokenizer has %d tokens, the output matrix only %d rows",
                      (int)qn_tokenizer_size(m->tok), (int)info->vocab);
        goto fail;
    }
    err = choose_context(info, opts->context, slots, &m->context, e);
    struct qn_batch_model model = {
        .ctx = m,
        .vocab = info->vocab,
        .max_chunk = QN_LLM_CHUNK_MAX,
        .seq_new = model_seq_new,
        .seq_free = qn_seq_free,
        .seq_truncate = qn_seq_truncate,
        .seq_fork = qn_seq_fork,
        .seq_reserve = qn_seq_reserve,
        .forward = model_forward,
        .token_bytes = model_token_bytes,
        .token_is_control = model_token_is_control,
        .token_is_end = model_token_is_end,
    };
    /* Whole pages for every slot, so that none ever waits for another's. */
    const struct qn_kv_config cache = {.tokens = (m->context + QN_KV_PAGE - 1) / QN_KV_PAGE *
                                                 QN_KV_PAGE * (int64_t)slots,
                                       .k = QN_F16,
                                       .v = QN_F16};
    if (!err)
        err = qn_net_kv_init(m->net, &cache, e);
    if (!err)
        err = qn_batch_new(&model, slots, m->context, &m->batch, e);
    if (err)
        goto fail;
    ready->context = m->context;
    ready->slots = slots;
    ready->memory_bytes =
        info->weight_bytes + info->kv_token_bytes * slots * m->context +
        (int64_t)info->vocab * (QN_BATCH_LOGIT_ROWS + slots) * (int64_t)sizeof(float);
    qn_info("llm", "model=%s arch=%s parameters=%lld context=%d slots=%d device=\"%s\" threads=%d",
            opts->name, info->architecture, (long long)info->parameters, (int)m->context, slots,
            qn_device_name(m->dev), qn_device_threads(m->dev));
    *self = m;
    return QN_OK;
fail:
    llm_unload(m);
    return about_file(opts->files[0], e);
}

static void sink_send(void *ctx, const struct qn_event *ev)
{
    qn_sink_send(ctx, ev);
}

static bool sink_full(void *ctx)
{
    return qn_sink_full(ctx);
}

static int64_t or_else(int64_t v, int64_t otherwise)
{
    return v == QN_UNSET ? otherwise : v;
}

static qn_err llm_start(void *self, const struct qn_job *job, struct qn_sink *out,
                        struct qn_error *e)
{
    struct llm *m = self;
    if (!qn_batch_has_room(m->batch))
        return qn_fail(e, QN_EBUSY, "all slots are taken");
    struct qn_batch_request r = {
        .key = job,
        .out = {out, sink_send, sink_full},
        .choices = or_else(job->sampling.n, 1),
        .max_tokens = or_else(job->sampling.max_tokens, -1),
        .logprobs = or_else(job->sampling.logprobs, -1),
        .ignore_eos = job->sampling.ignore_eos,
    };
    struct qn_prompt prompt = {0};
    qn_err err =
        qn_sampler_resolve(&m->defaults, &job->sampling, qn_tokenizer_size(m->tok), &r.sampling, e);
    if (!err)
        err = qn_prompt_make(m->prompter, job, m->context, &prompt, e);
    if (err)
        return err;
    r.prompt = prompt.tokens;
    r.n_prompt = prompt.n;
    r.echo_text = prompt.echo_text;
    r.echo_skip = prompt.echo_skip;
    const char *stops[QN_JOB_STOPS_MAX + 1];
    r.stops.v = stops;
    for (size_t i = 0; i < job->sampling.stop.n && i < QN_JOB_STOPS_MAX; i++)
        stops[r.stops.n++] = job->sampling.stop.v[i];
    if (prompt.stop)
        stops[r.stops.n++] = prompt.stop;
    err = qn_batch_add(m->batch, &r, e);
    if (err == QN_ECONTEXT)
        strcpy(e->param, job->task == QN_TASK_CHAT ? "messages" : "prompt");
    if (err)
        qn_prompt_deinit(&prompt);
    return err;
}

static bool llm_step(void *self)
{
    struct llm *m = self;
    return qn_batch_step(m->batch);
}

static void llm_cancel(void *self, const struct qn_job *job)
{
    struct llm *m = self;
    qn_batch_cancel(m->batch, job);
}

static void llm_threads(void *self, int threads)
{
    struct llm *m = self;
    qn_device_set_threads(m->dev, usable(threads));
}

const struct qn_backend qn_llm_backend = {
    .type = "llm",
    .load = llm_load,
    .start = llm_start,
    .step = llm_step,
    .cancel = llm_cancel,
    .threads = llm_threads,
    .unload = llm_unload,
};
