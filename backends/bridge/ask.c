/* See ask.h. Chats, completions, embeddings and reranking; audio and images are in ask_media.c. */
#include "bridge/ask.h"

#include "base/json.h"
#include "base/str.h"
#include "bridge/ask_private.h"
#include "contract/message_json.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { ANY = 1u << QN_FLAVOUR_OPENAI | 1u << QN_FLAVOUR_LLAMA | 1u << QN_FLAVOUR_VLLM };
enum { LLAMA = 1u << QN_FLAVOUR_LLAMA, VLLM = 1u << QN_FLAVOUR_VLLM };

/* Names of the sampling parameters in requests, and the kinds of servers that support each; a
 * parameter is left out for servers that do not support it. */
static const struct {
    const char *name;
    size_t offset;
    bool integer;
    unsigned flavours;
} samplings[] = {
    {"max_tokens", offsetof(struct qn_sampling, max_tokens), true, ANY},
    {"temperature", offsetof(struct qn_sampling, temperature), false, ANY},
    {"top_p", offsetof(struct qn_sampling, top_p), false, ANY},
    {"presence_penalty", offsetof(struct qn_sampling, presence_penalty), false, ANY},
    {"frequency_penalty", offsetof(struct qn_sampling, frequency_penalty), false, ANY},
    {"seed", offsetof(struct qn_sampling, seed), true, ANY},
    {"n", offsetof(struct qn_sampling, n), true, ANY},
    {"top_k", offsetof(struct qn_sampling, top_k), true, LLAMA | VLLM},
    {"min_p", offsetof(struct qn_sampling, min_p), false, LLAMA | VLLM},
    {"typical_p", offsetof(struct qn_sampling, typical_p), false, LLAMA},
    {"repeat_penalty", offsetof(struct qn_sampling, repeat_penalty), false, LLAMA},
    {"repetition_penalty", offsetof(struct qn_sampling, repeat_penalty), false, VLLM},
    {"repeat_last_n", offsetof(struct qn_sampling, repeat_last_n), true, LLAMA},
};

static bool knows(const struct qn_ask_to *to, unsigned flavours)
{
    return (flavours & 1u << to->flavour) != 0;
}

static qn_err cannot(struct qn_error *e, const char *param, const char *what)
{
    return qn_fail_param(e, QN_EUNSUPPORTED, param, "the server behind this model cannot %s", what);
}

static void write_raw(struct qn_jw *w, const char *key, const char *json)
{
    qn_jw_key(w, key);
    qn_jw_raw(w, json, strlen(json));
}

static void write_bias(const struct qn_biases *b, struct qn_jw *w)
{
    char id[32];
    qn_jw_key(w, "logit_bias");
    qn_jw_obj(w);
    for (size_t i = 0; i < b->n; i++) {
        snprintf(id, sizeof id, "%lld", (long long)b->v[i].token);
        qn_jw_kf64(w, id, b->v[i].bias);
    }
    qn_jw_obj_end(w);
}

/* Selects adapters by the ids that llama-server assigned to them when it was started. */
static qn_err write_loras(const struct qn_loras *l, const struct qn_ask_to *to, struct qn_jw *w,
                          struct qn_error *e)
{
    if (!l->given)
        return QN_OK;
    if (!knows(to, LLAMA))
        return cannot(e, "lora", "select adapters for a single request");
    qn_jw_key(w, "lora");
    qn_jw_arr(w);
    for (size_t i = 0; i < l->n; i++) {
        if (l->v[i].name)
            return cannot(e, "lora", "select adapters by name: give their ids");
        qn_jw_obj(w);
        qn_jw_ki64(w, "id", l->v[i].id);
        qn_jw_kf64(w, "scale", isnan(l->v[i].scale) ? 1 : l->v[i].scale);
        qn_jw_obj_end(w);
    }
    qn_jw_arr_end(w);
    return QN_OK;
}

static qn_err write_sampling(const struct qn_job *job, const struct qn_ask_to *to, struct qn_jw *w,
                             struct qn_error *e)
{
    const struct qn_sampling *s = &job->sampling;
    for (size_t i = 0; i < sizeof samplings / sizeof *samplings; i++) {
        const void *at = (const char *)s + samplings[i].offset;
        int64_t n;
        double f;
        if (!knows(to, samplings[i].flavours))
            continue;
        if (samplings[i].integer) {
            memcpy(&n, at, sizeof n);
            if (job->count_only && samplings[i].offset == offsetof(struct qn_sampling, max_tokens))
                n = 1; /* the smallest value for which a server processes and counts the prompt */
            if (n != QN_UNSET)
                qn_jw_ki64(w, samplings[i].name, n);
        } else {
            memcpy(&f, at, sizeof f);
            if (!isnan(f))
                qn_jw_kf64(w, samplings[i].name, f);
        }
    }
    if (s->ignore_eos && knows(to, LLAMA | VLLM))
        qn_jw_kbool(w, "ignore_eos", true);
    if ((s->no_reuse || to->several_owners) && knows(to, LLAMA))
        qn_jw_kbool(w, "cache_prompt", false);
    if (s->stop.n) {
        qn_jw_key(w, "stop");
        qn_jw_arr(w);
        for (size_t i = 0; i < s->stop.n; i++)
            qn_jw_str(w, s->stop.v[i]);
        qn_jw_arr_end(w);
    }
    if (s->logit_bias.n)
        write_bias(&s->logit_bias, w);
    return write_loras(&s->lora, to, w, e);
}

/* Members that every streamed request has. */
static void write_head(const struct qn_ask_to *to, struct qn_jw *w)
{
    if (to->model)
        qn_jw_kstr(w, "model", to->model);
    qn_jw_kbool(w, "stream", true);
    qn_jw_key(w, "stream_options");
    qn_jw_obj(w);
    qn_jw_kbool(w, "include_usage", true);
    qn_jw_obj_end(w);
    if (knows(to, LLAMA)) {
        qn_jw_kbool(w, "return_progress", true);
        qn_jw_kbool(w, "timings_per_token", false);
    }
}

/* ---- Chat ---- */

static void write_tools(const struct qn_chat *c, struct qn_jw *w)
{
    if (!c->tools)
        return;
    write_raw(w, "tools", c->tools);
    if (c->tool_choice == QN_TOOLS_NAMED) {
        qn_jw_key(w, "tool_choice");
        qn_jw_obj(w);
        qn_jw_kstr(w, "type", "function");
        qn_jw_key(w, "function");
        qn_jw_obj(w);
        qn_jw_kstr(w, "name", c->tool_name);
        qn_jw_obj_end(w);
        qn_jw_obj_end(w);
    } else if (c->tool_choice != QN_TOOLS_UNSET) {
        qn_jw_kstr(w, "tool_choice", qn_tool_choice_name(c->tool_choice));
    }
    if (c->single_call)
        qn_jw_kbool(w, "parallel_tool_calls", false);
}

/* Variables of the chat template and the switch for reasoning, which is such a variable for most
 * models. */
static qn_err write_template(const struct qn_job *job, const struct qn_ask_to *to, struct qn_jw *w,
                             struct qn_error *e)
{
    const struct qn_chat *c = &job->chat;
    struct qn_json *vars = NULL;
    struct qn_buf value;
    if (c->effort)
        qn_jw_kstr(w, "reasoning_effort", c->effort);
    if (!knows(to, LLAMA | VLLM) || (!c->template_vars && c->think == QN_UNSET))
        return QN_OK;
    qn_err err = c->template_vars
                     ? qn_json_parse(c->template_vars, strlen(c->template_vars), &vars, e)
                     : QN_OK;
    if (err)
        return err;
    qn_jw_key(w, "chat_template_kwargs");
    qn_jw_obj(w);
    struct qn_jref root = vars ? qn_json_root(vars) : (struct qn_jref){0}, it;
    qn_buf_init(&value, QN_ASK_BODY_MAX);
    for (bool more = vars && qn_json_first(&root, &it); more; more = qn_json_next(&it)) {
        if (c->think != QN_UNSET && qn_str_eq(it.key, "enable_thinking"))
            continue;
        qn_buf_clear(&value);
        qn_json_print(&it, &value);
        qn_jw_key(w, it.key);
        qn_jw_raw(w, qn_buf_cstr(&value), value.len);
    }
    if (c->think != QN_UNSET)
        qn_jw_kbool(w, "enable_thinking", c->think != 0);
    qn_jw_obj_end(w);
    qn_buf_deinit(&value);
    qn_json_free(vars);
    return QN_OK;
}

static qn_err write_constraint(const struct qn_job *job, const struct qn_ask_to *to,
                               struct qn_jw *w, struct qn_error *e)
{
    const struct qn_constrain *c = &job->constrain;
    if (c->grammar && !knows(to, LLAMA))
        return cannot(e, "grammar", "constrain a reply by a grammar");
    if (c->grammar)
        qn_jw_kstr(w, "grammar", c->grammar);
    if (!c->schema)
        return QN_OK;
    if (job->task == QN_TASK_COMPLETE && knows(to, LLAMA)) {
        write_raw(w, "json_schema", c->schema);
        return QN_OK;
    }
    if (job->task == QN_TASK_COMPLETE && !knows(to, VLLM))
        return cannot(e, "response_format", "constrain a completion by a schema");
    qn_jw_key(w, "response_format");
    qn_jw_obj(w);
    qn_jw_kstr(w, "type", "json_schema");
    qn_jw_key(w, "json_schema");
    qn_jw_obj(w);
    qn_jw_kstr(w, "name", "answer");
    write_raw(w, "schema", c->schema);
    qn_jw_obj_end(w);
    qn_jw_obj_end(w);
    return QN_OK;
}

static qn_err refuse_chat(const struct qn_job *job, const struct qn_ask_to *to, struct qn_error *e)
{
    const struct qn_chat *c = &job->chat;
    if (c->before.n)
        return cannot(e, "context", "continue from the tokens of an earlier reply: send messages");
    if (c->template_text)
        return cannot(e, "template", "use a chat template other than the model's own");
    if (c->documents && !knows(to, VLLM))
        return cannot(e, "documents", "read documents in addition to messages");
    if (c->continue_last && !knows(to, LLAMA | VLLM))
        return cannot(e, "messages", "continue an unfinished message of the assistant");
    return QN_OK;
}

static qn_err ask_chat(const struct qn_job *job, const struct qn_ask_to *to,
                       struct qn_engine_call *out, struct qn_error *e)
{
    const struct qn_chat *c = &job->chat;
    struct qn_jw w = qn_jw_to(&out->body);
    out->path = "/chat/completions";
    qn_err err = refuse_chat(job, to, e);
    qn_jw_obj(&w);
    write_head(to, &w);
    qn_jw_key(&w, "messages");
    qn_messages_write(&c->messages, &job->attachments,
                      &(struct qn_message_form){.reasoning = knows(to, LLAMA | VLLM)}, &w);
    write_tools(c, &w);
    if (!err)
        err = write_template(job, to, &w, e);
    if (!err)
        err = write_constraint(job, to, &w, e);
    if (!err)
        err = write_sampling(job, to, &w, e);
    if (c->documents)
        write_raw(&w, "documents", c->documents);
    if (c->continue_last && knows(to, VLLM)) {
        qn_jw_kbool(&w, "continue_final_message", true);
        qn_jw_kbool(&w, "add_generation_prompt", false);
    }
    if (knows(to, LLAMA))
        qn_jw_kstr(&w, "reasoning_format", c->reasoning_in_text ? "none" : "auto");
    if (job->sampling.logprobs != QN_UNSET) {
        qn_jw_kbool(&w, "logprobs", true);
        qn_jw_ki64(&w, "top_logprobs", job->sampling.logprobs);
    }
    qn_jw_obj_end(&w);
    return err;
}

/* ---- Completions, embeddings and reranking ---- */

static qn_err ask_complete(const struct qn_job *job, const struct qn_ask_to *to,
                           struct qn_engine_call *out, struct qn_error *e)
{
    const struct qn_complete *c = &job->complete;
    struct qn_jw w = qn_jw_to(&out->body);
    out->path = "/completions";
    qn_jw_obj(&w);
    write_head(to, &w);
    qn_jw_key(&w, "prompt");
    if (c->prompt_tokens.n) {
        qn_jw_arr(&w);
        for (size_t i = 0; i < c->prompt_tokens.n; i++)
            qn_jw_i64(&w, c->prompt_tokens.v[i]);
        qn_jw_arr_end(&w);
    } else {
        qn_jw_str(&w, c->prompt ? c->prompt : "");
    }
    if (c->echo)
        qn_jw_kbool(&w, "echo", true);
    if (c->suffix)
        qn_jw_kstr(&w, "suffix", c->suffix);
    qn_err err = write_constraint(job, to, &w, e);
    if (!err)
        err = write_sampling(job, to, &w, e);
    if (job->sampling.logprobs != QN_UNSET)
        qn_jw_ki64(&w, "logprobs", job->sampling.logprobs);
    qn_jw_obj_end(&w);
    if (!err && c->echo && knows(to, LLAMA))
        err = cannot(e, "echo", "repeat the prompt in the reply");
    if (!err && c->suffix && knows(to, LLAMA))
        err = cannot(e, "suffix", "insert text before a suffix");
    return err;
}

/* Writes the batch as a JSON array of texts and arrays of token ids. */
static void write_inputs(const struct qn_input_batch *batch, struct qn_engine_call *out,
                         struct qn_jw *w)
{
    out->first = batch->first;
    out->inputs = batch->n;
    qn_jw_arr(w);
    for (size_t i = 0; i < batch->n; i++) {
        const struct qn_input *in = &batch->v[i];
        if (in->text) {
            qn_jw_strn(w, in->text, in->len);
            continue;
        }
        qn_jw_arr(w);
        for (size_t k = 0; k < in->n_tokens; k++)
            qn_jw_i64(w, in->tokens[k]);
        qn_jw_arr_end(w);
    }
    qn_jw_arr_end(w);
}

static void ask_embed(const struct qn_job *job, const struct qn_ask_to *to,
                      const struct qn_input_batch *batch, struct qn_engine_call *out)
{
    struct qn_jw w = qn_jw_to(&out->body);
    out->path = "/embeddings";
    qn_jw_obj(&w);
    if (to->model)
        qn_jw_kstr(&w, "model", to->model);
    qn_jw_kstr(&w, "encoding_format", "float");
    if (job->embed.dimensions != QN_UNSET)
        qn_jw_ki64(&w, "dimensions", job->embed.dimensions);
    qn_jw_key(&w, "input");
    write_inputs(batch, out, &w);
    qn_jw_obj_end(&w);
}

/* A score depends only on the query and its document, so each batch can be a request of its own. */
static void ask_rerank(const struct qn_job *job, const struct qn_ask_to *to,
                       const struct qn_input_batch *batch, struct qn_engine_call *out)
{
    struct qn_jw w = qn_jw_to(&out->body);
    out->path = "/rerank";
    qn_jw_obj(&w);
    if (to->model)
        qn_jw_kstr(&w, "model", to->model);
    qn_jw_kstr(&w, "query", job->embed.query);
    qn_jw_key(&w, "documents");
    write_inputs(batch, out, &w);
    qn_jw_obj_end(&w);
}

qn_err qn_ask_make(const struct qn_job *job, const struct qn_ask_to *to,
                   const struct qn_input_batch *batch, struct qn_engine_call *out,
                   struct qn_error *e)
{
    *out = (struct qn_engine_call){.content_type = "application/json"};
    qn_buf_init(&out->body, QN_ASK_BODY_MAX);
    qn_err err = QN_OK;
    switch (job->task) {
    case QN_TASK_CHAT:
        err = ask_chat(job, to, out, e);
        break;
    case QN_TASK_COMPLETE:
        err = ask_complete(job, to, out, e);
        break;
    case QN_TASK_EMBED:
        ask_embed(job, to, batch, out);
        break;
    case QN_TASK_RERANK:
        ask_rerank(job, to, batch, out);
        break;
    case QN_TASK_TRANSCRIBE:
        err = qn_ask_transcribe(job, to, out, e);
        break;
    case QN_TASK_SPEAK:
        err = qn_ask_speak(job, to, out, e);
        break;
    case QN_TASK_IMAGE:
        err = qn_ask_image(job, to, out, e);
        break;
    case QN_TASK_NONE:
    case QN_TASK_COUNT:
        err = qn_fail(e, QN_EINVAL, "a job without a task");
        break;
    }
    if (!err && out->body.overflow)
        err = qn_fail(e, QN_ELIMIT, "the request is too large for the server behind this model");
    return err;
}

void qn_ask_deinit(struct qn_engine_call *ask)
{
    qn_buf_deinit(&ask->body);
}
