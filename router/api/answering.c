/* POST /internal/messages/{id}/answer and /stop: answers that the server writes into a stored
 * conversation. */
#include "answering/answering.h"

#include "access/client_id.h"
#include "answering/body.h"
#include "answers/answer.h"
#include "api/api.h"
#include "api/chat_json.h"
#include "api/waiting.h"
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARAMS_MAX = QN_CHATS_JSON_MAX };

/* ---- answer ---- */

struct beginning {
    struct qn_waiting waiting;
};

/* Sends the last message that was found, or the error. */
static void answer_message(struct qn_http *h, int status, const struct qn_chats_found *found)
{
    if (found->e)
        qn_api_chat_problem(h, found->e);
    else
        qn_api_chat_message_answer(h, status, &found->messages[found->n_messages - 1]);
}

static void begun(void *ctx, const struct qn_chats_found *found)
{
    struct beginning *b = ctx;
    if (qn_waiting_end(&b->waiting, NULL))
        answer_message(b->waiting.http, 202, found);
    free(b);
}

/* Writes the parameters that are stored with the answer: "params", and the members beside it that
 * are parameters, too. */
static qn_err read_params(const struct qn_jref *root, struct qn_buf *out, struct qn_error *e)
{
    static const char *const beside[] = {"think", "tools", "mcp"};
    struct qn_jref params = qn_json_get(root, "params"), it;
    enum qn_json_type type = qn_json_type(&params);
    if (type > QN_JSON_NULL && type != QN_JSON_OBJECT)
        return qn_json_fail(&params, e, "expected an object");
    struct qn_jw w = qn_jw_to(out);
    qn_jw_obj(&w);
    for (bool more = qn_json_first(&params, &it); more; more = qn_json_next(&it)) {
        qn_jw_key(&w, it.key);
        qn_jw_value(&w, &it);
    }
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
        struct qn_jref v = qn_json_get(root, beside[i]);
        if (qn_json_type(&v) <= QN_JSON_NULL)
            continue;
        qn_jw_key(&w, beside[i]);
        qn_jw_value(&w, &v);
    }
    qn_jw_obj_end(&w);
    return out->overflow
               ? qn_fail_param(e, QN_ELIMIT, "params", "params: more than %d bytes", PARAMS_MAX)
               : qn_answer_params_check(qn_buf_cstr(out), e);
}

static qn_err read_wish(const struct qn_jref *root, struct qn_answer_wish *wish,
                        struct qn_buf *params, struct qn_error *e)
{
    static const char *const known[] = {"model", "params", "continue", "think",
                                        "tools", "mcp",    NULL};
    struct qn_jref model = qn_json_get(root, "model"), more = qn_json_get(root, "continue");
    qn_err err = qn_api_members_known(root, known, e);
    if (!err)
        err = qn_json_str(&model, &wish->model, e);
    if (!err && (!*wish->model || strlen(wish->model) > QN_CHATS_NAME_MAX))
        err = qn_json_fail(&model, e, "expected 1 to %d bytes", QN_CHATS_NAME_MAX);
    if (!err)
        err = qn_json_bool_opt(&more, &wish->more, e);
    if (!err)
        err = read_params(root, params, e);
    wish->params = qn_buf_cstr(params);
    return err;
}

void qn_api_answer(const struct qn_answering_api *api, struct qn_http *h, const char *id)
{
    struct qn_error e = {0};
    struct qn_json *doc = NULL;
    struct qn_buf params;
    struct qn_answer_wish wish = {.client = qn_client_id(h),
                                  .share = qn_client_owner(h),
                                  .profile = qn_request_profile(h),
                                  .message = id};
    qn_auth_caller(api->serving->auth, h, &wish.caller);
    qn_buf_init(&params, PARAMS_MAX);
    qn_err err = qn_api_chat_id_check(id, "message", &e);
    if (!err)
        err = qn_api_body(h, false, &doc, &e);
    if (!err) {
        struct qn_jref root = qn_json_root(doc);
        err = read_wish(&root, &wish, &params, &e);
    }
    struct beginning *b = qn_xcalloc(1, sizeof *b);
    qn_waiting_begin(&b->waiting, h);
    if (!err)
        err = qn_answering_begin(api->answering, &wish, begun, b, &e);
    if (err) {
        bool too_many = qn_str_eq(e.param, QN_ANSWERING_TOO_MANY);
        qn_waiting_never_mind(&b->waiting);
        qn_answer_problem(h, &(struct qn_problem){.error = &e, .status = too_many ? 429 : 0});
        free(b);
    }
    qn_json_free(doc);
    qn_buf_deinit(&params);
}

/* ---- stop ---- */

struct stopping {
    const struct qn_answering_api *api;
    struct qn_waiting waiting;
    struct qn_answer_watcher watcher;
    char id[QN_CHATS_ID_DIGITS + 1];
    char owner[QN_OWNER_MAX + 1];
    bool mended;
};

static void read_back(struct stopping *s);

static void mended(void *ctx, const struct qn_chats_found *found)
{
    (void)found;
    read_back(ctx);
}

static void answer_stopped(void *ctx, const struct qn_chats_found *found)
{
    struct stopping *s = ctx;
    const struct qn_chat_message *m = found->n_messages ? &found->messages[0] : NULL;
    bool unfinished = m && (m->state == QN_CHAT_QUEUED || m->state == QN_CHAT_ANSWERING);
    /* The end of an answer could not be stored. */
    if (unfinished && !s->mended && !s->api->serving->closed) {
        s->mended = true;
        qn_chats_finish(s->api->chats, s->id, &(struct qn_chat_end){.state = QN_CHAT_INTERRUPTED},
                        mended, s);
        return;
    }
    if (qn_waiting_end(&s->waiting, NULL))
        answer_message(s->waiting.http, 200, found);
    free(s);
}

static void read_back(struct stopping *s)
{
    qn_chats_read_message(s->api->chats, s->owner, s->id, answer_stopped, s);
}

static void ending(void *ctx)
{
    struct stopping *s = ctx;
    enum qn_chat_state state = qn_answering_view(&s->watcher)->state;
    if (state == QN_CHAT_QUEUED || state == QN_CHAT_ANSWERING)
        return;
    qn_answering_unwatch(&s->watcher);
    if (s->api->serving->closed) /* and with it the database */
        free(s);
    else
        read_back(s);
}

static qn_err read_stop(struct qn_http *h, bool *reasoning, struct qn_error *e)
{
    static const char *const known[] = {"reasoning", NULL};
    struct qn_json *doc;
    qn_err err = qn_api_body(h, true, &doc, e);
    if (err || !doc)
        return err;
    struct qn_jref root = qn_json_root(doc), v = qn_json_get(&root, "reasoning");
    err = qn_api_members_known(&root, known, e);
    if (!err)
        err = qn_json_bool_opt(&v, reasoning, e);
    qn_json_free(doc);
    return err;
}

/* The answer goes on, so that there is no message to show yet. */
static void stop_reasoning(const struct qn_answering_api *api, struct qn_http *h, const char *owner,
                           const char *id)
{
    struct qn_error e = {0};
    if (qn_answering_end_reasoning(api->answering, owner, id, &e))
        qn_answer_error(h, &e);
    else
        qn_http_reply(h, 202, "application/json", "{}", 2);
}

void qn_api_answer_stop(const struct qn_answering_api *api, struct qn_http *h, const char *id)
{
    struct qn_error e = {0};
    struct qn_caller caller;
    bool reasoning = false;
    qn_auth_caller(api->serving->auth, h, &caller);
    qn_err err = qn_api_chat_id_check(id, "message", &e);
    if (!err)
        err = read_stop(h, &reasoning, &e);
    if (err) {
        qn_answer_error(h, &e);
        return;
    }
    if (reasoning) {
        stop_reasoning(api, h, caller.owner, id);
        return;
    }
    struct stopping *s = qn_xcalloc(1, sizeof *s);
    s->api = api;
    snprintf(s->id, sizeof s->id, "%s", id);
    snprintf(s->owner, sizeof s->owner, "%s", caller.owner);
    s->watcher = (struct qn_answer_watcher){.more = ending, .ctx = s};
    qn_waiting_begin(&s->waiting, h);
    if (qn_answering_watch(api->answering, s->owner, id, &s->watcher))
        qn_answering_end(api->answering, s->owner, id);
    else
        read_back(s);
}
