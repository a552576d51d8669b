/* POST health/warm: loads a model and waits until it can generate its first token, as in LocalLLM.
 * It does not use the slots that requests wait for. */
#include "api/api.h"

#include "access/auth.h"
#include "access/client_id.h"
#include "answers/answer.h"
#include "answers/hide_paths.h"
#include "base/clock.h"
#include "base/rand.h"
#include "base/str.h"
#include "contract/capabilities.h"
#include "infer/model_choice.h"
#include "models/admission.h"
#include "models/inventory.h"
#include "models/upstream.h"

#include <stdlib.h>

enum { LIMIT_MS = 60 * 1000 };

/* A model of Android's, which LocalLLM's clients ask for by this name. */
static const char aicore[] = "gemini-nano-aicore";

struct warming {
    const struct qn_models_api *api;
    struct qn_http *http;
    const char *model; /* in the request's arena; NULL: none */
    struct qn_lease *lease;
    struct qn_upstream *up; /* NULL: no token is being generated */
    struct qn_timer *limit;
    int64_t began_ms;
};

static void warming_free(struct warming *a)
{
    if (a->up)
        qn_upstream_cancel(a->up);
    qn_lease_release(a->lease);
    qn_timer_stop(a->limit);
    free(a);
}

static void gone(void *ctx)
{
    warming_free(ctx);
}

/* Answers with these members, and the elapsed time. Strings MAY be NULL: omitted. */
static void answer(struct warming *a, int status, const char *word, const char *key,
                   const char *text)
{
    struct qn_http *h = a->http;
    struct qn_buf body;
    qn_buf_init(&body, QN_API_REPLY_MAX);
    struct qn_jw w = qn_jw_to(&body);
    qn_jw_obj(&w);
    if (status == 200)
        qn_jw_kstr(&w, "model", a->model);
    qn_jw_kstr(&w, "status", word);
    if (status == 200)
        qn_jw_kbool(&w, "engine_loaded", true);
    char shown[QN_ERROR_MESSAGE_MAX];
    if (status != 200 && text && !qn_auth_sees_inside(h)) {
        qn_hide_paths(text, shown, sizeof shown);
        text = shown;
    }
    if (key)
        qn_jw_kstr(&w, key, text);
    qn_jw_ki64(&w, "ms", qn_now_ms() - a->began_ms);
    qn_jw_obj_end(&w);
    qn_http_on_gone(h, NULL, NULL);
    warming_free(a);
    if (status != 200)
        qn_http_set_header(h, "Retry-After", "1");
    qn_answer_json(h, status, &body);
    qn_buf_deinit(&body);
}

static void too_late(void *ctx)
{
    answer(ctx, 504, "timeout", NULL, NULL);
}

static void on_event(void *ctx, const struct qn_event *ev)
{
    struct warming *a = ctx;
    if (ev->kind != QN_EV_ERROR && ev->kind != QN_EV_END)
        return;
    a->up = NULL;
    if (ev->kind == QN_EV_END)
        answer(a, 200, "warm", NULL, NULL);
    else
        answer(a, 503, "error", "error", ev->error.message);
}

static bool can_talk(struct warming *a)
{
    struct qn_snapshot *snap;
    const struct qn_model_row *row;
    if (qn_inventory_find(a->api->models->inventory, a->model, &snap, &row, NULL))
        return false;
    bool can = qn_inventory_can(a->api->models->inventory, row, QN_CAN_COMPLETE);
    qn_snapshot_unref(snap);
    return can;
}

/* Generates one token, which exercises all that a request does. */
static void loaded(void *ctx, const struct qn_error *why)
{
    struct warming *a = ctx;
    struct qn_error e = {0};
    if (why) {
        a->lease = NULL;
        answer(a, 503, "error", "error", why->message);
        return;
    }
    if (!can_talk(a)) {
        answer(a, 200, "warm", NULL, NULL);
        return;
    }
    char id[QN_REQUEST_ID_DIGITS + 1];
    struct qn_job job;
    qn_random_hex(id, QN_REQUEST_ID_DIGITS);
    qn_job_init(&job);
    job.task = QN_TASK_COMPLETE;
    job.id = id;
    job.complete.prompt = "Hi";
    job.sampling.max_tokens = 1;
    if (qn_upstream_start(qn_lease_child(a->lease), &job, on_event, a, &a->up, &e))
        answer(a, 503, "error", "error", e.message);
}

void qn_api_warm(const struct qn_models_api *api, struct qn_http *h, const char *id)
{
    struct warming *a = qn_xcalloc(1, sizeof *a);
    struct qn_error e = {0};
    int64_t limit_ms;
    (void)id;
    a->api = api;
    a->http = h;
    a->began_ms = qn_now_ms();
    a->model = qn_http_query(h, "model");
    if (!a->model || !*a->model)
        a->model = qn_choice_stand_in(api->models, qn_http_arena(h));
    if (qn_admission_limit(h, LIMIT_MS, &limit_ms, &e)) {
        qn_answer_error(h, &e);
        free(a);
        return;
    }
    qn_http_on_gone(h, gone, a);
    a->limit = qn_timer_start(api->serving->loop, limit_ms, 0, too_late, a);
    if (qn_str_eq(a->model, aicore)) {
        answer(a, 503, "aicore_not_ready", "aicore_status", "unavailable");
        return;
    }
    qn_err err = QN_OK;
    if (api->serving->stopping)
        err = qn_fail(&e, QN_EBUSY, "the server is stopping");
    else if (!a->model)
        err = qn_fail(&e, QN_ENOTFOUND, "no model is installed: `quince pull NAME` downloads one");
    if (!err)
        err = qn_inventory_acquire(api->models->inventory, a->model, NULL, qn_client_owner(h),
                                   loaded, a, &a->lease, &e);
    if (err)
        answer(a, 503, "error", "error", e.message);
}
