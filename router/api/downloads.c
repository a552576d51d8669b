/* GET downloads and POST downloads/control: the jobs that POST pull has begun, and what may be done
 * with them. */
#include "api/api.h"

#include "access/auth.h"
#include "answers/answer.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/str.h"
#include "downloads/pulls.h"

#include <stdio.h>

/* How long completed jobs are listed when nobody asks for all. */
enum { COMPLETED_S = 30, BODY_MAX = 16 * 1024 * 1024 };

struct listing {
    struct qn_jw w;
    bool all, paths;
    int64_t now_s;
};

static void list_one(void *ctx, const struct qn_pull_view *v)
{
    struct listing *l = ctx;
    if (l->all || !qn_str_eq(v->status, "completed") || v->changed_s + COMPLETED_S >= l->now_s) {
        struct qn_pull_view shown = *v;
        shown.main_ref = qn_api_shown_path(v->main_ref, l->paths);
        qn_pull_view_job(&shown, &l->w);
    }
}

void qn_api_downloads(struct qn_services *sv, struct qn_http *h, const char *id)
{
    struct qn_buf body;
    (void)id;
    qn_buf_init(&body, BODY_MAX);
    struct listing l = {.w = qn_jw_to(&body),
                        .all = qn_str_eq(qn_http_query(h, "all"), "true"),
                        .paths = qn_api_sees_paths(sv, h),
                        .now_s = qn_wall_ms() / 1000};
    qn_jw_arr(&l.w);
    qn_pulls_each(sv->pulls, list_one, &l);
    qn_jw_arr_end(&l.w);
    qn_answer_json(h, 200, &body);
    qn_buf_deinit(&body);
}

static void write_job(void *ctx, const struct qn_pull_view *v)
{
    struct qn_jw w = qn_jw_to(ctx);
    qn_pull_view_job(v, &w);
}

static const struct {
    const char *name;
    enum qn_pull_control what;
} actions[] = {{"pause", QN_PULL_DO_PAUSE},
               {"resume", QN_PULL_DO_RESUME},
               {"cancel", QN_PULL_DO_CANCEL},
               {"remove", QN_PULL_DO_REMOVE}};
enum { ACTIONS = sizeof actions / sizeof *actions };

static qn_err control(struct qn_services *sv, const struct qn_jref *root, const char *job,
                      const char *action, struct qn_error *e)
{
    for (size_t i = 0; i < ACTIONS; i++)
        if (qn_str_eq(actions[i].name, action))
            return qn_pulls_control(sv->pulls, job, actions[i].what, e);
    struct qn_jref v = qn_json_get(root, "action");
    if (!qn_str_eq(action, "priority"))
        return qn_json_fail(
            &v, e, "'%.40s' is no action: pause, resume, cancel, remove and priority are", action);
    int64_t priority = 0;
    v = qn_json_get(root, "priority");
    qn_err err = qn_json_i64(&v, -QN_PULL_PRIORITY_MAX, QN_PULL_PRIORITY_MAX, &priority, e);
    return err ? err : qn_pulls_set_priority(sv->pulls, job, priority, e);
}

static void take_owner(void *ctx, const struct qn_pull_view *v)
{
    snprintf(ctx, QN_OWNER_MAX + 1, "%s", v->owner);
}

/* True for the owner of a download and for admins; else the client has been answered. What there is
 * not, is nobody's. */
static bool may_control(struct qn_services *sv, struct qn_http *h, const char *job)
{
    char owner[QN_OWNER_MAX + 1];
    struct qn_caller caller;
    qn_auth_caller(sv->auth, h, &caller);
    return !qn_pulls_view(sv->pulls, job, take_owner, owner) || qn_str_eq(owner, caller.owner) ||
           qn_api_need_admin(sv, h);
}

void qn_api_downloads_control(struct qn_services *sv, struct qn_http *h, const char *id)
{
    struct qn_json *doc;
    struct qn_error e = {0};
    const char *job = NULL, *action = NULL;
    bool removal = false;
    (void)id;
    qn_err err = qn_api_body(h, false, &doc, &e);
    if (!err) {
        struct qn_jref root = qn_json_root(doc), v = qn_json_get(&root, "id");
        err = qn_json_str(&v, &job, &e);
        v = qn_json_get(&root, "action");
        if (!err)
            err = qn_json_str(&v, &action, &e);
        removal = !err && qn_str_eq(action, "remove");
        if (!err && !may_control(sv, h, job)) {
            qn_json_free(doc);
            return;
        }
        if (!err)
            err = control(sv, &root, job, action, &e);
    }
    struct qn_buf body;
    qn_buf_init(&body, BODY_MAX);
    if (removal && err == QN_ENOTFOUND) {
        qn_buf_str(&body, "{\"status\":\"ok\",\"missing\":true}");
        qn_answer_json(h, 200, &body);
    } else if (err) {
        qn_answer_error(h, &e);
    } else {
        if (!qn_pulls_view(sv->pulls, job, write_job, &body))
            qn_buf_str(&body, "{\"status\":\"ok\"}");
        qn_answer_json(h, 200, &body);
    }
    qn_buf_deinit(&body);
    qn_json_free(doc);
}
