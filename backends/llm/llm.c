#include "llm/llm_private.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "engine/device.h"
#include "engine/ops.h"
#include "engine/pool.h"
#include "engine/weights.h"
#include "llm/fit.h"
#include "llm/options.h"
#include "llm/scheduler/draft.h"
#include "llm/scheduler/prefix.h"
#include "llm/scheduler/prefix_file.h"
#include "nets/nets.h"
#include "text/tokenizer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* below this size packing weights is fast enough without the cache on disk */
enum { KEPT_PARAMETERS = 1 << 26 };
/* of a recurrent model: the current state and snapshots for rewinding */
enum { STATES_PER_SEQ = 5 };

static bool on_progress(void *ctx, double fraction)
{
    qn_progress_set(ctx, fraction);
    return !qn_progress_cancelled(ctx);
}

/* Memory in bytes that the system can still provide; INT64_MAX if it is unknown. */
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

/* Limits the router's number of threads to what the pool supports. */
static int usable(int threads)
{
    return threads > QN_POOL_THREADS_MAX ? QN_POOL_THREADS_MAX : threads;
}

/* Loads the prefixes that were saved when the model was last unloaded. A failure costs only time.
 */
static void restore_prefixes(struct llm *m, const struct qn_llm_options *o)
{
    if (!o->prefix_cache)
        return;
    const struct qn_gguf *g = qn_weights_gguf(m->main.weights);
    struct qn_batch_model model = qn_lm_model(&m->main, QN_LLM_CHUNK_MAX);
    struct qn_error e = {0};
    int64_t tokens, start = qn_now_us();
    m->prefix_file = qn_xstrdup(o->prefix_cache);
    m->prefix_key =
        qn_prefix_key(qn_gguf_data(g), qn_gguf_file_bytes(g), qn_llm_cache_name(o->cache));
    qn_err err = qn_prefix_restore(qn_batch_prefix(m->batch), &model, m->context, m->prefix_key,
                                   m->prefix_file, &tokens, &e);
    if (err && err != QN_ENOTFOUND)
        qn_warn("llm", "prefix_file=\"%s\" not used: %s", m->prefix_file, e.message);
    if (tokens > 0)
        qn_info("llm", "prefix_tokens=%lld restored ms=%lld", (long long)tokens,
                (long long)(qn_now_us() - start) / 1000);
}

static void save_prefixes(struct llm *m)
{
    struct qn_batch_model model = qn_lm_model(&m->main, QN_LLM_CHUNK_MAX);
    struct qn_error e = {0};
    int64_t start = qn_now_us(), tokens = qn_prefix_tokens(qn_batch_prefix(m->batch));
    if (qn_prefix_save(qn_batch_prefix(m->batch), &model, m->prefix_key, m->prefix_file, &e))
        qn_warn("llm", "prefix_file=\"%s\" not written: %s", m->prefix_file, e.message);
    else
        qn_info("llm", "prefix_tokens=%lld saved ms=%lld", (long long)tokens,
                (long long)(qn_now_us() - start) / 1000);
}

static void llm_unload(void *self)
{
    struct llm *m = self;
    if (m->batch && m->prefix_file)
        save_prefixes(m);
    free(m->prefix_file);
    qn_batch_free(m->batch);
    qn_constrainer_free(m->constrainer);
    qn_draft_free(m->draft);
    qn_prompter_free(m->prompter);
    qn_adapters_deinit(&m->adapters);
    qn_lm_close(&m->small);
    qn_lm_close(&m->main);
    if (m->tok)
        qn_tokenizer_free(m->tok);
    qn_device_free(m->dev);
    free(m);
}

/* Adds the file's path and advice to the message. */
static qn_err about_file(const char *path, struct qn_error *e)
{
    struct qn_error why = *e;
    size_t n = strlen(path);
    bool named = strstr(why.message, path) != NULL;
    const char *advice = why.code == QN_EUNSUPPORTED
                             ? "; choose another file of the model"
                             : "; the file is damaged or incomplete: download it again";
    if (why.param[0] || n > QN_ERROR_MESSAGE_MAX / 2 || named ||
        (why.code != QN_EFORMAT && why.code != QN_ENOTFOUND && why.code != QN_EUNSUPPORTED))
        return why.code;
    return qn_fail(e, why.code, "%s: %s%s", path, why.message, advice);
}

/* Reports the option draft_model as the cause, because the main model itself is valid. */
static qn_err about_draft(const char *path, struct qn_error *e)
{
    qn_err err = about_file(path, e);
    struct qn_error why = *e;
    if (why.param[0] || err == QN_ENOMEM)
        return err;
    return qn_fail_param(e, err, "draft_model", "the draft model cannot be used: %s", why.message);
}

/* Bytes of the cache for `tokens` tokens of one sequence. */
static int64_t cache_bytes(const struct qn_lm *m, enum qn_dtype type, int64_t tokens)
{
    return qn_net_kv_seq_bytes(m->net, type, type, tokens);
}

static qn_err init_cache(struct qn_lm *m, enum qn_dtype type, int64_t tokens, struct qn_error *e)
{
    /* One page more than the contexts need: a shared last page is copied before it is written to.
     */
    const struct qn_kv_config cache = {.tokens = tokens + QN_KV_PAGE, .k = type, .v = type};
    return qn_net_kv_init(m->net, &cache, e);
}

/* Fails unless each id means the same token in both models; padding rows may differ. */
static qn_err check_vocabulary(const struct llm *m, const struct qn_tokenizer *other,
                               struct qn_error *e)
{
    int32_t n = qn_tokenizer_size(m->tok);
    bool same = qn_tokenizer_size(other) == n;
    for (int32_t id = 0; id < n && same; id++) {
        size_t a, b;
        const char *x = qn_token_bytes(m->tok, id, &a), *y = qn_token_bytes(other, id, &b);
        same = a == b && memcmp(x, y, a) == 0;
    }
    return same ? QN_OK
                : qn_fail_param(e, QN_EINVAL, "draft_model",
                                "the draft model's vocabulary differs from the model's: "
                                "choose a smaller model of the same family");
}

/* Opens the weights. The packed form is cached on disk if the option is set and the model is large
 * enough for it to save time. */
static qn_err open_weights(struct llm *m, struct qn_lm *lm, const char *path,
                           const struct qn_llm_options *o, struct qn_error *e)
{
    qn_err err = qn_weights_open(&lm->weights, path, e);
    if (!err && o->weights.folder && qn_weights_parameters(lm->weights) >= KEPT_PARAMETERS)
        qn_weights_keep_in(lm->weights, m->dev, o->weights.folder, o->weights.gib << 30, path);
    return err;
}

static qn_err load_draft(struct llm *m, const struct qn_llm_options *o, int64_t pool,
                         struct qn_error *e)
{
    if (!o->draft_model)
        return QN_OK;
    struct qn_tokenizer *tok = NULL;
    qn_err err = open_weights(m, &m->small, o->draft_model, o, e);
    if (!err)
        err = qn_tokenizer_new(qn_weights_gguf(m->small.weights), &tok, e);
    if (!err)
        err = check_vocabulary(m, tok, e);
    if (tok)
        qn_tokenizer_free(tok);
    if (!err)
        err = qn_net_load(&m->small.net, m->small.weights, m->dev,
                          &(struct qn_net_options){.max_chunk = QN_DRAFT_READ + QN_DRAFT_SEQS}, e);
    if (!err)
        err = init_cache(&m->small, o->cache, pool, e);
    if (err)
        return about_draft(o->draft_model, e);
    if (qn_net_info(m->small.net)->state_bytes || qn_net_info(m->main.net)->state_bytes)
        return qn_fail_param(e, QN_EUNSUPPORTED, "draft_model",
                             "models with a recurrent state cannot discard rejected tokens, so "
                             "speculation is not possible: load without draft_model");
    m->small.tok = m->tok;
    struct qn_batch_model model = qn_lm_model(&m->small, QN_DRAFT_READ + QN_DRAFT_SEQS);
    return qn_draft_new(&model, qn_tokenizer_size(m->tok), m->context, &m->draft, e);
}

static qn_err llm_load(const struct qn_load *opts, struct qn_progress *p, void **self,
                       struct qn_ready *ready, struct qn_error *e)
{
    if (opts->n_files != 1)
        return qn_fail(e, QN_EINVAL, "a language model is one GGUF file, not %zu files",
                       opts->n_files);
    struct llm *m = qn_xcalloc(1, sizeof *m);
    struct qn_llm_options o;
    qn_err err = qn_llm_options_read(&opts->options, &o, e);
    if (!err)
        err = qn_device_cpu_new(usable(opts->threads), &m->dev, e);
    if (!err)
        err = open_weights(m, &m->main, opts->files[0], &o, e);
    const struct qn_gguf *g = err ? NULL : qn_weights_gguf(m->main.weights);
    if (!err)
        err = qn_tokenizer_new(g, &m->tok, e);
    if (!err)
        err = qn_prompter_new(g, m->tok, &m->prompter, e);
    if (!err)
        err = qn_sampler_defaults(g, &m->defaults, e);
    if (!err)
        err = qn_net_load(&m->main.net, m->main.weights, m->dev,
                          &(struct qn_net_options){.max_chunk = QN_LLM_CHUNK_MAX,
                                                   .stretch = o.stretched ? &o.stretch : NULL,
                                                   .progress = on_progress,
                                                   .ctx = p},
                          e);
    if (err)
        goto fail;
    m->main.tok = m->tok;
    m->main.marks = qn_prompter_marks(m->prompter);
    const struct qn_net_info *info = qn_net_info(m->main.net);
    if (info->vocab < qn_tokenizer_size(m->tok)) {
        err = qn_fail(e, QN_EFORMAT, "the tokenizer has %d tokens, the output matrix only %d rows",
                      (int)qn_tokenizer_size(m->tok), (int)info->vocab);
        goto fail;
    }
    if ((err = qn_adapters_load(&m->adapters, m->main.net, &o.lora, e)))
        goto fail;
    int64_t probe = info->context_train > 0 ? info->context_train : QN_LLM_CONTEXT_GUESS;
    struct qn_fit_facts facts = {
        .asked = opts->context,
        .trained = info->context_train,
        .token_bytes = (cache_bytes(&m->main, o.cache, probe) + probe - 1) / probe,
        .slots = o.slots,
        .free_bytes = memory_available(),
        .state_bytes = info->state_bytes * STATES_PER_SEQ,
    };
    struct qn_fit fit;
    err = qn_llm_fit(&facts, &fit, e);
    if (err)
        goto fail;
    m->context = fit.context;
    m->context_shift = o.context_shift;
    if (opts->context > fit.context)
        qn_warn("llm",
                "context asked=%lld trained=%lld: the model cannot use more than it was trained on",
                (long long)opts->context, (long long)info->context_train);
    err = init_cache(&m->main, o.cache, fit.pool, e);
    if (!err)
        err = load_draft(m, &o, fit.pool, e);
    struct qn_batch_config config = {.seqs = fit.seqs,
                                     .context = m->context,
                                     .kept = fit.kept,
                                     .speculate = o.speculate,
                                     .draft = m->draft};
    struct qn_batch_model model = qn_lm_model(&m->main, QN_LLM_CHUNK_MAX);
    if (!err)
        err = qn_batch_new(&model, &config, &m->batch, e);
    if (err)
        goto fail;
    m->constrainer = qn_constrainer_new(&(struct qn_constrain_vocab){
        .ctx = model.ctx,
        .n = qn_tokenizer_size(m->tok),
        .token_bytes = model.token_bytes,
        .token_is_control = model.token_is_control,
        .token_is_end = model.token_is_end,
    });
    restore_prefixes(m, &o);
    qn_weights_keep(m->main.weights);
    if (m->small.weights)
        qn_weights_keep(m->small.weights);
    ready->context = m->context;
    ready->slots = config.seqs;
    ready->memory_bytes =
        info->weight_bytes + facts.token_bytes * fit.pool + info->state_bytes * config.seqs +
        (int64_t)info->vocab * (QN_BATCH_LOGIT_ROWS + config.seqs) * (int64_t)sizeof(float) +
        qn_net_adapter_bytes(m->main.net);
    if (m->small.net)
        ready->memory_bytes +=
            qn_net_info(m->small.net)->weight_bytes + cache_bytes(&m->small, o.cache, fit.pool);
    qn_info(
        "llm",
        "model=%s arch=%s parameters=%lld context=%d%s trained=%d cache=%s pool_tokens=%lld "
        "pool_mib=%lld slots=%d draft=%s adapters=%d device=\"%s\" threads=%d calls=%s thinking=%s",
        opts->name, info->architecture, (long long)info->parameters, (int)m->context,
        opts->context > 0 ? "" : " (automatic)", (int)info->context_train,
        qn_llm_cache_name(o.cache), (long long)fit.pool,
        (long long)(facts.token_bytes * fit.pool >> 20), config.seqs,
        o.draft_model ? o.draft_model : "none", (int)m->adapters.n, qn_device_name(m->dev),
        qn_device_threads(m->dev), qn_syntax_calls(qn_prompter_syntax(m->prompter)),
        qn_syntax_thinking(qn_prompter_syntax(m->prompter)));
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

/* Sends the whole reply to a job that only counts tokens. */
static void send_count(const struct qn_out *out, const struct qn_prompt *prompt, bool want_tokens)
{
    struct qn_buf json;
    qn_buf_init(&json, QN_BATCH_TOKENS_JSON_MAX);
    struct qn_jw w = qn_jw_to(&json);
    qn_jw_arr(&w);
    for (size_t i = 0; i < prompt->n; i++)
        qn_jw_i64(&w, prompt->tokens[i]);
    qn_jw_arr_end(&w);
    struct qn_event ev;
    qn_event_init(&ev, QN_EV_DONE);
    ev.finish = QN_FINISH_STOP;
    ev.tokens = want_tokens ? qn_buf_cstr(&json) : NULL;
    out->send(out->ctx, &ev);
    qn_buf_deinit(&json);
    qn_event_init(&ev, QN_EV_USAGE);
    ev.usage.prompt = (int64_t)prompt->n;
    out->send(out->ctx, &ev);
    qn_event_init(&ev, QN_EV_END);
    out->send(out->ctx, &ev);
}

static qn_err llm_start(void *self, const struct qn_job *job, void *prepared, struct qn_sink *out,
                        struct qn_error *e)
{
    struct llm *m = self;
    struct qn_llm_prepared *p = prepared;
    p->r.out = (struct qn_out){out, sink_send, sink_full};
    if (job->count_only) {
        send_count(&p->r.out, &p->prompt, job->want_tokens);
        qn_llm_discard(m, p);
        return QN_OK;
    }
    if (!qn_batch_has_room(m->batch))
        return qn_fail(e, QN_EBUSY, "too many requests are waiting");
    qn_err err = qn_batch_add(m->batch, &p->r, e);
    if (err == QN_ECONTEXT)
        strcpy(e->param, job->task == QN_TASK_CHAT ? "messages" : "prompt");
    if (!err)
        free(p); /* the batch owns its contents now */
    return err;
}

static bool llm_step(void *self)
{
    struct llm *m = self;
    if (m->small.weights)
        qn_weights_mend(m->small.weights, false); /* damage there only makes guesses worse */
    return qn_batch_step(m->batch);
}

static void llm_cancel(void *self, const struct qn_job *job)
{
    struct llm *m = self;
    qn_batch_cancel(m->batch, job);
}

static void llm_end_reasoning(void *self, const struct qn_job *job)
{
    struct llm *m = self;
    qn_batch_end_reasoning(m->batch, job);
}

static void llm_threads(void *self, int threads)
{
    struct llm *m = self;
    qn_device_set_threads(m->dev, usable(threads));
}

static const char *llm_template_warning(void *self)
{
    const struct llm *m = self;
    return qn_prompter_warning(m->prompter);
}

const struct qn_backend qn_llm_backend = {
    .type = "llm",
    .load = llm_load,
    .prepare = qn_llm_prepare,
    .discard = qn_llm_discard,
    .start = llm_start,
    .step = llm_step,
    .cancel = llm_cancel,
    .end_reasoning = llm_end_reasoning,
    .template_warning = llm_template_warning,
    .threads = llm_threads,
    .unload = llm_unload,
};
