/* See api/remote.h. A worker writes the file, then a row of the catalog with the file's path is
 * stored. */
#include "api/remote.h"

#include "answers/answer.h"
#include "api/api.h"
#include "api/waiting.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/path.h"
#include "base/rand.h"
#include "base/str.h"
#include "contract/backend_types.h"
#include "contract/remote.h"
#include "downloads/pull_request.h"
#include "library/may_open.h"
#include "models/inventory.h"
#include "models/registration.h"
#include "settings/remote.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_MAX = 256 * 1024, PATH_LIMIT = 8192, ID_DIGITS = 8 };

/* The operation cannot be cancelled, so this outlives a client that disconnects. */
struct asker {
    const struct qn_models_api *api;
    struct qn_waiting client;
    struct qn_arena *arena;
    const char *name, *path, *labels, *url;
    const char *old; /* file of the definition that is replaced; NULL: none */
    struct qn_buf file, shown;
    struct qn_error error;
};

static void asker_free(struct asker *a)
{
    qn_buf_deinit(&a->file);
    qn_buf_deinit(&a->shown);
    qn_arena_free(a->arena);
    free(a);
}

static const char *data_dir_of(const struct qn_models_api *api)
{
    return qn_inventory_config(api->models->inventory)->data_dir;
}

static void put_done(void *ctx, const struct qn_error *e)
{
    struct asker *a = ctx;
    if (!e && !a->api->serving->closed) {
        struct qn_snapshot *snap = qn_catalog_snapshot(a->api->models->catalog);
        if (a->old)
            qn_remote_release(data_dir_of(a->api), snap, a->old);
        qn_snapshot_unref(snap);
        qn_inventory_changed(a->api->models->inventory,
                             a->name); /* a running process has the former definition */
    }
    if (qn_waiting_end(&a->client, e))
        qn_api_registered(a->api, a->client.http, a->name);
    asker_free(a);
}

/* Runs on a worker. */
static void write_file(void *ctx)
{
    struct asker *a = ctx;
    char *folder = qn_xstrndup(a->path, (size_t)(strrchr(a->path, '/') - a->path));
    if (!qn_mkdirs(folder, 0700, &a->error))
        qn_file_write_atomic(a->path, a->file.data, a->file.len, 0600, &a->error);
    free(folder);
}

static void written(void *ctx)
{
    struct asker *a = ctx;
    if (!a->error.code && a->api->serving->closed)
        qn_fail(&a->error, QN_EBUSY, "the server is stopping");
    if (a->error.code) {
        qn_waiting_end(&a->client, &a->error);
        asker_free(a);
        return;
    }
    const char *files[] = {a->path};
    const struct qn_model_row row = {
        .name = a->name,
        .type = "remote",
        .recipe = "remote",
        .checkpoint = a->url,
        .files = files,
        .n_files = 1,
        .labels = a->labels,
        .details = "{}",
        .extras = qn_buf_cstr(&a->shown),
        .keeper = QN_KEEPER_QUINCE,
        .created_s = qn_wall_ms() / 1000,
        .modified_s = qn_wall_ms() / 1000,
    };
    qn_catalog_put(a->api->models->catalog, &row, put_done, a);
}

/* DATA_DIR/remotes/NAME-RANDOM.json: a new definition is a new file, so that comparisons of files
 * detect the change. */
static const char *choose_path(const struct qn_models_api *api, const char *name,
                               struct qn_arena *arena)
{
    struct qn_buf path;
    char id[ID_DIGITS + 1];
    qn_buf_init(&path, PATH_LIMIT);
    qn_random_hex(id, ID_DIGITS);
    qn_buf_fmt(&path, "%s/remotes/", data_dir_of(api));
    for (const char *s = name; *s; s++)
        qn_buf_char(&path, isalnum((unsigned char)*s) || strchr("-_.", *s) ? *s : '_');
    qn_buf_fmt(&path, "-%s.json", id);
    const char *out = qn_arena_take(arena, &path);
    qn_buf_deinit(&path);
    return out;
}

static qn_err check_name(const struct qn_models_api *api, const char *name, struct qn_arena *arena,
                         const char **old, struct qn_error *e)
{
    if (!qn_str_starts(name, "user.") || !qn_registration_name_ok(name + strlen("user.")) ||
        strlen(name) > QN_MODEL_NAME_MAX)
        return qn_fail_param(e, QN_EINVAL, "model_name",
                             "'%.80s' cannot be a model's name: it must be user. and then letters, "
                             "digits or . _ - / : + @",
                             name);
    struct qn_snapshot *snap = qn_catalog_snapshot(api->models->catalog);
    const struct qn_model_row *row = qn_snapshot_find(snap, name);
    qn_err err = QN_OK;
    if (row && !qn_str_eq(row->recipe, "remote"))
        err = qn_fail_param(e, QN_ECONFLICT, "model_name",
                            "the name '%s' belongs to another model: choose another one, or delete "
                            "that one first",
                            name);
    else if (row && row->n_files)
        *old = qn_arena_strdup(arena, row->files[0]);
    qn_snapshot_unref(snap);
    return err;
}

bool qn_api_is_remote(const struct qn_jref *request)
{
    struct qn_jref recipe = qn_json_get(request, "recipe");
    return qn_str_eq(qn_json_raw_str(&recipe), "remote");
}

/* The route is for admins, who may also name variables of the server's environment (key_env); which
 * files they may name is checked separately. */
static bool may_define(const struct qn_models_api *api, struct qn_http *h,
                       const struct qn_jref *definition)
{
    struct qn_jref ca = qn_json_get(definition, "ca_file");
    struct qn_named_files files = {.rule = api->open_rule};
    if (qn_json_type(&ca) == QN_JSON_STRING)
        qn_named_file(&files, qn_json_raw_str(&ca));
    return qn_may_open(&files, h);
}

void qn_api_remote(const struct qn_models_api *api, struct qn_http *h,
                   const struct qn_jref *request)
{
    struct qn_error e = {0};
    struct asker *a = qn_xcalloc(1, sizeof *a);
    struct qn_pull_order said = {.labels = "[]", .extras = "", .options = ""};
    const char *name = NULL;
    struct qn_jref v = qn_json_get(request, "model_name");
    a->api = api;
    a->arena = qn_arena_new(1024 * 1024);
    qn_buf_init(&a->file, QN_REMOTE_FILE_MAX);
    qn_buf_init(&a->shown, SHOWN_MAX);
    qn_err err = qn_json_str(&v, &name, &e);
    if (!err)
        err = check_name(api, name, a->arena, &a->old, &e);
    if (!err)
        err = qn_pull_describe(request, a->arena, &said, &e);
    if (!err)
        err = qn_remote_define(request, &a->file, &a->shown, &e);
    if (!err && qn_backend_type_missing(qn_backend_type_find("remote")))
        err = qn_fail(&e, QN_EUNSUPPORTED,
                      "quince-bridge is not installed beside quinced: install quince again");
    struct qn_json *kept = NULL;
    if (!err)
        err = qn_json_parse(qn_buf_cstr(&a->file), a->file.len, &kept, &e);
    struct qn_jref definition = err ? (struct qn_jref){0} : qn_json_root(kept);
    bool may = !err && may_define(api, h, &definition);
    qn_json_free(kept);
    if (!may) {
        asker_free(a);
        if (err)
            qn_answer_error(h, &e);
        return;
    }
    struct qn_json *shown;
    qn_json_parse(qn_buf_cstr(&a->shown), a->shown.len, &shown, NULL);
    struct qn_jref root = qn_json_root(shown), remote = qn_json_get(&root, "remote"),
                   list = qn_json_get(&remote, "upstreams"), first;
    qn_json_first(&list, &first);
    v = qn_json_get(&first, "url");
    a->url = qn_arena_strdup(a->arena, qn_json_raw_str(&v));
    qn_json_free(shown);
    a->name = qn_arena_strdup(a->arena, name);
    a->labels = qn_arena_strdup(a->arena, *said.labels ? said.labels : "[]");
    a->path = choose_path(api, name, a->arena);
    qn_waiting_begin(&a->client, h);
    qn_loop_work(api->serving->loop, write_file, written, a);
}
