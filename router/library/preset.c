/* See preset.h. */
#include "library/preset.h"

#include "base/str.h"
#include "dialects/ollama/ollama.h"
#include "dialects/openai/openai.h"

#include <math.h>
#include <string.h>

static void take_i64(int64_t *own, int64_t preset)
{
    if (*own == QN_UNSET)
        *own = preset;
}

static void take_f64(double *own, double preset)
{
    if (isnan(*own))
        *own = preset;
}

static void take_sampling(struct qn_sampling *own, const struct qn_sampling *preset)
{
#define WHOLE(name, least, most) take_i64(&own->name, preset->name);
#define REAL(name, least, most) take_f64(&own->name, preset->name);
    QN_SAMPLING_NUMBERS(WHOLE, REAL)
    if (own->stop.n == 0)
        own->stop = preset->stop;
}

static struct qn_message system_message(const char *text, struct qn_arena *arena)
{
    struct qn_message_part *part = qn_arena_alloc(arena, sizeof *part);
    *part = (struct qn_message_part){
        .kind = QN_PART_TEXT, .attachment = QN_UNSET, .text = qn_arena_strdup(arena, text)};
    return (struct qn_message){.role = QN_ROLE_SYSTEM, .parts = {part, 1}};
}

/* The order of messages: the request's system message, else the preset's; the preset's
 * conversation; the rest of the request's. */
static qn_err join(const char *system, const struct qn_jref *before, struct qn_arena *arena,
                   struct qn_job *job, struct qn_error *e)
{
    struct qn_messages own = job->chat.messages;
    struct qn_message *v;
    size_t n = 0, first = own.n > 0 && own.v[0].role == QN_ROLE_SYSTEM;
    job->chat.messages.n = 0;
    qn_err err = qn_json_count(before) ? qn_openai_messages(before, arena, job, e) : QN_OK;
    if (err)
        return err;
    struct qn_messages preset = job->chat.messages;
    job->chat.messages = own;
    if (qn_messages_bytes(&own) + qn_messages_bytes(&preset) + strlen(system) >
            QN_JOB_PROMPT_BYTES_MAX ||
        own.n + preset.n >= QN_MESSAGES_MAX ||
        !(v = qn_arena_try(arena, (own.n + preset.n + 1) * sizeof *v)))
        return qn_fail_param(e, QN_EINVAL, "messages",
                             "messages: too long together with those of the model's preset: at "
                             "most %d bytes, and %d messages",
                             QN_JOB_PROMPT_BYTES_MAX, QN_MESSAGES_MAX);
    if (first)
        v[n++] = own.v[0];
    else if (*system)
        v[n++] = system_message(system, arena);
    for (size_t i = 0; i < preset.n; i++)
        v[n++] = preset.v[i];
    for (size_t i = first; i < own.n; i++)
        v[n++] = own.v[i];
    job->chat.messages = (struct qn_messages){v, n};
    return QN_OK;
}

static qn_err apply(const struct qn_jref *preset, struct qn_request *rq, struct qn_error *e)
{
    struct qn_job defaults;
    int64_t context = QN_UNSET;
    struct qn_jref parameters = qn_json_get(preset, "parameters");
    struct qn_jref before = qn_json_get(preset, "messages"), v = qn_json_get(preset, "jinja");
    const char *template_text = NULL, *system = "";
    qn_job_init(&defaults);
    qn_err err = qn_ollama_options(&parameters, rq->arena, &defaults.sampling, &context, e);
    if (!err)
        err = qn_json_str_opt(&v, &template_text, e);
    v = qn_json_get(preset, "system");
    if (!err)
        err = qn_json_str_opt(&v, &system, e);
    if (err)
        return err;
    take_i64(&rq->context, context);
    if (template_text && *template_text)
        template_text = qn_arena_strdup(rq->arena, template_text);
    bool joins = *system || qn_json_count(&before) > 0;
    for (size_t i = 0; i < rq->n_jobs && !err; i++) {
        struct qn_job *job = &rq->jobs[i];
        take_sampling(&job->sampling, &defaults.sampling);
        if (job->task != QN_TASK_CHAT)
            continue;
        if (!job->chat.template_text && template_text && *template_text)
            job->chat.template_text = template_text;
        if (joins)
            err = join(system, &before, rq->arena, job, e);
    }
    return err;
}

qn_err qn_preset_apply(const char *preset, struct qn_request *rq, struct qn_error *e)
{
    struct qn_json *doc;
    if (qn_str_eq(preset, "{}"))
        return QN_OK;
    qn_err err = qn_json_parse(preset, strlen(preset), &doc, e);
    if (err)
        return err;
    struct qn_jref root = qn_json_root(doc);
    err = apply(&root, rq, e);
    qn_json_free(doc);
    return err;
}
