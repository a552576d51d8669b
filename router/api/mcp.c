/* Endpoints internal/mcp: list, add, change, remove and refresh the MCP servers of an owner.
 * Servers that are programs (stdio) can only be added, changed and refreshed by admins. */
#include "access/auth.h"
#include "answers/answer.h"
#include "api/api.h"
#include "api/chat_json.h"
#include "api/mcp_json.h"
#include "api/waiting.h"
#include "base/str.h"
#include "mcp_servers/permissions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An HTTP request that waits for the database or for an MCP server. */
struct mcp_ask {
    struct qn_waiting client;
    const struct qn_mcp_api *api;
    struct qn_caller caller;
    char id[QN_CHATS_ID_DIGITS + 1]; /* id in the path; "": none */
    int status;                      /* HTTP status of the reply */
    struct qn_json *doc;             /* the parsed body; NULL: none */
    struct qn_mcp_members members;
    bool has_members;
    struct qn_mcp_want want;
    struct qn_arena *arena; /* memory of `stored` */
    const struct qn_chat_mcp *stored;
    void (*then)(struct mcp_ask *a); /* called when the stored server has been found */
};

static void ask_free(struct mcp_ask *a)
{
    if (a->has_members)
        qn_mcp_members_deinit(&a->members);
    qn_mcp_unwant(&a->want);
    qn_json_free(a->doc);
    qn_arena_free(a->arena);
    free(a);
}

static struct mcp_ask *ask_new(const struct qn_mcp_api *api, struct qn_http *h, const char *id)
{
    struct mcp_ask *a = qn_xcalloc(1, sizeof *a);
    a->api = api;
    a->status = 200;
    snprintf(a->id, sizeof a->id, "%s", id ? id : "");
    qn_auth_caller(api->serving->auth, h, &a->caller);
    qn_waiting_begin(&a->client, h);
    return a;
}

static void fail(struct mcp_ask *a, const struct qn_error *e)
{
    if (qn_waiting_end(&a->client, NULL))
        qn_api_chat_problem(a->client.http, e);
    ask_free(a);
}

static void refuse(struct mcp_ask *a)
{
    if (qn_waiting_end(&a->client, NULL))
        qn_answer_plain(a->client.http, qn_verdict_status(QN_NO_ADMIN),
                        qn_verdict_type(QN_NO_ADMIN), qn_verdict_text(QN_NO_ADMIN));
    ask_free(a);
}

static void write_server(struct mcp_ask *a, struct qn_jw *w, const struct qn_chat_mcp *stored)
{
    struct qn_mcp_view view;
    qn_mcp_look(a->api->mcp, stored->id, &view);
    qn_mcp_server_write(w, stored, &view);
}

static void reply(struct mcp_ask *a, struct qn_buf *body)
{
    if (qn_waiting_end(&a->client, NULL))
        qn_answer_json(a->client.http, a->status, body);
    qn_buf_deinit(body);
    ask_free(a);
}

static void reply_server(struct mcp_ask *a, const struct qn_chat_mcp *stored)
{
    struct qn_buf body;
    qn_buf_init(&body, QN_API_REPLY_MAX);
    struct qn_jw w = qn_jw_to(&body);
    write_server(a, &w, stored);
    reply(a, &body);
}

/* ---- finding the stored server ---- */

static void found_one(void *ctx, const struct qn_chats_found *found)
{
    struct mcp_ask *a = ctx;
    struct qn_error e = {0};
    if (found->e) {
        fail(a, found->e);
        return;
    }
    for (size_t i = 0; i < found->n_mcp; i++)
        if (qn_str_eq(found->mcp[i].id, a->id))
            a->stored = &found->mcp[i];
    a->arena = *found->arena;
    *found->arena = NULL;
    if (a->stored && a->api->serving->closed)
        qn_fail(&e, QN_EBUSY, "the server is stopping");
    else if (!a->stored)
        qn_fail_param(&e, QN_ENOTFOUND, "id", "there is no MCP server '%.40s'", a->id);
    if (e.code)
        fail(a, &e);
    else
        a->then(a);
}

static void find(struct mcp_ask *a, void (*then)(struct mcp_ask *a))
{
    struct qn_error e = {0};
    a->then = then;
    if (qn_api_chat_id_check(a->id, "MCP server", &e))
        fail(a, &e);
    else
        qn_chats_mcp_list(a->api->chats, a->caller.owner, found_one, a);
}

/* ---- reading ---- */

static void listed(void *ctx, const struct qn_chats_found *found)
{
    struct mcp_ask *a = ctx;
    struct qn_buf body;
    if (found->e) {
        fail(a, found->e);
        return;
    }
    qn_buf_init(&body, QN_API_REPLY_MAX);
    struct qn_jw w = qn_jw_to(&body);
    qn_jw_obj(&w);
    qn_jw_key(&w, "servers");
    qn_jw_arr(&w);
    for (size_t i = 0; i < found->n_mcp; i++)
        write_server(a, &w, &found->mcp[i]);
    qn_jw_arr_end(&w);
    qn_jw_obj_end(&w);
    reply(a, &body);
}

void qn_api_mcp_servers(const struct qn_mcp_api *api, struct qn_http *h, const char *id)
{
    struct mcp_ask *a = ask_new(api, h, id);
    qn_chats_mcp_list(api->chats, a->caller.owner, listed, a);
}

static void show(struct mcp_ask *a)
{
    reply_server(a, a->stored);
}

void qn_api_mcp_server(const struct qn_mcp_api *api, struct qn_http *h, const char *id)
{
    find(ask_new(api, h, id), show);
}

/* ---- changing ---- */

static void changed(void *ctx, const struct qn_chats_found *found)
{
    struct mcp_ask *a = ctx;
    if (found->e) {
        fail(a, found->e);
        return;
    }
    if (!a->api->serving->closed)
        qn_mcp_changed(a->api->mcp, &found->mcp[0]);
    reply_server(a, &found->mcp[0]);
}

/* Reads the request's body. Returns false, after an error reply, if it is not valid. */
static bool read_body(struct mcp_ask *a)
{
    struct qn_error e = {0};
    if (!qn_api_body(a->client.http, false, &a->doc, &e))
        return true;
    fail(a, &e);
    return false;
}

void qn_api_mcp_add(const struct qn_mcp_api *api, struct qn_http *h, const char *id)
{
    struct mcp_ask *a = ask_new(api, h, id);
    struct qn_error e = {0};
    if (!read_body(a))
        return;
    struct qn_jref root = qn_json_root(a->doc), kind = qn_json_get(&root, "kind");
    bool stdio = qn_str_eq(qn_json_raw_str(&kind), "stdio");
    if (!stdio && !qn_str_eq(qn_json_raw_str(&kind), "http")) {
        qn_json_fail(&kind, &e, "expected http or stdio");
        fail(a, &e);
        return;
    }
    if (stdio && !a->caller.admin) {
        refuse(a);
        return;
    }
    a->has_members = true;
    a->status = 201;
    if (qn_mcp_members_read(&root, stdio, NULL, &a->members, &e))
        fail(a, &e);
    else
        qn_chats_mcp_add(api->chats, a->caller.owner, stdio, &a->members.patch, changed, a);
}

static void change(struct mcp_ask *a)
{
    struct qn_error e = {0};
    struct qn_mcp_view view;
    struct qn_jref root = qn_json_root(a->doc);
    if (a->stored->stdio && !a->caller.admin) {
        refuse(a);
        return;
    }
    a->has_members = true;
    qn_mcp_look(a->api->mcp, a->id, &view);
    if (qn_mcp_members_read(&root, a->stored->stdio, &view, &a->members, &e))
        fail(a, &e);
    else
        qn_chats_mcp_change(a->api->chats, a->caller.owner, a->id, &a->members.patch, changed, a);
}

void qn_api_mcp_change(const struct qn_mcp_api *api, struct qn_http *h, const char *id)
{
    struct mcp_ask *a = ask_new(api, h, id);
    if (read_body(a))
        find(a, change);
}

static void removed(void *ctx, const struct qn_chats_found *found)
{
    struct mcp_ask *a = ctx;
    struct qn_buf body;
    if (found->e) {
        fail(a, found->e);
        return;
    }
    if (!a->api->serving->closed)
        qn_mcp_removed(a->api->mcp, a->id);
    qn_buf_init(&body, QN_API_REPLY_MAX);
    qn_buf_str(&body, "{\"status\":\"success\"}");
    reply(a, &body);
}

static void remove_it(struct mcp_ask *a)
{
    qn_chats_mcp_remove(a->api->chats, a->caller.owner, a->id, removed, a);
}

void qn_api_mcp_remove(const struct qn_mcp_api *api, struct qn_http *h, const char *id)
{
    find(ask_new(api, h, id), remove_it);
}

/* ---- refreshing ---- */

static void refreshed(void *ctx, const struct qn_error *e)
{
    struct mcp_ask *a = ctx;
    struct qn_mcp_view view;
    qn_mcp_look(a->api->mcp, a->stored->id, &view);
    if (!e) /* an error is part of the server's state, which the reply shows */
        qn_mcp_permissions_bind(a->api->chats, a->caller.owner, a->stored, &view);
    reply_server(a, a->stored);
}

static void refresh(struct mcp_ask *a)
{
    if (a->stored->stdio && !a->caller.admin) {
        refuse(a);
        return;
    }
    a->want = (struct qn_mcp_want){.fn = refreshed, .ctx = a};
    qn_mcp_want(a->api->mcp, a->stored, a->caller.owner, a->caller.admin, true, &a->want);
}

void qn_api_mcp_refresh(const struct qn_mcp_api *api, struct qn_http *h, const char *id)
{
    find(ask_new(api, h, id), refresh);
}
