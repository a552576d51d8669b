/* Ollama's create, copy and delete. A model that is made from another one is a preset: a row of the
 * catalog with the other's files and settings of its own. */
#include "api/ollama.h"

#include "answers/answer.h"
#include "api/waiting.h"
#include "base/clock.h"
#include "base/path.h"
#include "base/str.h"
#include "dialects/ollama/modelfile.h"
#include "dialects/ollama/ollama.h"
#include "dialects/ollama/ollama_template.h"
#include "dialects/shared/talk.h"
#include "library/blobs.h"
#include "library/custody.h"
#include "library/preset.h"
#include "models/intake.h"
#include "models/inventory.h"
#include "models/survey.h"

#include <stdlib.h>
#include <string.h>

/* A change of the catalog cannot be called off, so this outlives a client that leaves. */
struct asker {
    struct qn_services *sv;
    struct qn_waiting client;
    bool lines;  /* the success is told as a stream of states, else as one */
    bool silent; /* or by the status alone */
    char *name;  /* of the row that is replaced or removed */
    char *file;  /* that it had before; NULL: none */
};

static struct asker *asker_new(struct qn_services *sv, struct qn_http *h, const char *name)
{
    struct asker *a = qn_xcalloc(1, sizeof *a);
    struct qn_snapshot *snap = qn_catalog_snapshot(sv->catalog);
    const struct qn_model_row *old = qn_snapshot_find(snap, name);
    a->sv = sv;
    a->name = qn_xstrdup(name);
    a->file = old && old->n_files ? qn_xstrdup(old->files[0]) : NULL;
    qn_snapshot_unref(snap);
    qn_waiting_begin(&a->client, h);
    return a;
}

static void asker_free(struct asker *a)
{
    free(a->name);
    free(a->file);
    free(a);
}

static void answer(const struct asker *a)
{
    static const char states[] = "{\"status\":\"reading model metadata\"}\n"
                                 "{\"status\":\"writing manifest\"}\n"
                                 "{\"status\":\"success\"}\n";
    static const char state[] = "{\"status\":\"success\"}";
    if (a->silent)
        qn_http_reply(a->client.http, 200, NULL, "", 0);
    else if (a->lines)
        qn_http_reply(a->client.http, 200, "application/x-ndjson", states, sizeof states - 1);
    else
        qn_http_reply(a->client.http, 200, "application/json", state, sizeof state - 1);
}

/* The catalog has changed, and only now: a request that came in between found what was there
 * before, and must not go on with it. */
static void settle(const struct asker *a)
{
    qn_inventory_changed(a->sv->inventory, a->name);
    qn_survey_again(a->sv->survey);
    if (a->file) {
        struct qn_snapshot *snap = qn_catalog_snapshot(a->sv->catalog);
        qn_blob_release(a->sv->blobs, snap, a->file);
        qn_snapshot_unref(snap);
    }
}

static void done(void *ctx, const struct qn_error *e)
{
    struct asker *a = ctx;
    if (!e && !a->sv->closed)
        settle(a);
    if (qn_waiting_end(&a->client, e))
        answer(a);
    asker_free(a);
}

/* Lemonade's own server answers so; programs may depend on it. */
static bool refused(struct qn_services *sv, struct qn_http *h)
{
    if (sv->stopping) {
        struct qn_error e = {0};
        qn_fail(&e, QN_EBUSY, "the server is stopping");
        qn_answer_error(h, &e);
    } else if (sv->no_presets) {
        qn_answer_plain(h, 501, "not_implemented",
                        "making models is switched off by the setting no-presets");
    } else {
        return false;
    }
    return true;
}

/* The name a new model gets: without ":latest", and not one of those that ship with quince. */
static qn_err new_name(struct qn_services *sv, const char *given, const char *param,
                       struct qn_arena *arena, const char **out, struct qn_error *e)
{
    size_t n = strlen(given);
    if (qn_str_ends(given, ":latest"))
        n -= strlen(":latest");
    char *name = n <= QN_MODEL_NAME_MAX ? qn_arena_strndup(arena, given, n) : NULL;
    if (!name || !qn_intake_name_ok(name))
        return qn_fail_param(e, QN_EINVAL, param,
                             "%s: '%.80s' cannot be a model's name: letters, digits and . _ - / : "
                             "+ @ can",
                             param, given);
    struct qn_snapshot *snap = qn_catalog_snapshot(sv->catalog);
    const struct qn_model_row *old = qn_snapshot_find(snap, name);
    bool builtin = old && old->builtin;
    qn_snapshot_unref(snap);
    if (builtin)
        return qn_fail_param(e, QN_ECONFLICT, param,
                             "%s: '%s' ships with quince: choose another name", param, name);
    *out = name;
    return QN_OK;
}

/* ---- what a preset consists of ---- */

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

/* A text of the request, else the base's. */
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

/* "license": a text or several. */
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

/* The base's parameters with the request's over them. */
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
        return qn_json_fail(&own, e,
                            "has more than %d members with those of the model it is made from",
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
    const char *text;
    qn_err err = qn_talk_check(&own, e);
    qn_talk_init(&t);
    for (bool more = qn_json_first(&own, &m); more && !err; more = qn_json_next(&m))
        err = qn_ollama_message(&m, &t, arena, e);
    if (!err)
        err = qn_talk_end(&t, arena, "messages", &text, e);
    if (!err) {
        qn_jw_key(w, "messages");
        qn_jw_raw(w, text, strlen(text));
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

/* Members that would make other weights. */
static qn_err check_weights(const struct qn_jref *body, struct qn_error *e)
{
    static const char *const names[] = {"adapters", "quantize", "quantization", "draft_files"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct qn_jref v = qn_json_get(body, names[i]);
        bool asks = qn_json_count(&v) > 0 || *qn_json_raw_str(&v);
        if (asks)
            return qn_json_fail(&v, e, "not supported: a model is made of files as they are");
    }
    return QN_OK;
}

/* The preset as the catalog keeps it, in the arena. */
static qn_err make_preset(const struct qn_jref *body, const char *base_text, struct qn_arena *arena,
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

/* ---- create ---- */

/* Older clients send a Modelfile's text: it becomes the body's members. The document is freed by
 * the caller. */
static qn_err read_modelfile(const struct qn_jref *body, struct qn_json **doc, struct qn_error *e)
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

static qn_err create_from(struct qn_services *sv, struct qn_http *h, const char *name,
                          const char *from, const struct qn_jref *body, bool lines,
                          struct qn_error *e)
{
    struct qn_snapshot *snap;
    const struct qn_model_row *base;
    const char *preset;
    qn_err err = qn_inventory_find(sv->inventory, from, &snap, &base, e);
    if (err)
        return err;
    err = make_preset(body, base->preset, qn_http_arena(h), &preset, e);
    if (!err) {
        struct qn_model_row row = *base;
        row.name = name;
        row.base = qn_inventory_computes(snap, base)->name;
        row.preset = preset;
        row.builtin = row.suggested = false;
        row.labels = "[\"custom\"]";
        row.created_s = row.modified_s = qn_wall_ms() / 1000;
        row.last_use_s = 0;
        if (qn_str_eq(row.base, name)) /* made from itself: it stays what it was */
            row.base = "";
        struct asker *a = asker_new(sv, h, name);
        a->lines = lines;
        qn_catalog_put(sv->catalog, &row, done, a);
    }
    qn_snapshot_unref(snap);
    return err;
}

/* "files": {"model.gguf": "sha256:..."}, one that has been sent before. */
static qn_err create_of_blob(struct qn_services *sv, struct qn_http *h, const char *name,
                             const struct qn_jref *files, const struct qn_jref *body, bool lines,
                             struct qn_error *e)
{
    struct qn_jref it;
    const char *digest, *preset;
    if (qn_json_type(files) != QN_JSON_OBJECT || qn_json_count(files) != 1)
        return qn_json_fail(files, e, "expected an object with one GGUF file and its digest");
    qn_json_first(files, &it);
    qn_err err = qn_json_str(&it, &digest, e);
    if (err)
        return err;
    char *path = qn_blob_path(sv->blobs, digest);
    if (!path)
        return qn_json_fail(&it, e, "'%.100s' is not a digest: sha256: and 64 hexadecimal digits",
                            digest);
    if (!qn_blob_ask(sv->blobs, path))
        err = qn_fail_param(e, QN_ENOTFOUND, "files",
                            "blob '%s' not found: send it with POST "
                            "/api/blobs/%s first",
                            digest, digest);
    if (!err)
        err = make_preset(body, "{}", qn_http_arena(h), &preset, e);
    if (!err) {
        struct qn_intake_wish wish = {.name = name,
                                      .path = path,
                                      .recipe = "llamacpp",
                                      .preset = preset,
                                      .digest = digest + QN_BLOB_PREFIX,
                                      .replace = true};
        struct asker *a = asker_new(sv, h, name);
        a->lines = lines;
        qn_intake_model(sv->intake, &wish, done, a);
    }
    free(path);
    return err;
}

static qn_err create(struct qn_services *sv, struct qn_http *h, const struct qn_jref *root,
                     struct qn_error *e)
{
    struct qn_json *written = NULL;
    struct qn_jref v = qn_json_get(root, "stream");
    const char *given, *name, *from = NULL;
    bool lines = true;
    qn_err err = qn_ollama_model_of(root, &given, e);
    if (!err)
        err = new_name(sv, given, "model", qn_http_arena(h), &name, e);
    if (!err)
        err = qn_json_bool_opt(&v, &lines, e);
    if (!err)
        err = read_modelfile(root, &written, e);
    struct qn_jref body = written ? qn_json_root(written) : *root;
    struct qn_jref files = qn_json_get(root, "files");
    v = qn_json_get(&body, "from");
    if (!err)
        err = qn_json_str_opt(&v, &from, e);
    if (!err && from && *from)
        err = create_from(sv, h, name, from, &body, lines, e);
    else if (!err && qn_json_count(&files))
        err = create_of_blob(sv, h, name, &files, &body, lines, e);
    else if (!err)
        err = qn_fail_param(e, QN_EINVAL, "from", "neither 'from' or 'files' was specified");
    qn_json_free(written);
    return err;
}

void qn_api_ollama_create(struct qn_services *sv, struct qn_http *h, const char *id)
{
    struct qn_json *doc = NULL;
    struct qn_error e = {0};
    (void)id;
    if (refused(sv, h))
        return;
    qn_err err = qn_api_body(h, false, &doc, &e);
    if (!err) {
        struct qn_jref root = qn_json_root(doc);
        err = create(sv, h, &root, &e);
    }
    if (err)
        qn_answer_error(h, &e);
    qn_json_free(doc);
}

/* ---- copy and delete ---- */

static qn_err copy(struct qn_services *sv, struct qn_http *h, const struct qn_jref *root,
                   struct qn_error *e)
{
    struct qn_jref from = qn_json_get(root, "source"), to = qn_json_get(root, "destination");
    const char *source, *given, *name;
    struct qn_snapshot *snap;
    const struct qn_model_row *old;
    qn_err err = qn_json_str(&from, &source, e);
    if (!err)
        err = qn_json_str(&to, &given, e);
    if (!err)
        err = new_name(sv, given, "destination", qn_http_arena(h), &name, e);
    if (!err)
        err = qn_inventory_find(sv->inventory, source, &snap, &old, e);
    if (err)
        return err;
    struct qn_model_row row = *old;
    row.name = name;
    row.base = qn_inventory_computes(snap, old)->name;
    if (qn_str_eq(row.base, name))
        row.base = old->base;
    row.builtin = row.suggested = false;
    row.created_s = row.modified_s = qn_wall_ms() / 1000;
    row.last_use_s = 0;
    struct asker *a = asker_new(sv, h, name);
    a->silent = true;
    qn_catalog_put(sv->catalog, &row, done, a);
    qn_snapshot_unref(snap);
    return QN_OK;
}

void qn_api_ollama_copy(struct qn_services *sv, struct qn_http *h, const char *id)
{
    struct qn_json *doc = NULL;
    struct qn_error e = {0};
    (void)id;
    if (refused(sv, h))
        return;
    qn_err err = qn_api_body(h, false, &doc, &e);
    if (!err) {
        struct qn_jref root = qn_json_root(doc);
        err = copy(sv, h, &root, &e);
    }
    if (err)
        qn_answer_error(h, &e);
    qn_json_free(doc);
}

static void deleted(void *ctx, const struct qn_custody_result *result, const struct qn_error *e)
{
    struct asker *a = ctx;
    (void)result;
    if (qn_waiting_end(&a->client, e))
        answer(a);
    asker_free(a);
}

static qn_err delete_model(struct qn_services *sv, struct qn_http *h, const char *name,
                           struct qn_error *e)
{
    struct asker *a = asker_new(sv, h, name);
    a->silent = true;
    qn_err err = qn_custody_delete(sv, name, deleted, a, e);
    if (err) {
        qn_waiting_never_mind(&a->client);
        asker_free(a);
    }
    return err;
}

void qn_api_ollama_delete(struct qn_services *sv, struct qn_http *h, const char *id)
{
    struct qn_json *doc = NULL;
    struct qn_error e = {0};
    const char *name = NULL;
    (void)id;
    qn_err err = qn_api_body(h, false, &doc, &e);
    if (!err) {
        struct qn_jref root = qn_json_root(doc);
        err = qn_ollama_model_of(&root, &name, &e);
    }
    if (!err && sv->stopping)
        err = qn_fail(&e, QN_EBUSY, "the server is stopping");
    if (!err)
        err = delete_model(sv, h, name, &e);
    if (err)
        qn_answer_problem(h, &(struct qn_problem){.error = &e, .model = name});
    qn_json_free(doc);
}
