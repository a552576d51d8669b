/* See remote.h. */
#include "settings/remote.h"

#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "catalog/used_files.h"
#include "contract/remote.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ARENA_MAX = 1024 * 1024, EXTRAS_MAX = 512 * 1024 };

static const char folder[] = "/remotes/";

/* ---- The key of the environment ---- */

static qn_err add_key(const char *name, struct qn_buf *options, struct qn_error *e)
{
    const char *key = getenv(name);
    if (!key || !*key)
        return qn_fail(e, QN_EINVAL,
                       "the key of this remote model should be in the environment variable %s, "
                       "which is not set: start the server with it",
                       name);
    struct qn_jw w = qn_jw_to(options);
    bool first = options->len <= strlen("{}");
    options->len = options->len ? options->len - 1 : 0; /* drops the object's closing brace */
    qn_buf_str(options, first ? "\"key\":" : ",\"key\":");
    qn_jw_str(&w, key);
    return qn_buf_char(options, '}') ? qn_fail(e, QN_ELIMIT, "the key in %s is too long", name)
                                     : QN_OK;
}

static qn_err open_file(const char *file, struct qn_json **doc, struct qn_error *e)
{
    struct qn_buf text;
    *doc = NULL;
    qn_buf_init(&text, QN_REMOTE_FILE_MAX);
    qn_err err = qn_file_read(file, &text, e);
    if (!err)
        err = qn_json_parse(qn_buf_cstr(&text), text.len, doc, e);
    qn_buf_deinit(&text);
    return err;
}

/* Strings of *def belong to the arena. */
static qn_err read_definition(const char *file, struct qn_arena *arena, struct qn_remote *def,
                              struct qn_error *e)
{
    struct qn_json *doc;
    qn_err err = open_file(file, &doc, e);
    if (!err) {
        struct qn_jref root = qn_json_root(doc);
        err = qn_remote_read(&root, NULL, arena, def, e);
    }
    qn_json_free(doc);
    return err;
}

qn_err qn_remote_options(const char *file, struct qn_buf *options, struct qn_error *e)
{
    struct qn_remote def = {0};
    struct qn_arena *arena = qn_arena_new(ARENA_MAX);
    qn_err err = read_definition(file, arena, &def, e);
    if (!err && def.key_env)
        err = add_key(def.key_env, options, e);
    qn_arena_free(arena);
    return err;
}

/* ---- When the server starts ---- */

static const char mark[] = "unsupported";

/* Writes a model's extras with the member "unsupported" set to `why`; if `why` is "", without that
 * member. */
static void write_marked(const struct qn_jref *extras, const char *why, struct qn_buf *out)
{
    struct qn_jw w = qn_jw_to(out);
    struct qn_jref it;
    qn_jw_obj(&w);
    for (bool more = qn_json_first(extras, &it); more; more = qn_json_next(&it))
        if (!qn_str_eq(it.key, mark)) {
            qn_jw_key(&w, it.key);
            qn_jw_value(&w, &it);
        }
    if (*why)
        qn_jw_kstr(&w, mark, why);
    qn_jw_obj_end(&w);
}

static void review(struct qn_catalog *catalog, const struct qn_model_row *row)
{
    struct qn_remote def;
    struct qn_error e = {0};
    struct qn_json *doc;
    struct qn_arena *arena = qn_arena_new(ARENA_MAX);
    bool bad = read_definition(row->files[0], arena, &def, &e) != QN_OK;
    qn_arena_free(arena);
    if (bad)
        qn_warn("remote", "model=%s unusable=1 message=\"%s\"", row->name, e.message);
    if (qn_json_parse(row->extras, strlen(row->extras), &doc, NULL))
        return;
    struct qn_jref extras = qn_json_root(doc), had = qn_json_get(&extras, mark);
    if (!qn_str_eq(qn_json_raw_str(&had), bad ? e.message : "")) {
        struct qn_buf text;
        qn_buf_init(&text, EXTRAS_MAX);
        write_marked(&extras, bad ? e.message : "", &text);
        struct qn_model_row now = *row;
        now.extras = qn_buf_cstr(&text);
        if (!text.overflow)
            qn_catalog_put(catalog, &now, NULL, NULL);
        qn_buf_deinit(&text);
    }
    qn_json_free(doc);
}

void qn_remote_review(struct qn_catalog *catalog)
{
    struct qn_snapshot *snap = qn_catalog_snapshot(catalog);
    for (size_t i = 0; i < qn_snapshot_count(snap); i++) {
        const struct qn_model_row *row = qn_snapshot_at(snap, i);
        if (qn_str_eq(row->recipe, "remote") && row->n_files)
            review(catalog, row);
    }
    qn_snapshot_unref(snap);
}

bool qn_remote_names_variable(const char *data_dir, const char *name)
{
    char *path = qn_path_join(data_dir, folder + 1);
    DIR *dir = opendir(path);
    bool found = false;
    for (struct dirent *entry; dir && !found && (entry = readdir(dir));) {
        struct qn_json *doc;
        char *file = qn_path_join(path, entry->d_name);
        if (open_file(file, &doc, NULL) == QN_OK) {
            struct qn_jref root = qn_json_root(doc), v = qn_json_get(&root, "key_env");
            found = qn_str_eq(qn_json_raw_str(&v), name);
        }
        qn_json_free(doc);
        free(file);
    }
    if (dir)
        closedir(dir);
    free(path);
    return found;
}

/* ---- Definitions ---- */

static void copy(const struct qn_jref *from, const char *name, struct qn_jw *w)
{
    struct qn_jref v = qn_json_get(from, name);
    struct qn_buf text;
    if (qn_json_type(&v) <= QN_JSON_NULL)
        return;
    qn_buf_init(&text, QN_REMOTE_FILE_MAX);
    qn_json_print(&v, &text);
    qn_jw_key(w, name);
    qn_jw_raw(w, qn_buf_cstr(&text), text.len);
    qn_buf_deinit(&text);
}

/* Writes a definition without its secrets: only members that are known, and for each server only
 * whether there is an API key. */
static void write_shown(const struct qn_remote *def, struct qn_buf *out)
{
    struct qn_jw w = qn_jw_to(out);
    qn_jw_obj(&w);
    qn_jw_key(&w, "remote");
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "flavour", qn_flavour_name(def->flavour));
    qn_jw_ki64(&w, "slots", def->slots);
    qn_jw_ki64(&w, "timeout_s", def->timeout_s);
    qn_jw_key(&w, "upstreams");
    qn_jw_arr(&w);
    for (size_t i = 0; i < def->n; i++) {
        const struct qn_remote_upstream *u = &def->v[i];
        qn_jw_obj(&w);
        qn_jw_kstr(&w, "url", u->url);
        qn_jw_ki64(&w, "weight", u->weight);
        if (u->model)
            qn_jw_kstr(&w, "model", u->model);
        qn_jw_kbool(&w, "has_key", u->key || def->key_env);
        qn_jw_obj_end(&w);
    }
    qn_jw_arr_end(&w);
    qn_jw_obj_end(&w);
    qn_jw_obj_end(&w);
}

/* request: has the members itself or, if it is an exported definition, in its "remote". */
static void write_file(const struct qn_jref *request, struct qn_buf *out)
{
    static const char *const members[] = {"model",   "api_key", "key_env",   "ca_file",  "flavour",
                                          "context", "slots",   "timeout_s", "upstreams"};
    struct qn_jw w = qn_jw_to(out);
    struct qn_jref url = qn_json_get(request, "base_url"), v;
    qn_jw_obj(&w);
    qn_jw_ki64(&w, "quince_remote", 1);
    struct qn_jref exported = qn_json_get(request, "remote");
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        v = qn_json_get(request, members[i]);
        copy(qn_json_type(&v) > QN_JSON_NULL ? request : &exported, members[i], &w);
    }
    v = qn_json_get(qn_json_count(&exported) ? &exported : request, "upstreams");
    if (qn_json_type(&v) <= QN_JSON_NULL && qn_json_type(&url) == QN_JSON_STRING) {
        qn_jw_key(&w, "upstreams");
        qn_jw_arr(&w);
        qn_jw_obj(&w);
        qn_jw_kstr(&w, "url", qn_json_raw_str(&url));
        qn_jw_obj_end(&w);
        qn_jw_arr_end(&w);
    }
    qn_jw_obj_end(&w);
}

qn_err qn_remote_define(const struct qn_jref *request, struct qn_buf *file, struct qn_buf *shown,
                        struct qn_error *e)
{
    struct qn_json *doc = NULL;
    struct qn_remote def;
    struct qn_arena *arena = qn_arena_new(ARENA_MAX);
    write_file(request, file);
    qn_err err = file->overflow ? qn_fail(e, QN_ELIMIT, "the definition has more than %d bytes",
                                          QN_REMOTE_FILE_MAX)
                                : qn_json_parse(qn_buf_cstr(file), file->len, &doc, e);
    if (!err) {
        struct qn_jref root = qn_json_root(doc);
        err = qn_remote_read(&root, NULL, arena, &def, e);
    }
    if (!err)
        write_shown(&def, shown);
    qn_json_free(doc);
    qn_arena_free(arena);
    return err;
}

void qn_remote_release(const char *data_dir, const struct qn_snapshot *snap, const char *path)
{
    size_t n = strlen(data_dir);
    bool ours = !strncmp(path, data_dir, n) && qn_str_starts(path + n, folder) &&
                !strchr(path + n + strlen(folder), '/');
    if (ours && !qn_file_is_used(snap, path))
        unlink(path);
}
