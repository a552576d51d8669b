/* POST models/check-updates: asks the hubs whether they have newer files of installed models. */
#include "api/api.h"

#include "access/client_id.h"
#include "answers/answer.h"
#include "base/str.h"
#include "downloads/updates.h"
#include "library/inquiry.h"
#include "registry/hub.h"
#include "registry/store.h"
#include "registry/web.h"

#include <stdlib.h>
#include <string.h>

enum { CHECKED_MAX = 10000 };

/* One model during the check. */
struct item {
    char *name, *commit;
    struct qn_ref ref; /* its revision, which may have another commit now */
    bool newer;
    char why[QN_ERROR_MESSAGE_MAX]; /* why the check failed; "": it succeeded */
};

struct asker {
    const struct qn_hubs_api *api;
    struct qn_http *http; /* NULL: the client has disconnected */
    struct qn_inquiry *inquiry;
    struct item *items;
    size_t n;
};

static void gone(void *ctx)
{
    struct asker *a = ctx;
    a->http = NULL;
    qn_inquiry_stop(a->inquiry);
}

static const struct qn_repo_file *find(const struct qn_repo *repo, const char *path)
{
    for (size_t i = 0; i < repo->n; i++)
        if (qn_str_eq(repo->files[i].path, path))
            return &repo->files[i];
    return NULL;
}

static bool same(const struct qn_repo_file *a, const struct qn_repo_file *b)
{
    if (*a->sha256 && *b->sha256)
        return qn_str_eq(a->sha256, b->sha256);
    if (*a->git_sha1 && *b->git_sha1)
        return qn_str_eq(a->git_sha1, b->git_sha1);
    return a->size_bytes == b->size_bytes;
}

/* A new commit that only changed descriptions is not an update: at least one installed file must
 * differ at the hub, or be missing there. */
static bool is_newer(const struct asker *a, const struct item *item, const struct qn_repo *now)
{
    struct qn_repo *here;
    if (qn_str_eq(item->commit, now->commit))
        return false;
    if (qn_store_cached(a->api->store, now->hub, now->id, item->commit, 0, &here, NULL))
        return true; /* it is only known that something changed */
    bool newer = false;
    for (size_t i = 0; i < here->n && !newer; i++) {
        const struct qn_repo_file *there = find(now, here->files[i].path);
        newer = !there || !same(&here->files[i], there);
    }
    qn_repo_free(here);
    return newer;
}

/* Runs on a worker. */
static qn_err ask(void *ctx, const struct qn_web *web, struct qn_error *e)
{
    struct asker *a = ctx;
    for (size_t i = 0; i < a->n; i++) {
        struct item *item = &a->items[i];
        struct qn_repo *now;
        struct qn_error why = {0};
        qn_err err = qn_hub_repo(a->api->hubs, web, &item->ref, &now, &why);
        if (err == QN_ECANCELLED)
            return qn_fail(e, err, "%s", why.message);
        if (err) {
            memcpy(item->why, why.message, sizeof why.message);
            continue;
        }
        item->newer = is_newer(a, item, now);
        qn_repo_free(now);
    }
    return QN_OK;
}

static void answer(const struct asker *a)
{
    struct qn_buf body;
    int64_t n = 0;
    qn_buf_init(&body, QN_API_REPLY_MAX);
    for (size_t i = 0; i < a->n; i++)
        n += a->items[i].newer;
    struct qn_jw w = qn_jw_to(&body);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "status", "success");
    qn_jw_ki64(&w, "updates_available", n);
    qn_jw_key(&w, "models");
    qn_jw_arr(&w);
    for (size_t i = 0; i < a->n; i++)
        if (a->items[i].newer)
            qn_jw_str(&w, a->items[i].name);
    qn_jw_arr_end(&w);
    qn_jw_ki64(&w, "checked", (int64_t)a->n);
    qn_jw_key(&w, "not_checked");
    qn_jw_arr(&w);
    for (size_t i = 0; i < a->n; i++)
        if (*a->items[i].why) {
            qn_jw_obj(&w);
            qn_jw_kstr(&w, "model_name", a->items[i].name);
            qn_jw_kstr(&w, "message", a->items[i].why);
            qn_jw_obj_end(&w);
        }
    qn_jw_arr_end(&w);
    qn_jw_obj_end(&w);
    qn_answer_json(a->http, 200, &body);
    qn_buf_deinit(&body);
}

static void asker_free(struct asker *a)
{
    for (size_t i = 0; i < a->n; i++) {
        free(a->items[i].name);
        free(a->items[i].commit);
    }
    free(a->items);
    free(a);
}

static void done(void *ctx, const struct qn_error *e)
{
    struct asker *a = ctx;
    for (size_t i = 0; i < a->n && !e; i++)
        if (!*a->items[i].why)
            qn_updates_set(a->api->updates, a->items[i].name, a->items[i].commit,
                           a->items[i].newer);
    if (a->http) {
        qn_http_on_gone(a->http, NULL, NULL);
        if (e)
            qn_answer_error(a->http, e);
        else
            answer(a);
    }
    asker_free(a);
}

/* Collects the models that came from a hub with a known commit. */
static void collect(struct asker *a)
{
    struct qn_snapshot *snap = qn_catalog_snapshot(a->api->puller->models->catalog);
    size_t n = qn_snapshot_count(snap);
    a->items = qn_xcalloc((n < CHECKED_MAX ? n : CHECKED_MAX) + 1, sizeof *a->items);
    for (size_t i = 0; i < n && a->n < CHECKED_MAX; i++) {
        const struct qn_model_row *row = qn_snapshot_at(snap, i);
        struct item *item = &a->items[a->n];
        enum qn_hub_kind hub = qn_hub_kind_parse(row->hub);
        if (!row->n_files || !*row->commit || *row->base || hub > QN_HUB_OLLAMA ||
            qn_ref_parse(row->checkpoint, hub == QN_HUB_MODELSCOPE ? hub : QN_HUB_HF, &item->ref,
                         NULL) ||
            item->ref.hub != hub)
            continue;
        if (!*item->ref.revision && hub != QN_HUB_OLLAMA &&
            strlen(row->revision) <= QN_REF_REVISION_MAX)
            memcpy(item->ref.revision, row->revision, strlen(row->revision) + 1);
        item->name = qn_xstrdup(row->name);
        item->commit = qn_xstrdup(row->commit);
        a->n++;
    }
    qn_snapshot_unref(snap);
}

void qn_api_check_updates(const struct qn_hubs_api *api, struct qn_http *h, const char *id)
{
    struct qn_error e = {0};
    (void)id;
    if (qn_web_is_offline(api->puller->web)) {
        qn_answer_plain(h, 409, "lemond_offline",
                        "The server is offline (the setting offline): it contacts no hub");
        return;
    }
    struct asker *a = qn_xcalloc(1, sizeof *a);
    a->api = api;
    a->http = h;
    collect(a);
    if (qn_inquire(api->inquiries, qn_client_owner(h), ask, done, a, &a->inquiry, &e)) {
        qn_answer_error(h, &e);
        asker_free(a);
        return;
    }
    qn_http_on_gone(h, gone, a);
}
