/* GET internal/config and internal/config/defaults, POST internal/set, GET and POST params, POST
 * log-level, POST internal/shutdown: the settings of the running server. Names are those of
 * config.json, with _ for -, as programs made for Lemonade write them. */
#include "api/api.h"

#include "answers/answer.h"
#include "api/waiting.h"
#include "base/buf.h"
#include "base/str.h"
#include "settings/live.h"
#include "settings/settings.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAME_BYTES = 64 };

/* A change that a client has requested; it is carried out even if the client disconnects. */
struct asker {
    struct qn_waiting client;
    struct qn_live *live;
    struct qn_json *doc;
    bool keep;
    char *level; /* of log-level, whose reply is shorter; NULL: another request */
};

static void put_name(struct qn_jw *w, const char *name)
{
    char out[NAME_BYTES];
    size_t n = 0;
    for (; name[n] && n + 1 < sizeof out; n++)
        out[n] = name[n] == '-' ? '_' : name[n];
    out[n] = '\0';
    qn_jw_key(w, out);
}

static void put_all(struct qn_jw *w, const struct qn_settings *s)
{
    struct qn_setting about;
    qn_jw_obj(w);
    for (size_t i = 0; qn_setting_at(i, &about); i++) {
        put_name(w, about.name);
        qn_setting_print(s, i, w);
    }
    qn_jw_obj_end(w);
}

/* Writes all details of each setting, for `quince config`. */
static void put_details(struct qn_jw *w, const struct qn_live *live)
{
    const struct qn_settings *s = qn_live_wanted(live);
    struct qn_setting about;
    qn_jw_obj(w);
    qn_jw_key(w, "settings");
    qn_jw_arr(w);
    for (size_t i = 0; qn_setting_at(i, &about); i++) {
        qn_jw_obj(w);
        qn_jw_kstr(w, "name", about.name);
        qn_jw_key(w, "value");
        qn_setting_print(s, i, w);
        qn_jw_kstr(w, "from", qn_settings_layer_name(s->from[i]));
        qn_jw_kbool(w, "live", about.live);
        qn_jw_kbool(w, "by_hand", about.by_hand);
        qn_jw_kbool(w, "restart_required", qn_live_waits(live, i));
        qn_jw_obj_end(w);
    }
    qn_jw_arr_end(w);
    qn_jw_obj_end(w);
}

static void answer_settings(struct qn_http *h, const struct qn_settings *s,
                            const struct qn_live *details)
{
    struct qn_buf body;
    qn_buf_init(&body, QN_API_REPLY_MAX);
    struct qn_jw w = qn_jw_to(&body);
    if (details)
        put_details(&w, details);
    else
        put_all(&w, s);
    qn_answer_json(h, 200, &body);
    qn_buf_deinit(&body);
}

void qn_api_config(const struct qn_settings_api *api, struct qn_http *h, const char *id)
{
    (void)id;
    bool details = qn_str_eq(qn_http_query(h, "details"), "true");
    answer_settings(h, qn_live_wanted(api->live), details ? api->live : NULL);
}

void qn_api_config_defaults(const struct qn_settings_api *api, struct qn_http *h, const char *id)
{
    struct qn_settings presets;
    (void)api;
    (void)id;
    qn_settings_presets(&presets);
    answer_settings(h, &presets, NULL);
    qn_settings_deinit(&presets);
}

/* Writes the requested names whose new value is not in effect: because it needs a restart, or
 * because a stronger layer overrides it. */
static void put_not_in_force(struct qn_jw *w, const struct asker *a, bool overridden)
{
    const struct qn_settings *s = qn_live_wanted(a->live);
    struct qn_jref root = qn_json_root(a->doc), it;
    qn_jw_key(w, overridden ? "overridden" : "restart_required");
    qn_jw_arr(w);
    for (bool more = qn_json_first(&root, &it); more; more = qn_json_next(&it)) {
        size_t i;
        if (!qn_setting_find(it.key, &i))
            continue;
        bool beaten = a->keep && s->from[i] > QN_FROM_FILE;
        if (overridden ? beaten : !beaten && qn_live_waits(a->live, i))
            qn_jw_str(w, it.key);
    }
    qn_jw_arr_end(w);
}

static void put_updated(struct qn_jw *w, const struct asker *a)
{
    struct qn_jref root = qn_json_root(a->doc), it;
    qn_jw_key(w, "updated");
    qn_jw_obj(w);
    for (bool more = qn_json_first(&root, &it); more; more = qn_json_next(&it)) {
        qn_jw_key(w, it.key);
        qn_jw_value(w, &it);
    }
    qn_jw_obj_end(w);
}

static void changed(void *ctx, const struct qn_error *e)
{
    struct asker *a = ctx;
    if (qn_waiting_end(&a->client, e)) {
        struct qn_buf body;
        qn_buf_init(&body, QN_API_REPLY_MAX);
        struct qn_jw w = qn_jw_to(&body);
        qn_jw_obj(&w);
        qn_jw_kstr(&w, "status", "success");
        if (a->level) {
            qn_jw_kstr(&w, "level", a->level);
        } else {
            put_updated(&w, a);
            put_not_in_force(&w, a, false);
            put_not_in_force(&w, a, true);
        }
        qn_jw_obj_end(&w);
        qn_answer_json(a->client.http, 200, &body);
        qn_buf_deinit(&body);
    }
    qn_json_free(a->doc);
    free(a->level);
    free(a);
}

/* Takes ownership of doc. level: MAY be NULL. */
static void change(const struct qn_settings_api *api, struct qn_http *h, struct qn_json *doc,
                   bool keep, const char *level)
{
    struct asker *a = qn_xcalloc(1, sizeof *a);
    *a = (struct asker){.live = api->live, .doc = doc, .keep = keep};
    a->level = level ? qn_xstrdup(level) : NULL;
    struct qn_jref root = qn_json_root(doc);
    qn_waiting_begin(&a->client, h);
    qn_live_set(api->live, &root, keep, changed, a);
}

static void take_changes(const struct qn_settings_api *api, struct qn_http *h, bool keep)
{
    struct qn_json *doc;
    struct qn_error e = {0};
    qn_err err = qn_api_body(h, false, &doc, &e);
    if (err)
        qn_answer_error(h, &e);
    else
        change(api, h, doc, keep, NULL);
}

void qn_api_config_set(const struct qn_settings_api *api, struct qn_http *h, const char *id)
{
    (void)id;
    take_changes(api, h, true);
}

void qn_api_params_set(const struct qn_settings_api *api, struct qn_http *h, const char *id)
{
    (void)id;
    take_changes(api, h, false);
}

void qn_api_log_level(const struct qn_settings_api *api, struct qn_http *h, const char *id)
{
    struct qn_json *doc, *wish = NULL;
    struct qn_error e = {0};
    const char *level = NULL;
    (void)id;
    qn_err err = qn_api_body(h, false, &doc, &e);
    if (!err) {
        struct qn_jref root = qn_json_root(doc), v = qn_json_get(&root, "level");
        err = qn_json_str(&v, &level, &e);
    }
    if (!err) {
        struct qn_buf text;
        qn_buf_init(&text, QN_API_REPLY_MAX);
        struct qn_jw w = qn_jw_to(&text);
        qn_jw_obj(&w);
        qn_jw_kstr(&w, "log-level", level);
        qn_jw_obj_end(&w);
        err = qn_json_parse(qn_buf_cstr(&text), text.len, &wish, &e);
        qn_buf_deinit(&text);
    }
    if (err)
        qn_answer_error(h, &e);
    else
        change(api, h, wish, false, level);
    qn_json_free(doc);
}

/* Stops the server as a signal does: running requests finish, this one first. */
void qn_api_shutdown(const struct qn_settings_api *api, struct qn_http *h, const char *id)
{
    static const char body[] =
        "{\"status\":\"success\",\"message\":\"The server is shutting down\"}";
    (void)id;
    qn_http_reply(h, 200, "application/json", body, sizeof body - 1);
    if (!api->serving->stopping)
        kill(getpid(), SIGTERM);
}
