/* Stored responses of the Responses API: show, list their input, delete. For clients other than the
 * owner a response does not exist. A response that is still being written cannot be requested, as
 * none is written in the background.
 *
 * Responses may be many megabytes of JSON; for large ones a worker makes the reply. */
#include "api/api.h"

#include "access/auth.h"
#include "answers/answer.h"
#include "base/buf.h"
#include "base/str.h"
#include "catalog/answers.h"
#include "dialects/openai/responses.h"
#include "io/loop.h"

#include <stdlib.h>
#include <string.h>

enum {
    PAGE_MAX = 100,
    PAGE = 20,
    SHOWN_ON_LOOP_MAX = 256 * 1024,     /* longest response that is parsed at once on the loop */
    SHOWN_ARENA_MAX = 512 * 1024 * 1024 /* more than any data made of one response */
};

/* A page of a list: which items, in which order. */
struct page {
    bool ascending;
    int64_t limit;
    const char *after; /* id of the item after which the page begins, or NULL */
};

/* A request that waits for the catalog and a worker, which cannot be cancelled. */
struct asker {
    struct qn_loop *loop;
    struct qn_http *http;                                /* NULL: the client has disconnected */
    void (*render)(struct asker *a, struct qn_error *e); /* any thread: sets out and type */
    struct qn_arena *arena;                              /* memory of the reply */
    struct qn_arena *texts;                              /* memory of the row */
    struct qn_answer_row row;
    struct page page;
    int64_t after;         /* number of the event after which a stream begins */
    struct qn_error wrong; /* error of the request; code QN_OK: none */
    struct qn_error error; /* error of rendering */
    struct qn_buf out;
    const char *type;
    const char *id;
    bool large;
};

static void gone(void *ctx)
{
    ((struct asker *)ctx)->http = NULL;
}

static struct asker *asker_new(const struct qn_models_api *api, struct qn_http *h, const char *id)
{
    struct asker *a = qn_xcalloc(1, sizeof *a);
    a->loop = api->serving->loop;
    a->http = h;
    a->arena = qn_arena_new(SHOWN_ARENA_MAX);
    a->id = qn_arena_strdup(a->arena, id);
    a->type = "application/json";
    a->after = -1;
    qn_buf_init(&a->out, QN_REPLY_MAX);
    qn_http_on_gone(h, gone, a);
    return a;
}

/* Any thread. */
static void free_asker(void *ctx)
{
    struct asker *a = ctx;
    qn_buf_deinit(&a->out);
    qn_arena_free(a->texts);
    qn_arena_free(a->arena);
    free(a);
}

static void asker_end(struct asker *a)
{
    if (a->large)
        qn_loop_work(a->loop, free_asker, NULL, a);
    else
        free_asker(a);
}

static void answer_missing(struct qn_http *h, const char *id)
{
    struct qn_error e = {0};
    qn_fail_param(&e, QN_ENOTFOUND, "response_id", "Response with id '%.80s' not found", id);
    qn_answer_error(h, &e);
}

/* Any thread. */
static void render(void *ctx)
{
    struct asker *a = ctx;
    a->render(a, &a->error);
    if (!a->error.code && a->out.overflow)
        qn_fail(&a->error, QN_ELIMIT, "the response is too long to be sent");
}

static void rendered(void *ctx)
{
    struct asker *a = ctx;
    if (a->http) {
        qn_http_on_gone(a->http, NULL, NULL);
        if (a->error.code)
            qn_answer_error(a->http, &a->error);
        else
            qn_http_reply_taking(a->http, 200, a->type, &a->out);
    }
    asker_end(a);
}

static void found(void *ctx, const struct qn_answers_found *f)
{
    struct asker *a = ctx;
    if (!a->http || f->e || f->n == 0 || a->wrong.code) {
        if (a->http) {
            qn_http_on_gone(a->http, NULL, NULL);
            if (!f->e && f->n == 0)
                answer_missing(a->http, a->id);
            else
                qn_answer_error(a->http, f->e ? f->e : &a->wrong);
        }
        asker_end(a);
        return;
    }
    a->row = f->rows[0];
    a->texts = *f->arena;
    *f->arena = NULL;
    a->large = strlen(a->row.input) + strlen(a->row.body) > SHOWN_ON_LOOP_MAX;
    if (a->large) {
        qn_loop_work(a->loop, render, rendered, a);
    } else {
        render(a);
        rendered(a);
    }
}

static void look_up(const struct qn_models_api *api, struct asker *a)
{
    const char *ids[] = {a->id};
    struct qn_caller caller;
    qn_auth_caller(api->serving->auth, a->http, &caller);
    struct qn_answers_of of = {caller.owner, caller.admin};
    qn_catalog_find_answers(api->models->catalog, &of, NULL, ids, 1, found, a);
}

static void show(struct asker *a, struct qn_error *e)
{
    (void)e;
    qn_buf_str(&a->out, a->row.body);
}

/* Replays the response as a stream. */
static void replay(struct asker *a, struct qn_error *e)
{
    a->type = "text/event-stream";
    (void)qn_responses_replay(a->row.body, a->after, a->arena, &a->out, e); /* e has the error */
}

void qn_api_response(const struct qn_models_api *api, struct qn_http *h, const char *id)
{
    struct asker *a = asker_new(api, h, id);
    const char *after = qn_http_query(h, "starting_after");
    bool stream = qn_str_eq(qn_http_query(h, "stream"), "true");
    if (stream && after &&
        (!qn_parse_i64(after, &a->after) || a->after < 0 || a->after > INT32_MAX))
        qn_fail_param(&a->wrong, QN_EINVAL, "starting_after",
                      "starting_after: expected the number of an event");
    a->render = stream ? replay : show;
    look_up(api, a);
}

/* OpenAI's own message for a response that was not created in the background. */
static void refuse_cancel(struct asker *a, struct qn_error *e)
{
    (void)a;
    qn_fail(e, QN_EINVAL, "Cannot cancel a synchronous response");
}

void qn_api_response_cancel(const struct qn_models_api *api, struct qn_http *h, const char *id)
{
    struct asker *a = asker_new(api, h, id);
    a->render = refuse_cancel;
    look_up(api, a);
}

static void dropped(void *ctx, const struct qn_error *e)
{
    struct asker *a = ctx;
    if (a->http) {
        qn_http_on_gone(a->http, NULL, NULL);
        if (e && e->code == QN_ENOTFOUND) {
            answer_missing(a->http, a->id);
        } else if (e) {
            qn_answer_error(a->http, e);
        } else {
            struct qn_buf body;
            qn_buf_init(&body, QN_API_REPLY_MAX);
            struct qn_jw w = qn_jw_to(&body);
            qn_jw_obj(&w);
            qn_jw_kstr(&w, "id", a->id);
            qn_jw_kstr(&w, "object", "response");
            qn_jw_kbool(&w, "deleted", true);
            qn_jw_obj_end(&w);
            qn_answer_json(a->http, 200, &body);
            qn_buf_deinit(&body);
        }
    }
    asker_end(a);
}

void qn_api_response_delete(const struct qn_models_api *api, struct qn_http *h, const char *id)
{
    struct qn_caller caller;
    qn_auth_caller(api->serving->auth, h, &caller);
    struct qn_answers_of of = {caller.owner, caller.admin};
    qn_catalog_drop_answer(api->models->catalog, &of, id, dropped, asker_new(api, h, id));
}

static qn_err read_page(struct qn_http *h, struct page *p, struct qn_error *e)
{
    const char *order = qn_http_query(h, "order"), *limit = qn_http_query(h, "limit");
    *p = (struct page){.limit = PAGE, .after = qn_http_query(h, "after")};
    p->ascending = qn_str_eq(order, "asc");
    if (order && !p->ascending && !qn_str_eq(order, "desc"))
        return qn_fail_param(e, QN_EINVAL, "order", "order: '%.40s' is not one of asc, desc",
                             order);
    if (limit && (!qn_parse_i64(limit, &p->limit) || p->limit < 1 || p->limit > PAGE_MAX))
        return qn_fail_param(e, QN_EINVAL, "limit", "limit: expected a number from 1 to %d",
                             PAGE_MAX);
    return QN_OK;
}

/* Writes the items of an array in the page's order. */
static void write_page(const struct page *p, const struct qn_answer_row *row,
                       const struct qn_jref *list, struct qn_arena *arena, struct qn_jw *w)
{
    size_t n = qn_json_count(list), first = 0, shown;
    struct qn_jref *items = qn_arena_alloc(arena, (n + 1) * sizeof *items);
    const char **ids = qn_arena_alloc(arena, (n + 1) * sizeof *ids);
    struct qn_jref it;
    size_t k = 0;
    for (bool more = qn_json_first(list, &it); more; more = qn_json_next(&it), k++) {
        size_t place = p->ascending ? k : n - 1 - k;
        items[place] = it;
        ids[place] = qn_responses_item_id(&it, row->id, k, arena);
        if (p->after && qn_str_eq(p->after, ids[place]))
            first = place + 1;
    }
    shown = n - first < (size_t)p->limit ? n - first : (size_t)p->limit;
    qn_jw_obj(w);
    qn_jw_kstr(w, "object", "list");
    qn_jw_key(w, "data");
    qn_jw_arr(w);
    for (size_t i = first; i < first + shown; i++)
        qn_responses_item_write(&items[i], ids[i], w);
    qn_jw_arr_end(w);
    qn_jw_kstr(w, "first_id", shown ? ids[first] : NULL);
    qn_jw_kstr(w, "last_id", shown ? ids[first + shown - 1] : NULL);
    qn_jw_kbool(w, "has_more", first + shown < n);
    qn_jw_obj_end(w);
}

static void list_input(struct asker *a, struct qn_error *e)
{
    struct qn_json *doc;
    if (qn_json_parse(a->row.input, strlen(a->row.input), &doc, e))
        return;
    struct qn_jref root = qn_json_root(doc);
    struct qn_jw w = qn_jw_to(&a->out);
    write_page(&a->page, &a->row, &root, a->arena, &w);
    qn_json_free(doc);
}

void qn_api_response_input(const struct qn_models_api *api, struct qn_http *h, const char *id)
{
    struct asker *a = asker_new(api, h, id);
    (void)read_page(h, &a->page, &a->wrong); /* found() checks it */
    if (a->page.after)
        a->page.after = qn_arena_strdup(a->arena, a->page.after);
    a->render = list_input;
    look_up(api, a);
}
