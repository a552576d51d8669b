/* See live.h. A worker plans and writes each change in one step: it reads config.json and writes it
 * immediately afterwards, so that edits by the user in between are not lost even if the workers are
 * busy. What the plan reads (the layers, the request layer) is modified only when a change ends,
 * and one change runs at a time. */
#include "settings/live.h"

#include "base/log.h"
#include "base/path.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

enum { REQUEST_MAX = 64 * 1024 };

struct qn_live {
    struct qn_live_config config;
    struct qn_settings wanted;
    struct qn_buf request;        /* a JSON object: settings that apply until the server stops */
    struct change *first, **last; /* queue of changes; the first is running */
    bool draining, stopped;
};

/* A change of settings that was requested and has not ended. */
struct change {
    struct qn_live *live;
    struct change *next;
    struct qn_json *asked; /* a JSON object; NULL: all settings are read again */
    bool keep;
    void *looked;          /* result of config.look */
    struct qn_buf text;    /* if keep: the new text of config.json */
    struct qn_buf request; /* the new text of the request layer */
    char *path;            /* of config.json */
    struct qn_settings fresh;
    bool have_fresh;
    struct qn_error error;
    qn_live_done done;
    void *ctx;
};

struct qn_live *qn_live_new(const struct qn_live_config *config)
{
    struct qn_live *l = qn_xcalloc(1, sizeof *l);
    l->config = *config;
    l->last = &l->first;
    qn_buf_init(&l->request, REQUEST_MAX);
    for (size_t i = 0; i < QN_SETTINGS_MAX; i++) {
        struct qn_setting about;
        if (qn_setting_at(i, &about))
            qn_setting_copy(&l->wanted, config->running, i);
    }
    return l;
}

static void change_free(struct change *c)
{
    qn_json_free(c->asked);
    qn_buf_deinit(&c->text);
    qn_buf_deinit(&c->request);
    if (c->have_fresh)
        qn_settings_deinit(&c->fresh);
    free(c->looked);
    free(c->path);
    free(c);
}

static void refuse_stopping(struct change *c)
{
    if (!c->error.code)
        qn_fail(&c->error, QN_EBUSY, "the server is stopping");
}

static void over(struct change *c)
{
    c->done(c->ctx, c->error.code ? &c->error : NULL);
    change_free(c);
}

void qn_live_drain(struct qn_live *l)
{
    l->draining = true;
}

bool qn_live_busy(const struct qn_live *l)
{
    return l->first != NULL;
}

void qn_live_stop(struct qn_live *l)
{
    if (!l)
        return;
    l->draining = l->stopped = true;
    if (!l->first)
        return;
    struct change *c = l->first->next;
    l->first->next = NULL;
    l->last = &l->first->next;
    while (c) {
        struct change *next = c->next;
        refuse_stopping(c);
        over(c);
        c = next;
    }
}

void qn_live_free(struct qn_live *l)
{
    if (!l)
        return;
    qn_settings_deinit(&l->wanted);
    qn_buf_deinit(&l->request);
    free(l);
}

const struct qn_settings *qn_live_wanted(const struct qn_live *l)
{
    return &l->wanted;
}

bool qn_live_waits(const struct qn_live *l, size_t i)
{
    return !qn_setting_same(l->config.running, &l->wanted, i);
}

/* Replaces the wanted settings by `fresh`, which it takes over, and puts the changes of LIVE
 * settings into effect. */
static void adopt(struct qn_live *l, struct qn_settings *fresh)
{
    struct qn_setting about;
    for (size_t i = 0; qn_setting_at(i, &about); i++) {
        bool same = qn_setting_same(&l->wanted, fresh, i);
        if (about.live)
            qn_setting_copy(l->config.running, fresh, i);
        if (!same)
            qn_info("settings", "setting=%s from=\"%s\" takes_effect=%s", about.name,
                    qn_settings_layer_name(fresh->from[i]), about.live ? "now" : "at_next_start");
    }
    l->config.apply(l->config.ctx);
    qn_settings_deinit(&l->wanted);
    l->wanted = *fresh;
}

/* Appends "key": to out, and a comma before it where needed. */
static void put_key(struct qn_buf *out, const char *key, bool *first)
{
    qn_buf_str(out, *first ? "\n  " : ",\n  ");
    *first = false;
    struct qn_jw w = qn_jw_to(out);
    qn_jw_str(&w, key);
    qn_buf_str(out, ": ");
}

bool qn_live_changes(const struct qn_jref *changes, const char *name)
{
    struct qn_jref it;
    size_t i, k;
    bool setting = qn_setting_find(name, &i);
    for (bool more = qn_json_first(changes, &it); more; more = qn_json_next(&it))
        if (setting ? qn_setting_find(it.key, &k) && k == i : qn_str_eq(it.key, name))
            return true;
    return false;
}

qn_err qn_live_merge(const char *old, const struct qn_jref *changes, const struct qn_settings *with,
                     struct qn_buf *out, struct qn_error *e)
{
    struct qn_json *doc = NULL;
    struct qn_jref root = {0}, it;
    bool first = true;
    if (*old) {
        struct qn_error why = {0};
        if (qn_json_parse(old, strlen(old), &doc, &why))
            return qn_fail(e, QN_ECONFLICT,
                           "config.json cannot be read, so nothing is written into it: %s",
                           why.message);
        root = qn_json_root(doc);
    }
    qn_buf_str(out, "{");
    for (bool more = qn_json_first(&root, &it); more; more = qn_json_next(&it))
        if (!qn_live_changes(changes, it.key)) {
            put_key(out, it.key, &first);
            qn_json_print(&it, out);
        }
    for (bool more = qn_json_first(changes, &it); more; more = qn_json_next(&it)) {
        struct qn_setting about;
        size_t i;
        if (!with || qn_json_type(&it) == QN_JSON_NULL || !qn_setting_find(it.key, &i) ||
            !qn_setting_at(i, &about))
            continue;
        put_key(out, about.name, &first);
        struct qn_jw w = qn_jw_to(out);
        qn_setting_print(with, i, &w);
    }
    qn_buf_str(out, first ? "}\n" : "\n}\n");
    qn_json_free(doc);
    return out->overflow ? qn_fail(e, QN_ELIMIT, "config.json would be too long") : QN_OK;
}

/* Checks that every name is a setting, is given once, and may be changed by a request. */
static qn_err check_names(const struct qn_jref *changes, struct qn_error *e)
{
    bool seen[QN_SETTINGS_MAX] = {false};
    struct qn_jref it;
    for (bool more = qn_json_first(changes, &it); more; more = qn_json_next(&it)) {
        struct qn_setting about;
        size_t i;
        if (!qn_setting_find(it.key, &i) || !qn_setting_at(i, &about))
            return qn_setting_unknown(it.key, "the request", e);
        if (about.by_hand)
            return qn_fail_param(e, QN_EINVAL, about.name,
                                 "the setting %s cannot be changed by a request: give it as a "
                                 "flag, in the environment or in config.json on the server's "
                                 "machine",
                                 about.name);
        if (seen[i])
            return qn_fail_param(e, QN_EINVAL, about.name, "the setting %s is given twice",
                                 about.name);
        seen[i] = true;
    }
    return QN_OK;
}

/* Computes the new texts of config.json (if keep) and of the request layer. A kept change also
 * takes effect now, so it replaces the setting in the request layer. */
static qn_err write_layers(struct change *c, struct qn_error *e)
{
    struct qn_live *l = c->live;
    struct qn_jref changes = qn_json_root(c->asked);
    struct qn_settings typed;
    struct qn_buf old;
    qn_buf_init(&old, QN_CONFIG_FILE_MAX);
    qn_settings_presets(&typed);
    qn_err err = qn_settings_take(&typed, &changes, e);
    if (!err && c->keep && qn_file_exists(c->path))
        err = qn_file_read(c->path, &old, e);
    if (!err && c->keep)
        err = qn_live_merge(qn_buf_cstr(&old), &changes, &typed, &c->text, e);
    if (!err)
        err = qn_live_merge(qn_buf_cstr(&l->request), &changes, c->keep ? NULL : &typed,
                            &c->request, e);
    qn_settings_deinit(&typed);
    qn_buf_deinit(&old);
    return err;
}

/* Checks that the server could start with the new config.json, without flags, as those of the next
 * start are unknown. */
static qn_err check_start(struct change *c, struct qn_error *e)
{
    const struct qn_live_config *config = &c->live->config;
    struct qn_settings_layers layers = {.env = config->layers.env, .file = qn_buf_cstr(&c->text)};
    struct qn_jref changes = qn_json_root(c->asked);
    struct qn_settings next = {0};
    qn_err err = qn_settings_read_again(&next, &layers, e);
    if (!err)
        err = config->can_start(c->looked, &next, &changes, e);
    qn_settings_deinit(&next);
    return err;
}

/* Computes the new layers and settings, and checks them, without changing anything. */
static qn_err plan(struct change *c, struct qn_error *e)
{
    const struct qn_buf *request = &c->live->request;
    qn_err err = QN_OK;
    if (c->asked) {
        err = write_layers(c, e);
        request = &c->request;
    }
    if (!err) {
        struct qn_settings_layers layers = c->live->config.layers;
        layers.file = c->keep ? qn_buf_cstr(&c->text) : NULL;
        layers.request = request->len ? request->data : NULL;
        c->have_fresh = true;
        err = qn_settings_read_again(&c->fresh, &layers, e);
    }
    if (!err && c->asked && c->keep && c->looked)
        err = check_start(c, e);
    return err;
}

/* Runs on a worker. */
static void carry_out(void *ctx)
{
    struct change *c = ctx;
    if (!c->error.code && !plan(c, &c->error) && c->keep)
        qn_file_write_atomic(c->path, c->text.data, c->text.len, 0600, &c->error);
}

static void begin_first(struct qn_live *l);

/* Adopts the settings even if the server is stopping, as they have been written. */
static void carried_out(void *ctx)
{
    struct change *c = ctx;
    struct qn_live *l = c->live;
    if (!c->error.code && !l->stopped) {
        if (c->asked) {
            qn_buf_clear(&l->request);
            qn_buf_add(&l->request, c->request.data, c->request.len);
        }
        adopt(l, &c->fresh);
        c->have_fresh = false;
    } else if (!c->keep) {
        refuse_stopping(c);
    }
    l->first = c->next;
    if (!l->first)
        l->last = &l->first;
    over(c);
    if (l->first)
        begin_first(l);
}

static void begin_first(struct qn_live *l)
{
    if (l->config.look)
        l->first->looked = l->config.look(l->config.ctx);
    qn_loop_work(l->config.loop, carry_out, carried_out, l->first);
}

static struct change *change_new(struct qn_live *l, qn_live_done done, void *ctx)
{
    struct change *c = qn_xcalloc(1, sizeof *c);
    c->live = l;
    c->done = done;
    c->ctx = ctx;
    qn_buf_init(&c->text, QN_CONFIG_FILE_MAX);
    qn_buf_init(&c->request, REQUEST_MAX);
    return c;
}

static void queue(struct change *c)
{
    struct qn_live *l = c->live;
    if (l->draining)
        refuse_stopping(c);
    *l->last = c;
    l->last = &c->next;
    if (l->first == c)
        begin_first(l);
}

void qn_live_reload(struct qn_live *l, qn_live_done done, void *ctx)
{
    queue(change_new(l, done, ctx));
}

void qn_live_set(struct qn_live *l, const struct qn_jref *changes, bool keep, qn_live_done done,
                 void *ctx)
{
    struct change *c = change_new(l, done, ctx);
    struct qn_buf copy;
    c->keep = keep;
    char *path = qn_path_join(l->config.running->data_dir, "config.json");
    /* resolves a symbolic link, so that its target is replaced and the link stays */
    c->path = qn_path_absolute(path, NULL);
    if (c->path)
        free(path);
    else
        c->path = path;
    qn_buf_init(&copy, QN_CONFIG_FILE_MAX);
    if (!check_names(changes, &c->error)) {
        qn_json_print(changes, &copy);
        qn_json_parse(qn_buf_cstr(&copy), copy.len, &c->asked, &c->error);
    }
    qn_buf_deinit(&copy);
    queue(c);
}
