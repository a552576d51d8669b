/* Ollama's create, copy and delete. A model that is made from another one is a preset: a row of the
 * catalog with the other model's files and its own settings. */
#include "api/ollama.h"

#include "answers/answer.h"
#include "api/preset_make.h"
#include "api/waiting.h"
#include "base/clock.h"
#include "base/path.h"
#include "base/str.h"
#include "io/body.h"
#include "library/blobs.h"
#include "library/custody.h"
#include "models/inventory.h"
#include "models/metadata_scan.h"
#include "models/registration.h"

#include <stdlib.h>
#include <string.h>

/* A change of the catalog cannot be cancelled, so this outlives a client that disconnects. */
struct asker {
    const struct qn_ollama_api *api;
    struct qn_waiting client;
    bool lines;  /* the success is sent as a stream of states, otherwise as one reply */
    bool silent; /* the success is reported by the status alone */
    char *name;  /* name of the row that is replaced or removed */
    char *file;  /* its former file; NULL: none */
};

static struct asker *asker_new(const struct qn_ollama_api *api, struct qn_http *h, const char *name)
{
    struct asker *a = qn_xcalloc(1, sizeof *a);
    struct qn_snapshot *snap = qn_catalog_snapshot(api->models->catalog);
    const struct qn_model_row *old = qn_snapshot_find(snap, name);
    a->api = api;
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

/* Called after the catalog has changed: loaded state from the former row must not be used by
 * further requests. */
static void settle(const struct asker *a)
{
    qn_inventory_changed(a->api->models->inventory, a->name);
    qn_metadata_scan_again(a->api->models->metadata_scan);
    if (a->file) {
        struct qn_snapshot *snap = qn_catalog_snapshot(a->api->models->catalog);
        qn_blob_release(a->api->custody->blobs, snap, a->file);
        qn_snapshot_unref(snap);
    }
}

static void done(void *ctx, const struct qn_error *e)
{
    struct asker *a = ctx;
    if (!e && !a->api->serving->closed)
        settle(a);
    if (qn_waiting_end(&a->client, e))
        answer(a);
    asker_free(a);
}

/* Lemonade's own server replies this way, and programs may depend on it. */
static bool refused(const struct qn_ollama_api *api, struct qn_http *h)
{
    if (api->serving->stopping) {
        struct qn_error e = {0};
        qn_fail(&e, QN_EBUSY, "the server is stopping");
        qn_answer_error(h, &e);
    } else if (api->no_presets) {
        qn_answer_plain(h, 501, "not_implemented",
                        "making models is switched off by the setting no-presets");
    } else {
        return false;
    }
    return true;
}

/* Checks the name of a new model: without ":latest", and not that of a built-in model. */
static qn_err new_name(const struct qn_ollama_api *api, const char *given, const char *param,
                       struct qn_arena *arena, const char **out, struct qn_error *e)
{
    size_t n = strlen(given);
    if (qn_str_ends(given, ":latest"))
        n -= strlen(":latest");
    char *name = n <= QN_MODEL_NAME_MAX ? qn_arena_strndup(arena, given, n) : NULL;
    if (!name || !qn_registration_name_ok(name))
        return qn_fail_param(e, QN_EINVAL, param,
                             "%s: '%.80s' cannot be a model's name: letters, digits and . _ - / : "
                             "+ @ can",
                             param, given);
    struct qn_snapshot *snap = qn_catalog_snapshot(api->models->catalog);
    const struct qn_model_row *old = qn_snapshot_find(snap, name);
    bool builtin = old && old->builtin;
    qn_snapshot_unref(snap);
    if (builtin)
        return qn_fail_param(e, QN_ECONFLICT, param,
                             "%s: '%s' ships with quince: choose another name", param, name);
    *out = name;
    return QN_OK;
}

/* ---- create ---- */

enum {
    MAKING_ARENA_MAX = 256 * 1024 * 1024,
    MADE_ON_LOOP_MAX = 32 * 1024 /* longest body or preset that is processed on the loop; a template
                                    may become longer */
};

/* A model that is being made. If there is much to read, a worker reads it and makes the preset. */
struct making {
    const struct qn_ollama_api *api;
    struct qn_waiting client;
    struct qn_arena *arena;
    struct qn_body *body; /* owned */
    const char *text;     /* borrowed from body */
    size_t n;
    bool large;
    struct qn_json *doc, *written;    /* the body; the contents of its Modelfile, or NULL */
    struct qn_jref root, said;        /* roots of the two; `said` is `root` if there is no
                                         Modelfile */
    const char *name, *from, *digest; /* name of the new model; from or digest is NULL */
    bool lines;                       /* the reply is a stream of states */
    const char *base, *preset;
    qn_err err;
    struct qn_error error;
    qn_post_fn then;
};

/* Any thread. */
static void free_making(void *ctx)
{
    struct making *m = ctx;
    qn_json_free(m->doc);
    qn_json_free(m->written);
    qn_body_deinit(m->body);
    free(m->body);
    qn_arena_free(m->arena);
    free(m);
}

/* Answers the client, unless it has been answered or has disconnected. */
static void end_making(struct making *m)
{
    if (m->client.http)
        qn_waiting_end(&m->client, &m->error);
    if (m->large)
        qn_loop_work(m->api->serving->loop, free_making, NULL, m);
    else
        free_making(m);
}

static void worked(void *ctx)
{
    struct making *m = ctx;
    if (!m->err && m->api->serving->stopping)
        m->err = qn_fail(&m->error, QN_EBUSY, "the server is stopping");
    if (m->err || !m->client.http)
        end_making(m);
    else
        m->then(m);
}

/* Runs fn(m), on a worker if there is much to do, then then(m) unless fn failed. */
static void work(struct making *m, qn_post_fn fn, qn_post_fn then)
{
    m->then = then;
    if (m->large) {
        qn_loop_work(m->api->serving->loop, fn, worked, m);
        return;
    }
    fn(m);
    worked(m);
}

/* Passes the row to the catalog. */
static struct asker *hand_over(struct making *m)
{
    struct qn_http *h = m->client.http;
    qn_waiting_never_mind(&m->client);
    struct asker *a = asker_new(m->api, h, m->name);
    a->lines = m->lines;
    return a;
}

static qn_err put_over(struct making *m)
{
    struct qn_snapshot *snap;
    const struct qn_model_row *base;
    qn_err err = qn_inventory_find(m->api->models->inventory, m->from, &snap, &base, &m->error);
    if (err)
        return err;
    struct qn_model_row row = *base;
    row.name = m->name;
    row.base = qn_inventory_computes(snap, base)->name;
    row.preset = m->preset;
    row.builtin = row.suggested = false;
    row.labels = "[\"custom\"]";
    row.created_s = row.modified_s = qn_wall_ms() / 1000;
    row.last_use_s = 0;
    if (qn_str_eq(row.base, m->name)) /* a model made from itself keeps its base */
        row.base = "";
    qn_catalog_put(m->api->models->catalog, &row, done, hand_over(m));
    qn_snapshot_unref(snap);
    return QN_OK;
}

static qn_err put_blob(struct making *m)
{
    char *path = qn_blob_path(m->api->custody->blobs, m->digest);
    struct qn_registration_wish wish = {.name = m->name,
                                        .path = path,
                                        .recipe = "llamacpp",
                                        .preset = m->preset,
                                        .digest = m->digest + QN_BLOB_PREFIX,
                                        .replace = true};
    qn_registration_model(m->api->models->registration, &wish, done, hand_over(m));
    free(path);
    return QN_OK;
}

static void put(void *ctx)
{
    struct making *m = ctx;
    m->err = m->digest ? put_blob(m) : put_over(m);
    end_making(m);
}

/* Any thread. */
static void make(void *ctx)
{
    struct making *m = ctx;
    m->err = qn_preset_make(&m->said, m->base, m->arena, &m->preset, &m->error);
}

/* Reads "files": {"model.gguf": "sha256:..."}, a file that was uploaded before. */
static qn_err find_blob(struct making *m, const struct qn_jref *files)
{
    struct qn_jref it;
    struct qn_error *e = &m->error;
    if (qn_json_type(files) != QN_JSON_OBJECT || qn_json_count(files) != 1)
        return qn_json_fail(files, e, "expected an object with one GGUF file and its digest");
    qn_json_first(files, &it);
    qn_err err = qn_json_str(&it, &m->digest, e);
    if (err)
        return err;
    char *path = qn_blob_path(m->api->custody->blobs, m->digest);
    if (!path)
        return qn_json_fail(&it, e, "'%.100s' is not a digest: sha256: and 64 hexadecimal digits",
                            m->digest);
    if (!qn_blob_ask(m->api->custody->blobs, path))
        err = qn_fail_param(e, QN_ENOTFOUND, "files",
                            "blob '%s' not found: send it with POST "
                            "/api/blobs/%s first",
                            m->digest, m->digest);
    m->base = "{}";
    free(path);
    return err;
}

static qn_err find_base(struct making *m)
{
    struct qn_snapshot *snap;
    const struct qn_model_row *base;
    qn_err err = qn_inventory_find(m->api->models->inventory, m->from, &snap, &base, &m->error);
    if (err)
        return err;
    m->base = qn_arena_strdup(m->arena, base->preset);
    m->large = m->large || strlen(m->base) > MADE_ON_LOOP_MAX;
    qn_snapshot_unref(snap);
    return QN_OK;
}

/* Finds the model or file that the body names. */
static qn_err look_up(struct making *m)
{
    struct qn_error *e = &m->error;
    struct qn_jref v = qn_json_get(&m->root, "stream"), from = qn_json_get(&m->said, "from");
    struct qn_jref files = qn_json_get(&m->root, "files");
    const char *given;
    m->lines = true;
    qn_err err = qn_ollama_model_of(&m->root, &given, e);
    if (!err)
        err = new_name(m->api, given, "model", m->arena, &m->name, e);
    if (!err)
        err = qn_json_bool_opt(&v, &m->lines, e);
    if (!err)
        err = qn_json_str_opt(&from, &m->from, e);
    if (err)
        return err;
    if (m->from && *m->from)
        return find_base(m);
    if (qn_json_count(&files))
        return find_blob(m, &files);
    return qn_fail_param(e, QN_EINVAL, "from", "neither 'from' or 'files' was specified");
}

static void looked_at(void *ctx)
{
    struct making *m = ctx;
    m->err = look_up(m);
    if (m->err)
        end_making(m);
    else
        work(m, make, put);
}

/* Any thread. */
static void read_body(void *ctx)
{
    struct making *m = ctx;
    m->err = qn_api_object(m->text, m->n, false, &m->doc, &m->error);
    if (m->err)
        return;
    m->root = m->said = qn_json_root(m->doc);
    m->err = qn_preset_modelfile(&m->root, &m->written, &m->error);
    if (m->written)
        m->said = qn_json_root(m->written);
}

void qn_api_ollama_create(const struct qn_ollama_api *api, struct qn_http *h, const char *id)
{
    (void)id;
    if (refused(api, h))
        return;
    struct making *m = qn_xcalloc(1, sizeof *m);
    m->api = api;
    m->arena = qn_arena_new(MAKING_ARENA_MAX);
    qn_waiting_begin(&m->client, h);
    m->body = qn_http_body_take(h, &m->text, &m->n);
    m->large = m->n > MADE_ON_LOOP_MAX;
    work(m, read_body, looked_at);
}

/* ---- copy and delete ---- */

static qn_err copy(const struct qn_ollama_api *api, struct qn_http *h, const struct qn_jref *root,
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
        err = new_name(api, given, "destination", qn_http_arena(h), &name, e);
    if (!err)
        err = qn_inventory_find(api->models->inventory, source, &snap, &old, e);
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
    struct asker *a = asker_new(api, h, name);
    a->silent = true;
    qn_catalog_put(api->models->catalog, &row, done, a);
    qn_snapshot_unref(snap);
    return QN_OK;
}

void qn_api_ollama_copy(const struct qn_ollama_api *api, struct qn_http *h, const char *id)
{
    struct qn_json *doc = NULL;
    struct qn_error e = {0};
    (void)id;
    if (refused(api, h))
        return;
    qn_err err = qn_api_body(h, false, &doc, &e);
    if (!err) {
        struct qn_jref root = qn_json_root(doc);
        err = copy(api, h, &root, &e);
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

static qn_err delete_model(const struct qn_ollama_api *api, struct qn_http *h, const char *name,
                           struct qn_error *e)
{
    struct asker *a = asker_new(api, h, name);
    a->silent = true;
    qn_err err = qn_custody_delete(api->custody, name, deleted, a, e);
    if (err) {
        qn_waiting_never_mind(&a->client);
        asker_free(a);
    }
    return err;
}

void qn_api_ollama_delete(const struct qn_ollama_api *api, struct qn_http *h, const char *id)
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
    if (!err && api->serving->stopping)
        err = qn_fail(&e, QN_EBUSY, "the server is stopping");
    if (!err)
        err = delete_model(api, h, name, &e);
    if (err)
        qn_answer_problem(h, &(struct qn_problem){.error = &e, .model = name});
    qn_json_free(doc);
}
