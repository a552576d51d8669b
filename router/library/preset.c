/* See preset.h. */
#include "library/preset.h"

#include "base/str.h"
#include "dialects/ollama/ollama.h"

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

static void add(struct qn_jw *w, const struct qn_jref *message, struct qn_buf *scratch)
{
    qn_buf_clear(scratch);
    qn_json_print(message, scratch);
    qn_jw_raw(w, qn_buf_cstr(scratch), scratch->len);
}

static bool is_system(const struct qn_jref *message)
{
    struct qn_jref role = qn_json_get(message, "role");
    return qn_str_eq(qn_json_raw_str(&role), "system");
}

/* The request's own system message, else the preset's; the preset's conversation; the request's. */
static qn_err join(const char *system, const struct qn_jref *before, struct qn_request *rq,
                   struct qn_chat *chat, struct qn_error *e)
{
    struct qn_json *doc;
    qn_err err = qn_json_parse(chat->messages, strlen(chat->messages), &doc, e);
    if (err)
        return err;
    struct qn_buf out, scratch;
    qn_buf_init(&out, QN_JOB_PROMPT_BYTES_MAX);
    qn_buf_init(&scratch, QN_JOB_PROMPT_BYTES_MAX);
    struct qn_jref root = qn_json_root(doc), m;
    struct qn_jw w = qn_jw_to(&out);
    qn_jw_arr(&w);
    bool more = qn_json_first(&root, &m);
    if (more && is_system(&m)) {
        add(&w, &m, &scratch);
        more = qn_json_next(&m);
    } else if (*system) {
        qn_jw_obj(&w);
        qn_jw_kstr(&w, "role", "system");
        qn_jw_kstr(&w, "content", system);
        qn_jw_obj_end(&w);
    }
    struct qn_jref b;
    for (bool some = qn_json_first(before, &b); some; some = qn_json_next(&b))
        add(&w, &b, &scratch);
    for (; more; more = qn_json_next(&m))
        add(&w, &m, &scratch);
    qn_jw_arr_end(&w);
    chat->messages = scratch.overflow ? NULL : qn_arena_take(rq->arena, &out);
    if (!chat->messages)
        err = qn_fail_param(e, QN_EINVAL, "messages",
                            "messages: too long together with those of the model's preset: at most "
                            "%d bytes",
                            QN_JOB_PROMPT_BYTES_MAX);
    qn_buf_deinit(&out);
    qn_buf_deinit(&scratch);
    qn_json_free(doc);
    return err;
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
            err = join(system, &before, rq, &job->chat, e);
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
