/* See remote.h. */
#include "router/remote.h"

#include "base/path.h"
#include "base/str.h"
#include "contract/remote.h"
#include "router/used_files.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ARENA_MAX = 1024 * 1024 };

static const char folder[] = "/remotes/";

/* ---- The key of the environment ---- */

static qn_err add_key(const char *name, struct qn_buf *options, struct qn_error *e)
{
    const char *key = getenv(name);
    if (!key || !*key)
        return qn_fail(e, QN_EINVAL,
                       "the key of this remote model is to be in the environment as %s, and there "
                       "it is not: start the server with it",
                       name);
    struct qn_jw w = qn_jw_to(options);
    bool first = options->len <= strlen("{}");
    options->len = options->len ? options->len - 1 : 0; /* the object's closing brace */
    qn_buf_str(options, first ? "\"key\":" : ",\"key\":");
    qn_jw_str(&w, key);
    return qn_buf_char(options, '}') ? qn_fail(e, QN_ELIMIT, "the key in %s is too long", name)
                                     : QN_OK;
}

qn_err qn_remote_options(const char *file, struct qn_buf *options, struct qn_error *e)
{
    struct qn_buf text;
    struct qn_json *doc = NULL;
    struct qn_remote def = {0};
    struct qn_arena *arena = qn_arena_new(ARENA_MAX);
    qn_buf_init(&text, QN_REMOTE_FILE_MAX);
    qn_err err = qn_file_read(file, &text, e);
    if (!err)
        err = qn_json_parse(qn_buf_cstr(&text), text.len, &doc, e);
    if (!err) {
        struct qn_jref root = qn_json_root(doc);
        err = qn_remote_read(&root, NULL, arena, &def, e);
    }
    if (!err && def.key_env)
        err = add_key(def.key_env, options, e);
    qn_json_free(doc);
    qn_buf_deinit(&text);
    qn_arena_free(arena);
    return err;
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

/* What may be shown of it: no key, and nothing that is not known. */
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

/* request: its members, or, of a definition that was exported, those of its "remote". */
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
