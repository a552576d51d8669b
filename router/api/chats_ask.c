/* See chats_ask.h. */
#include "api/chats_ask.h"

#include "answers/answer.h"
#include "api/api.h"
#include "api/chat_json.h"
#include "api/chats_load.h"
#include "base/buf.h"
#include "io/body.h"
#include "io/loop.h"

#include <stdlib.h>
#include <string.h>

enum {
    RENDERED_ON_LOOP_MAX = 256 * 1024, /* bytes of a result that is written at once */
    REPLY_MAX = 1024 * 1024 * 1024
};

/* A worker's task: parsing a body. */
struct reading {
    struct qn_chats_ask *ask;
    struct qn_body *body;
    const char *data;
    size_t n;
    struct qn_json *doc;
    struct qn_error error;
    void (*then)(struct qn_chats_ask *a, const struct qn_jref *root);
};

/* A worker's task: writing a reply. */
struct rendering {
    struct qn_chats_ask *ask;
    struct qn_chats_found found;
    struct qn_arena *texts;
    struct qn_buf out;
};

struct qn_chats_ask *
qn_chats_ask_new(const struct qn_chats_api *api, struct qn_http *h, const char *id,
                 void (*write)(struct qn_jw *w, const struct qn_chats_found *found))
{
    struct qn_caller caller;
    struct qn_chats_ask *a = qn_xcalloc(1, sizeof *a);
    qn_auth_caller(api->serving->auth, h, &caller);
    a->api = api;
    memcpy(a->owner, caller.owner, sizeof a->owner);
    a->id = id ? qn_xstrdup(id) : NULL;
    a->status = 200;
    a->write = write;
    qn_waiting_begin(&a->client, h);
    return a;
}

static void ask_free(struct qn_chats_ask *a)
{
    if (a->heavy)
        qn_chats_load_end(a->api->load, QN_CHATS_READING, a->owner);
    free(a->id);
    free(a);
}

void qn_chats_ask_write_done(struct qn_jw *w, const struct qn_chats_found *found)
{
    (void)found;
    qn_jw_obj(w);
    qn_jw_kstr(w, "status", "success");
    qn_jw_obj_end(w);
}

void qn_chats_ask_fail(struct qn_chats_ask *a, const struct qn_error *e)
{
    (void)qn_waiting_end(&a->client, e);
    ask_free(a);
}

/* ---- the body ---- */

/* Runs on a worker. */
static void parse(void *ctx)
{
    struct reading *r = ctx;
    (void)qn_api_object(r->data, r->n, false, &r->doc, &r->error); /* parsed() checks r->error */
}

static void parsed(void *ctx)
{
    struct reading *r = ctx;
    if (!r->error.code && r->ask->api->serving->closed)
        qn_fail(&r->error, QN_EBUSY, "the server is stopping");
    if (r->error.code) {
        qn_chats_ask_fail(r->ask, &r->error);
    } else {
        struct qn_jref root = qn_json_root(r->doc);
        r->then(r->ask, &root);
    }
    qn_json_free(r->doc);
    qn_body_deinit(r->body);
    free(r->body);
    free(r);
}

void qn_chats_ask_body(struct qn_chats_ask *a, size_t max,
                       void (*then)(struct qn_chats_ask *a, const struct qn_jref *root))
{
    struct qn_json *doc;
    struct qn_error e = {0};
    size_t n;
    const char *body = qn_http_body(a->client.http, &n);
    if (n > max)
        qn_fail(&e, QN_ELIMIT, "the request body has %zu bytes: this endpoint takes at most %zu", n,
                max);
    if (!e.code && n > QN_API_BODY_MAX) {
        struct reading *r = qn_xcalloc(1, sizeof *r);
        r->ask = a;
        r->then = then;
        r->body = qn_http_body_take(a->client.http, &r->data, &r->n);
        qn_loop_work(a->api->serving->loop, parse, parsed, r);
        return;
    }
    if (e.code || qn_api_object(body, n, false, &doc, &e)) {
        qn_chats_ask_fail(a, &e);
        return;
    }
    struct qn_jref root = qn_json_root(doc);
    then(a, &root);
    qn_json_free(doc);
}

/* ---- the reply ---- */

/* Any thread. */
static void render(void *ctx)
{
    struct rendering *r = ctx;
    struct qn_jw w = qn_jw_to(&r->out);
    r->ask->write(&w, &r->found);
}

static void free_rendering(void *ctx)
{
    struct rendering *r = ctx;
    qn_buf_deinit(&r->out);
    qn_arena_free(r->texts);
    free(r);
}

static void rendered(void *ctx)
{
    struct rendering *r = ctx;
    struct qn_chats_ask *a = r->ask;
    struct qn_error e = {0};
    if (r->out.overflow)
        qn_fail(&e, QN_ELIMIT, "the reply is too long");
    if (qn_waiting_end(&a->client, NULL)) {
        qn_http_set_header(a->client.http, "Cache-Control", "no-store");
        if (e.code)
            qn_answer_error(a->client.http, &e);
        else
            qn_http_reply_taking(a->client.http, a->status, "application/json", &r->out);
    }
    /* Freeing megabytes takes a while, too. */
    if (r->texts)
        qn_loop_work(a->api->serving->loop, free_rendering, NULL, r);
    else
        free_rendering(r);
    ask_free(a);
}

void qn_chats_ask_found(void *ctx, const struct qn_chats_found *found)
{
    struct qn_chats_ask *a = ctx;
    if (found->e || !a->client.http) {
        if (qn_waiting_end(&a->client, NULL))
            qn_api_chat_problem(a->client.http, found->e);
        ask_free(a);
        return;
    }
    struct rendering *r = qn_xcalloc(1, sizeof *r);
    r->ask = a;
    r->found = *found;
    qn_buf_init(&r->out, REPLY_MAX);
    if (qn_arena_used(*found->arena) > RENDERED_ON_LOOP_MAX) {
        r->texts = *found->arena;
        *found->arena = NULL;
        qn_loop_work(a->api->serving->loop, render, rendered, r);
    } else {
        render(r);
        rendered(r);
    }
}
