/* See settings_file.h. Each member of the file is checked by itself, so that a file with some
 * invalid settings can be listed and changed; members that the user did not ask to change stay as
 * they are. */
#include "router/settings_file.h"

#include "access/keys.h"
#include "base/buf.h"
#include "base/path.h"
#include "base/str.h"
#include "catalog/catalog.h"
#include "catalog/keys.h"
#include "http/ports_try.h"
#include "io/loop.h"
#include "settings/data_folder.h"
#include "settings/live.h"
#include "settings/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OUT_MAX = 4 * 1024 * 1024 };

struct work {
    const char *const *env;
    const char *const *words; /* the arguments after "config" */
    size_t n;
    char *data_dir, *path;
    struct qn_buf text;   /* text of the file; "" if there is no file */
    struct qn_json *file; /* the file's object; NULL: no file */
    struct qn_jw w;       /* writes the output */
};

/* The settings file's object; a missing value if there is no file. */
static struct qn_jref root_of(const struct work *c)
{
    return c->file ? qn_json_root(c->file) : (struct qn_jref){0};
}

/* Reads the settings from the environment and a file with this text. */
static qn_err read_with(const struct work *c, const char *text, struct qn_settings *out,
                        struct qn_error *e)
{
    const struct qn_settings_layers layers = {.env = c->env, .file = text};
    *out = (struct qn_settings){0};
    return qn_settings_read_again(out, &layers, e);
}

/* Checks one member of the file by itself; if it is valid and `good` is not NULL, appends it to
 * `good`. */
static qn_err check_member(const struct work *c, const struct qn_jref *member, struct qn_buf *good,
                           struct qn_error *e)
{
    struct qn_buf one;
    struct qn_settings s;
    qn_buf_init(&one, QN_CONFIG_FILE_MAX);
    struct qn_jw w = qn_jw_to(&one);
    qn_jw_obj(&w);
    qn_jw_key(&w, member->key);
    qn_jw_value(&w, member);
    qn_jw_obj_end(&w);
    qn_err err = read_with(c, qn_buf_cstr(&one), &s, e);
    qn_settings_deinit(&s);
    if (!err && good) { /* the member without the object's braces */
        qn_buf_str(good, good->len ? "," : "");
        qn_buf_add(good, one.data + 1, one.len - 2);
    }
    qn_buf_deinit(&one);
    return err;
}

/* ---- list ---- */

static void put_row(struct work *c, const char *name, const struct qn_settings *s, size_t i,
                    const struct qn_jref *wrong, const char *problem)
{
    struct qn_setting about = {.live = false, .by_hand = true};
    if (s)
        qn_setting_at(i, &about);
    qn_jw_obj(&c->w);
    qn_jw_kstr(&c->w, "name", name);
    qn_jw_key(&c->w, "value");
    if (problem)
        qn_jw_value(&c->w, wrong);
    else
        qn_setting_print(s, i, &c->w);
    qn_jw_kstr(&c->w, "from",
               qn_settings_layer_name(problem ? QN_FROM_FILE : (enum qn_settings_layer)s->from[i]));
    qn_jw_kbool(&c->w, "live", about.live);
    qn_jw_kbool(&c->w, "by_hand", about.by_hand);
    qn_jw_kbool(&c->w, "restart_required", false);
    if (problem)
        qn_jw_kstr(&c->w, "problem", problem);
    qn_jw_obj_end(&c->w);
}

/* Finds the file's member that sets setting i and is invalid; *e says why. */
static bool wrong_member(const struct work *c, size_t i, struct qn_jref *out, struct qn_error *e)
{
    struct qn_jref root = root_of(c);
    size_t k;
    for (bool more = c->file && qn_json_first(&root, out); more; more = qn_json_next(out))
        if (qn_setting_find(out->key, &k) && k == i && check_member(c, out, NULL, e))
            return true;
    return false;
}

static qn_err list(struct work *c, struct qn_error *e)
{
    struct qn_jref root = root_of(c), it;
    struct qn_setting about;
    struct qn_settings s;
    struct qn_buf good, text;
    struct qn_error why = {0};
    size_t k;
    qn_buf_init(&good, QN_CONFIG_FILE_MAX);
    qn_buf_init(&text, QN_CONFIG_FILE_MAX);
    for (bool more = c->file && qn_json_first(&root, &it); more; more = qn_json_next(&it))
        check_member(c, &it, &good, &why);
    qn_buf_fmt(&text, "{%s}", qn_buf_cstr(&good));
    qn_err err = read_with(c, qn_buf_cstr(&text), &s, e);
    if (!err) {
        qn_jw_key(&c->w, "settings");
        qn_jw_arr(&c->w);
        for (size_t i = 0; qn_setting_at(i, &about); i++) {
            bool wrong = wrong_member(c, i, &it, &why);
            put_row(c, about.name, &s, i, &it, wrong ? why.message : NULL);
        }
        for (bool more = c->file && qn_json_first(&root, &it); more; more = qn_json_next(&it))
            if (!qn_setting_find(it.key, &k) && check_member(c, &it, NULL, &why))
                put_row(c, it.key, NULL, 0, &it, why.message);
        qn_jw_arr_end(&c->w);
    }
    qn_settings_deinit(&s);
    qn_buf_deinit(&text);
    qn_buf_deinit(&good);
    return err;
}

/* ---- set and reset ---- */

/* Converts the arguments, NAME=VALUE or (reset) NAME, to a JSON object; with reset all values are
 * null. */
static qn_err read_words(const struct work *c, bool reset, struct qn_json **out, struct qn_error *e)
{
    struct qn_buf text;
    qn_buf_init(&text, QN_CONFIG_FILE_MAX);
    struct qn_jw w = qn_jw_to(&text);
    qn_err err = QN_OK;
    qn_jw_obj(&w);
    for (size_t i = 1; i < c->n && !err; i++) {
        const char *equals = strchr(c->words[i], '=');
        if (reset == (equals != NULL)) {
            err = qn_fail(e, QN_EINVAL, "'%.80s' is not %s", c->words[i],
                          reset ? "a name" : "NAME=VALUE");
            continue;
        }
        char *name = equals ? qn_xstrndup(c->words[i], (size_t)(equals - c->words[i]))
                            : qn_xstrdup(c->words[i]);
        if (reset)
            qn_jw_knull(&w, name);
        else
            qn_jw_kstr(&w, name, equals + 1);
        free(name);
    }
    qn_jw_obj_end(&w);
    if (!err)
        err = qn_json_parse(qn_buf_cstr(&text), text.len, out, e);
    qn_buf_deinit(&text);
    return err;
}

/* Checks that every name is a setting. A name to be removed may also be any member of the file. */
static qn_err check_names(const struct work *c, const struct qn_jref *changes, struct qn_error *e)
{
    struct qn_jref root = root_of(c), it;
    size_t i;
    for (bool more = qn_json_first(changes, &it); more; more = qn_json_next(&it)) {
        struct qn_jref there = c->file ? qn_json_get(&root, it.key) : (struct qn_jref){0};
        bool known =
            qn_json_type(&it) == QN_JSON_NULL && c->file && qn_json_type(&there) != QN_JSON_ABSENT;
        if (!known && !qn_setting_find(it.key, &i))
            return qn_setting_unknown(it.key, "quince config", e);
    }
    return QN_OK;
}

static void post(void *ctx, void (*fn)(void *), void *arg)
{
    qn_loop_post(ctx, fn, arg);
}

static void count_key(void *ctx, const struct qn_stored_key *key)
{
    (void)key;
    ++*(size_t *)ctx;
}

/* Whether the next server will have keys. If the catalog cannot be read the answer does not matter,
 * as the server will not start and reports why. */
static bool has_keys(const struct work *c)
{
    struct qn_keys *keys = qn_keys_new();
    struct qn_loop *loop = NULL;
    struct qn_catalog *catalog = NULL;
    struct qn_error e = {0};
    char *path = qn_path_join(c->data_dir, "catalog.db");
    size_t n = qn_keys_from_env(keys, c->env, &e) ? 0 : qn_keys_count(keys);
    if (!n && qn_file_exists(path) && !qn_loop_new(&loop, &e)) {
        if (!qn_catalog_open(path, post, loop, &catalog, &e)) {
            qn_catalog_read_keys(catalog, count_key, &n, &e);
            qn_catalog_close(catalog);
        }
        qn_loop_free(loop);
    }
    free(path);
    qn_keys_free(keys);
    return n > 0;
}

/* If the changes concern addresses or ports, tries to bind those that a server with these settings
 * would listen on. */
static qn_err try_ports(const struct work *c, const struct qn_settings *s,
                        const struct qn_jref *changes, struct qn_error *e)
{
    struct qn_ports_trial t = {.port = qn_live_changes(changes, "port"),
                               .listen = qn_live_changes(changes, "listen"),
                               .ollama_port = qn_live_changes(changes, "ollama-port"),
                               .websocket_port = qn_live_changes(changes, "websocket-port")};
    if (!t.port && !t.listen && !t.ollama_port && !t.websocket_port &&
        !qn_live_changes(changes, "host"))
        return QN_OK;
    t.may_be_public = s->insecure || has_keys(c);
    return qn_ports_try(&t, s, e);
}

/* Checks that the changed settings are valid. *remains: what is wrong with other members of the
 * file. */
static qn_err check_new(const struct work *c, const char *text, const struct qn_jref *changes,
                        bool reset, struct qn_error *remains, struct qn_error *e)
{
    struct qn_settings s;
    struct qn_error why = {0};
    qn_err err = read_with(c, text, &s, &why);
    if (err && !reset && qn_live_changes(changes, why.param)) {
        *e = why;
    } else {
        *remains = why;
        err = err || reset ? QN_OK : try_ports(c, &s, changes, e);
    }
    qn_settings_deinit(&s);
    return err;
}

static void put_changed(struct work *c, const struct qn_jref *changes,
                        const struct qn_error *remains)
{
    struct qn_jref it;
    qn_jw_kstr(&c->w, "status", "success");
    qn_jw_key(&c->w, "updated");
    qn_jw_obj(&c->w);
    for (bool more = qn_json_first(changes, &it); more; more = qn_json_next(&it)) {
        qn_jw_key(&c->w, it.key);
        qn_jw_value(&c->w, &it);
    }
    qn_jw_obj_end(&c->w);
    if (remains->code)
        qn_jw_kstr(&c->w, "problem", remains->message);
}

static qn_err change(struct work *c, bool reset, struct qn_error *e)
{
    struct qn_json *asked = NULL;
    struct qn_settings typed;
    struct qn_buf text;
    struct qn_error remains = {0};
    qn_err err = read_words(c, reset, &asked, e);
    if (err)
        return err;
    struct qn_jref changes = qn_json_root(asked);
    qn_settings_presets(&typed);
    qn_buf_init(&text, QN_CONFIG_FILE_MAX);
    err = check_names(c, &changes, e);
    if (!err)
        err = qn_settings_take(&typed, &changes, e);
    if (!err)
        err = qn_live_merge(qn_buf_cstr(&c->text), &changes, &typed, &text, e);
    if (!err)
        err = check_new(c, qn_buf_cstr(&text), &changes, reset, &remains, e);
    if (!err)
        err = qn_file_write_atomic(c->path, text.data, text.len, 0600, e);
    if (!err)
        put_changed(c, &changes, &remains);
    qn_buf_deinit(&text);
    qn_settings_deinit(&typed);
    qn_json_free(asked);
    return err;
}

/* ---- the command ---- */

static qn_err open_file(struct work *c, struct qn_error *e)
{
    struct qn_error why = {0};
    char *path = qn_path_join(c->data_dir, "config.json");
    /* resolves a symbolic link, so that its target is replaced and the link stays */
    c->path = qn_path_absolute(path, NULL);
    if (c->path)
        free(path);
    else
        c->path = path;
    if (!qn_file_exists(c->path))
        return QN_OK;
    qn_err err = qn_file_read(c->path, &c->text, e);
    if (!err && (qn_json_parse(qn_buf_cstr(&c->text), c->text.len, &c->file, &why)))
        return qn_fail(e, QN_EFORMAT,
                       "%s is not JSON (%s): correct it with an editor, or remove it", c->path,
                       why.message);
    struct qn_jref root = root_of(c);
    if (!err && qn_json_type(&root) != QN_JSON_OBJECT)
        err =
            qn_fail(e, QN_EFORMAT, "%s must hold a JSON object: correct it, or remove it", c->path);
    return err;
}

/* Returns the data folder that the environment sets; other variables may be invalid. */
static char *data_dir_of(const char *const *env)
{
    static const char name[] = "QUINCE_DATA_DIR=";
    for (; *env; env++)
        if (qn_str_starts(*env, name) && (*env)[sizeof name - 1])
            return qn_xstrdup(*env + sizeof name - 1);
    return qn_path_data_dir();
}

static qn_err work(struct work *c, struct qn_error *e)
{
    const char *action = c->n ? c->words[0] : "list";
    bool reset = qn_str_eq(action, "reset");
    if (qn_str_eq(action, "list") && c->n <= 1)
        return list(c, e);
    if ((reset || qn_str_eq(action, "set")) && c->n > 1)
        return change(c, reset, e);
    return qn_fail(e, QN_EINVAL,
                   "usage: quinced config [list | set NAME=VALUE... | reset NAME...]");
}

bool qn_settings_file_meant(size_t n, const char *const *words)
{
    return n > 0 && qn_str_eq(words[0], "config");
}

int qn_settings_file_main(size_t n, const char *const *words, const char *const *env)
{
    struct work c = {.env = env, .words = words + 1, .n = n - 1, .data_dir = data_dir_of(env)};
    struct qn_error e = {0};
    struct qn_buf out;
    int lock_fd = -1;
    qn_buf_init(&out, OUT_MAX);
    qn_buf_init(&c.text, QN_CONFIG_FILE_MAX);
    c.w = qn_jw_to(&out);
    qn_jw_obj(&c.w);
    qn_err err = c.data_dir ? qn_data_folder_take(c.data_dir, &lock_fd, &e)
                            : qn_fail(&e, QN_EINVAL,
                                      "there is no home folder for a server's data: set "
                                      "QUINCE_DATA_DIR");
    if (!err)
        err = open_file(&c, &e);
    if (!err)
        err = work(&c, &e);
    if (err) {
        qn_buf_clear(&out);
        c.w = qn_jw_to(&out);
        qn_jw_obj(&c.w);
        qn_jw_kstr(&c.w, "error", e.message);
    }
    qn_jw_obj_end(&c.w);
    puts(qn_buf_cstr(&out));
    if (lock_fd >= 0)
        close(lock_fd);
    qn_json_free(c.file);
    qn_buf_deinit(&c.text);
    qn_buf_deinit(&out);
    free(c.path);
    free(c.data_dir);
    return err ? 1 : 0;
}
