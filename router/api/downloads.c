/* GET downloads and POST downloads/control: lists the jobs that POST pull has started, and controls
 * them. */
#include "api/api.h"

#include "access/auth.h"
#include "answers/answer.h"
#include "api/pull.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/str.h"
#include "downloads/pulls.h"

/* How long completed jobs are listed without all=true. */
enum { COMPLETED_S = 30, BODY_MAX = 16 * 1024 * 1024 };

struct listing {
    struct qn_jw w;
    const struct qn_http *http;
    bool all;
    int64_t now_s;
};

static void list_one(void *ctx, const struct qn_pull_view *v)
{
    struct listing *l = ctx;
    if (l->all || !qn_str_eq(v->status, "completed") || v->changed_s + COMPLETED_S >= l->now_s) {
        qn_api_pull_job(l->http, v, &l->w);
    }
}

void qn_api_downloads(const struct qn_pulls_api *api, struct qn_http *h, const char *id)
{
    struct qn_buf body;
    (void)id;
    qn_buf_init(&body, BODY_MAX);
    struct listing l = {.w = qn_jw_to(&body),
                        .all = qn_str_eq(qn_http_query(h, "all"), "true"),
                        .http = h,
                        .now_s = qn_wall_ms() / 1000};
    qn_jw_arr(&l.w);
    qn_pulls_each(api->puller->pulls, list_one, &l);
    qn_jw_arr_end(&l.w);
    qn_answer_json(h, 200, &body);
    qn_buf_deinit(&body);
}

static void write_job(void *ctx, const struct qn_pull_view *v)
{
    struct listing *l = ctx;
    qn_api_pull_job(l->http, v, &l->w);
}

static const struct {
    const char *name;
    enum qn_pull_control what;
} actions[] = {{"pause", QN_PULL_DO_PAUSE},
               {"resume", QN_PULL_DO_RESUME},
               {"cancel", QN_PULL_DO_CANCEL},
               {"remove", QN_PULL_DO_REMOVE}};
enum { ACTIONS = sizeof actions / sizeof *actions };

static qn_err control(const struct qn_pulls_api *api, const struct qn_jref *root, const char *job,
                      const char *action, struct qn_error *e)
{
    for (size_t i = 0; i < ACTIONS; i++)
        if (qn_str_eq(actions[i].name, action))
            return qn_pulls_control(api->puller->pulls, job, actions[i].what, e);
    struct qn_jref v = qn_json_get(root, "action");
    if (!qn_str_eq(action, "priority"))
        return qn_json_fail(
            &v, e, "'%.40s' is not an action: pause, resume, cancel, remove and priority are",
            action);
    int64_t priority = 0;
    v = qn_json_get(root, "priority");
    qn_err err = qn_json_i64(&v, -QN_PULL_PRIORITY_MAX, QN_PULL_PRIORITY_MAX, &priority, e);
    return err ? err : qn_pulls_set_priority(api->puller->pulls, job, priority, e);
}

static bool refuse(struct qn_http *h, const char *message)
{
    qn_answer_plain(h, qn_verdict_status(QN_NO_ADMIN), qn_verdict_type(QN_NO_ADMIN), message);
    return false;
}

/* True if the caller may do this with the job, or the job does not exist; otherwise the client has
 * been answered. *shared: other owners asked for the job, too, so only the caller's share of it
 * ends. */
static bool may_control(const struct qn_pulls_api *api, struct qn_http *h,
                        const struct qn_jref *root, const char *job, const char *action,
                        bool *shared)
{
    enum qn_pull_share share = QN_PULL_OWN;
    struct qn_jref v = qn_json_get(root, "priority");
    int64_t priority = 0;
    struct qn_caller caller;
    qn_auth_caller(api->serving->auth, h, &caller);
    *shared = false;
    if (caller.admin || !qn_pulls_share(api->puller->pulls, job, caller.owner, &share))
        return true;
    if (share == QN_PULL_OF_OTHERS)
        return qn_api_need_admin(api->serving, h);
    bool rises = qn_str_eq(action, "priority") &&
                 qn_json_i64_opt(&v, INT64_MIN, INT64_MAX, &priority, NULL) == QN_OK &&
                 priority > 0;
    if (rises)
        return refuse(h, QN_API_PRIORITY_FOR_ADMINS);
    *shared =
        share == QN_PULL_OF_SEVERAL && (qn_str_eq(action, "cancel") || qn_str_eq(action, "remove"));
    if (share == QN_PULL_OF_SEVERAL && !*shared && !qn_str_eq(action, "resume"))
        return refuse(h, "other owners have requested this download, too: only an admin key may "
                         "pause it or change its priority");
    return true;
}

void qn_api_downloads_control(const struct qn_pulls_api *api, struct qn_http *h, const char *id)
{
    struct qn_json *doc;
    struct qn_error e = {0};
    const char *job = NULL, *action = NULL;
    bool removal = false, shared = false;
    (void)id;
    qn_err err = qn_api_body(h, false, &doc, &e);
    if (!err) {
        struct qn_jref root = qn_json_root(doc), v = qn_json_get(&root, "id");
        err = qn_json_str(&v, &job, &e);
        v = qn_json_get(&root, "action");
        if (!err)
            err = qn_json_str(&v, &action, &e);
        removal = !err && qn_str_eq(action, "remove");
        if (!err && !may_control(api, h, &root, job, action, &shared)) {
            qn_json_free(doc);
            return;
        }
        if (!err && shared) {
            struct qn_caller caller;
            qn_auth_caller(api->serving->auth, h, &caller);
            qn_pulls_give_up(api->puller->pulls, job, caller.owner);
        } else if (!err) {
            err = control(api, &root, job, action, &e);
        }
    }
    struct qn_buf body;
    qn_buf_init(&body, BODY_MAX);
    if (removal && err == QN_ENOTFOUND) {
        qn_buf_str(&body, "{\"status\":\"ok\",\"missing\":true}");
        qn_answer_json(h, 200, &body);
    } else if (err) {
        qn_answer_error(h, &e);
    } else {
        struct listing l = {.w = qn_jw_to(&body), .http = h};
        if (!qn_pulls_view(api->puller->pulls, job, write_job, &l))
            qn_buf_str(&body, "{\"status\":\"ok\"}");
        qn_answer_json(h, 200, &body);
    }
    qn_buf_deinit(&body);
    qn_json_free(doc);
}
