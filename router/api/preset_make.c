/* See preset_make.h. */
#include "api/preset_make.h"

#include "base/str.h"
#include "contract/message_json.h"
#include "dialects/ollama/modelfile.h"
#include "dialects/ollama/ollama.h"
#include "dialects/ollama/ollama_template.h"
#include "dialects/shared/talk.h"
#include "library/preset.h"

#include <string.h>

static void keep_member(struct qn_jw *w, const char *key, const struct qn_jref *v)
{
    struct qn_buf text;
    if (qn_json_type(v) <= QN_JSON_NULL)
        return;
    qn_buf_init(&text, QN_PRESET_MAX);
    qn_json_print(v, &text);
    qn_jw_key(w, key);
    qn_jw_raw(w, qn_buf_cstr(&text), text.len);
    w->out->overflow |= text.overflow;
    qn_buf_deinit(&text);
}

/* Writes a text of the request, else of the base. */
static qn_err put_text(struct qn_jw *w, const char *key, const struct qn_jref *body,
                       const struct qn_jref *base, struct qn_error *e)
{
    struct qn_jref own = qn_json_get(body, key), old = qn_json_get(base, key);
    const char *text = NULL;
    qn_err err = qn_json_str_opt(&own, &text, e);
    if (!err)
        keep_member(w, key, text ? &own : &old);
    return err;
}

/* Writes "license": one or several texts. */
static qn_err put_license(struct qn_jw *w, const struct qn_jref *body, const struct qn_jref *base,
                          struct qn_error *e)
{
    struct qn_jref own = qn_json_get(body, "license"), old = qn_json_get(base, "license"), it;
    if (qn_json_type(&own) != QN_JSON_ARRAY)
        return put_text(w, "license", body, base, e);
    struct qn_buf text;
    qn_err err = QN_OK;
    qn_buf_init(&text, QN_PRESET_MAX);
    for (bool more = qn_json_first(&own, &it); more && !err; more = qn_json_next(&it)) {
        const char *one = "";
        err = qn_json_str(&it, &one, e);
        qn_buf_fmt(&text, "%s%s", text.len ? "\n" : "", one);
    }
    if (!err && text.len)
        qn_jw_kstr(w, "license", qn_buf_cstr(&text));
    else if (!err)
        keep_member(w, "license", &old);
    qn_buf_deinit(&text);
    return err;
}

/* Writes the base's parameters, overridden by the request's. */
static qn_err put_parameters(struct qn_jw *w, const struct qn_jref *body,
                             const struct qn_jref *base, struct qn_arena *arena, struct qn_error *e)
{
    struct qn_jref own = qn_json_get(body, "parameters"), old = qn_json_get(base, "parameters"), it;
    struct qn_job checked;
    int64_t context;
    qn_job_init(&checked);
    qn_err err = qn_ollama_options(&own, arena, &checked.sampling, &context, e);
    if (err || (!qn_json_count(&own) && !qn_json_count(&old)))
        return err;
    qn_jw_key(w, "parameters");
    qn_jw_obj(w);
    size_t n = qn_json_count(&own);
    for (bool more = qn_json_first(&old, &it); more && n <= QN_OLLAMA_OPTIONS_MAX;
         more = qn_json_next(&it)) {
        struct qn_jref newer = qn_json_get(&own, it.key);
        if (qn_json_type(&newer) > QN_JSON_NULL)
            continue;
        keep_member(w, it.key, &it);
        n++;
    }
    if (n > QN_OLLAMA_OPTIONS_MAX)
        return qn_json_fail(
            &own, e, "has more than %d members, including those of the model that it is made from",
            QN_OLLAMA_OPTIONS_MAX);
    for (bool more = qn_json_first(&own, &it); more; more = qn_json_next(&it))
        keep_member(w, it.key, &it);
    qn_jw_obj_end(w);
    return QN_OK;
}

static qn_err put_messages(struct qn_jw *w, const struct qn_jref *body, const struct qn_jref *base,
                           struct qn_arena *arena, struct qn_error *e)
{
    struct qn_jref own = qn_json_get(body, "messages"), old = qn_json_get(base, "messages"), m;
    if (qn_json_type(&own) > QN_JSON_NULL && qn_json_type(&own) != QN_JSON_ARRAY)
        return qn_json_fail(&own, e, "expected an array of messages");
    if (!qn_json_count(&own)) {
        keep_member(w, "messages", &old);
        return QN_OK;
    }
    struct qn_talk t;
    struct qn_job job;
    qn_err err = qn_talk_check(&own, e);
    qn_job_init(&job);
    qn_talk_init(&t, &job, arena);
    for (bool more = qn_json_first(&own, &m); more && !err; more = qn_json_next(&m))
        err = qn_ollama_message(&m, &t, e);
    if (!err)
        err = qn_talk_end(&t, "messages", e);
    if (!err) {
        static const struct qn_message_form form = {.reasoning = true, .argument_objects = true};
        qn_jw_key(w, "messages");
        qn_messages_write(&job.chat.messages, &job.attachments, &form, w);
    }
    qn_talk_deinit(&t);
    return err;
}

/* Templates are Jinja here, as in model files; Ollama's own are Go's. */
static qn_err put_template(struct qn_jw *w, const struct qn_jref *body, const struct qn_jref *base,
                           struct qn_error *e)
{
    struct qn_jref own = qn_json_get(body, "template"), old = qn_json_get(base, "jinja");
    const char *text = NULL;
    qn_err err = put_text(w, "template", body, base, e);
    if (!err)
        err = qn_json_str_opt(&own, &text, e);
    if (err)
        return err;
    if (!text) {
        keep_member(w, "jinja", &old);
        return QN_OK;
    }
    struct qn_buf jinja;
    qn_buf_init(&jinja, QN_PRESET_MAX);
    err = qn_ollama_template(text, &jinja, e);
    if (!err && jinja.len)
        qn_jw_kstr(w, "jinja", qn_buf_cstr(&jinja));
    qn_buf_deinit(&jinja);
    return err;
}

/* Refuses members that would change the weights. */
static qn_err check_weights(const struct qn_jref *body, struct qn_error *e)
{
    static const char *const names[] = {"adapters", "quantize", "quantization", "draft_files"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct qn_jref v = qn_json_get(body, names[i]);
        bool asks = qn_json_count(&v) > 0 || *qn_json_raw_str(&v);
        if (asks)
            return qn_json_fail(&v, e, "not supported: weights are used unchanged");
    }
    return QN_OK;
}

qn_err qn_preset_make(const struct qn_jref *body, const char *base_text, struct qn_arena *arena,
                      const char **out, struct qn_error *e)
{
    struct qn_json *base_doc = NULL;
    struct qn_jref base = {0};
    struct qn_buf text;
    qn_err err = check_weights(body, e);
    if (!err && qn_json_parse(base_text, strlen(base_text), &base_doc, NULL) == QN_OK)
        base = qn_json_root(base_doc);
    qn_buf_init(&text, QN_PRESET_MAX);
    struct qn_jw w = qn_jw_to(&text);
    qn_jw_obj(&w);
    if (!err)
        err = put_text(&w, "system", body, &base, e);
    if (!err)
        err = put_template(&w, body, &base, e);
    if (!err)
        err = put_license(&w, body, &base, e);
    if (!err)
        err = put_parameters(&w, body, &base, arena, e);
    if (!err)
        err = put_messages(&w, body, &base, arena, e);
    qn_jw_obj_end(&w);
    *out = err ? NULL : qn_arena_take(arena, &text);
    if (!err && !*out)
        err = qn_fail(e, QN_ELIMIT, "the model's settings have more than %d bytes", QN_PRESET_MAX);
    qn_buf_deinit(&text);
    qn_json_free(base_doc);
    return err;
}

qn_err qn_preset_modelfile(const struct qn_jref *body, struct qn_json **doc, struct qn_error *e)
{
    struct qn_jref v = qn_json_get(body, "modelfile");
    const char *text = "";
    struct qn_buf out;
    *doc = NULL;
    qn_err err = qn_json_str_opt(&v, &text, e);
    if (err || !*text)
        return err;
    qn_buf_init(&out, QN_MODELFILE_MAX);
    err = qn_modelfile_read(text, strlen(text), &out, e);
    if (!err)
        err = qn_json_parse(qn_buf_cstr(&out), out.len, doc, e);
    qn_buf_deinit(&out);
    return err;
}
