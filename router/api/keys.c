/* GET, POST and DELETE internal/keys: the keys for access to the server. A secret is generated
 * here, returned once and not stored. */
#include "api/api.h"

#include "access/auth.h"
#include "access/keys.h"
#include "access/owner.h"
#include "answering/answering.h"
#include "answers/answer.h"
#include "api/waiting.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/rand.h"
#include "base/str.h"
#include "catalog/keys.h"
#include "chats/chats.h"
#include "settings/live.h"
#include "telemetry/logs.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* "qk-" lets secret scanners find it; 192 random bits cannot be guessed. */
enum { SECRET_DIGITS = 48 };

/* A change of the catalog cannot be cancelled, so this outlives a client that disconnects. */
struct asker {
    struct qn_waiting client;
    const struct qn_settings_api *api;
    struct qn_key_row row;
    char secret[SECRET_DIGITS + 4]; /* secret of a new key */
    char giver[QN_OWNER_MAX + 1];   /* the owner whose data a new key takes over; "": none */
    bool took_over;
};

static void put_key(struct qn_jw *w, const struct qn_key_row *row)
{
    qn_jw_kstr(w, "name", row->name);
    qn_jw_kbool(w, "admin", row->admin);
    qn_jw_kstr(w, "from", row->fixed ? "environment" : "catalog");
    if (row->created_s)
        qn_jw_ki64(w, "created", row->created_s);
}

void qn_api_keys(const struct qn_settings_api *api, struct qn_http *h, const char *id)
{
    const struct qn_key_row *row;
    struct qn_buf body;
    (void)id;
    qn_buf_init(&body, QN_API_REPLY_MAX);
    struct qn_jw w = qn_jw_to(&body);
    qn_jw_obj(&w);
    qn_jw_key(&w, "keys");
    qn_jw_arr(&w);
    for (size_t i = 0; (row = qn_keys_at(api->keys, i)); i++) {
        qn_jw_obj(&w);
        put_key(&w, row);
        qn_jw_obj_end(&w);
    }
    qn_jw_arr_end(&w);
    qn_jw_obj_end(&w);
    qn_answer_json(h, 200, &body);
    qn_buf_deinit(&body);
}

static void finish(struct asker *a, const struct qn_error *e)
{
    if (qn_waiting_end(&a->client, e)) {
        struct qn_buf body;
        qn_buf_init(&body, QN_API_REPLY_MAX);
        struct qn_jw w = qn_jw_to(&body);
        qn_jw_obj(&w);
        qn_jw_kstr(&w, "status", "success");
        put_key(&w, &a->row);
        if (*a->secret) {
            qn_jw_kstr(&w, "key", a->secret);
            qn_jw_kbool(&w, "taken_over", a->took_over);
            qn_http_set_header(a->client.http, "Cache-Control", "no-store");
        }
        qn_jw_obj_end(&w);
        qn_answer_json(a->client.http, 200, &body);
        qn_buf_deinit(&body);
    }
    explicit_bzero(a->secret, sizeof a->secret);
    free(a);
}

static struct asker *begin(const struct qn_settings_api *api, struct qn_http *h)
{
    struct asker *a = qn_xcalloc(1, sizeof *a);
    a->api = api;
    qn_waiting_begin(&a->client, h);
    return a;
}

/* Notifies followers of the log, with or without a key, even if the log level suppresses the
 * line. */
static void told(struct asker *a, const char *what)
{
    qn_info("auth", "key=%s admin=%d %s=1", a->row.name, a->row.admin, what);
    qn_logs_wake(a->api->telemetry->logs);
}

/* The key stays valid if its data could not be taken over: the reply says so. */
static void given(void *ctx, const struct qn_chats_found *found)
{
    struct asker *a = ctx;
    a->took_over = !found->e;
    if (found->e)
        qn_warn("auth", "key=%s taken_over=0 message=\"%s\"", a->row.name, found->e->message);
    finish(a, NULL);
}

static void kept(void *ctx, const struct qn_error *e)
{
    struct asker *a = ctx;
    struct qn_error why = {0};
    if (!e && qn_keys_add(a->api->keys, &a->row, &why))
        e = &why;
    if (!e)
        told(a, "added");
    if (!e && *a->giver && !a->api->serving->closed) {
        char owner[QN_OWNER_MAX + 1];
        qn_owner_name(&a->row, NULL, owner);
        qn_chats_give(a->api->chats, a->giver, owner, given, a);
    } else {
        finish(a, e);
    }
}

void qn_api_key_add(const struct qn_settings_api *api, struct qn_http *h, const char *id)
{
    struct qn_json *doc;
    struct qn_error e = {0};
    const char *name = NULL;
    struct qn_caller caller;
    bool admin = false, takes_over = false;
    (void)id;
    qn_auth_caller(api->serving->auth, h, &caller);
    qn_err err = qn_api_body(h, false, &doc, &e);
    if (!err) {
        struct qn_jref root = qn_json_root(doc), v = qn_json_get(&root, "name");
        err = qn_json_str(&v, &name, &e);
        v = qn_json_get(&root, "admin");
        if (!err)
            err = qn_json_bool_opt(&v, &admin, &e);
        v = qn_json_get(&root, "take_over");
        if (!err)
            err = qn_json_bool_opt(&v, &takes_over, &e);
    }
    if (!err && !qn_key_name_ok(name))
        err = qn_fail_param(&e, QN_EINVAL, "name",
                            "'%.80s' cannot be a key's name: up to %d letters, digits and . _ -",
                            name, QN_KEY_NAME_MAX);
    if (!err)
        err = qn_keys_room(api->keys, name, &e);
    if (!err && api->serving->stopping)
        err = qn_fail(&e, QN_EBUSY, "the server is stopping");
    if (!err && takes_over && qn_answering_any(api->answering, caller.owner))
        err = qn_fail_param(&e, QN_EBUSY, "take_over",
                            "an answer is being written in one of the chats that the key would "
                            "take over: stop it, or wait for its end");
    if (err) {
        qn_answer_error(h, &e);
    } else {
        struct asker *a = begin(api, h);
        if (takes_over)
            memcpy(a->giver, caller.owner, sizeof a->giver);
        a->row = (struct qn_key_row){.admin = admin, .created_s = (int64_t)time(NULL)};
        memcpy(a->row.name, name, strlen(name) + 1);
        memcpy(a->secret, "qk-", 4);
        qn_random_hex(a->secret + 3, SECRET_DIGITS);
        qn_key_sum(a->secret, a->row.sum);
        struct qn_stored_key stored = {.admin = admin, .created_s = a->row.created_s};
        memcpy(stored.name, a->row.name, sizeof stored.name);
        memcpy(stored.sum, a->row.sum, sizeof stored.sum);
        qn_catalog_keep_key(api->catalog, &stored, kept, a);
    }
    qn_json_free(doc);
}

/* The key is invalid from the request on. If the catalog cannot delete it, it would be valid again
 * after a restart; so then it becomes valid again at once, and the client gets the reason. */
static void dropped(void *ctx, const struct qn_error *e)
{
    struct asker *a = ctx;
    struct qn_error why;
    if (e && e->code != QN_ENOTFOUND)
        qn_keys_add(a->api->keys, &a->row, &why);
    else
        told(a, "removed");
    finish(a, e && e->code != QN_ENOTFOUND ? e : NULL);
}

void qn_api_key_remove(const struct qn_settings_api *api, struct qn_http *h, const char *id)
{
    const struct qn_key_row *row = qn_keys_named(api->keys, id);
    struct qn_error e = {0};
    qn_err err = QN_OK;
    struct qn_key_row copy = row ? *row : (struct qn_key_row){0};
    if (row && api->serving->auth->needs_key && qn_keys_count(api->keys) == 1)
        err = qn_fail_param(&e, QN_ECONFLICT, "name",
                            "'%s' is the last key, and other machines can reach this server: "
                            "anyone there could use it. Set host to localhost first",
                            id);
    const struct qn_settings *next = qn_live_wanted(api->live);
    if (row && !err && qn_keys_count(api->keys) == 1 && !next->insecure &&
        !qn_auth_is_loopback(next->host))
        err = qn_fail_param(
            &e, QN_ECONFLICT, "name",
            "'%s' is the last key, and the setting host=%s, which takes effect at the next start, "
            "needs one: the server would not start. Set host to localhost first",
            id, next->host);
    if (!err && api->serving->stopping)
        err = qn_fail(&e, QN_EBUSY, "the server is stopping");
    if (!err)
        err = qn_keys_remove(api->keys, id, &e);
    if (err) {
        qn_answer_error(h, &e);
        return;
    }
    struct asker *a = begin(api, h);
    a->row = copy;
    qn_catalog_drop_key(api->catalog, a->row.name, dropped, a);
}
