/* What the Responses API does to answers that are kept: show, list their input, delete. To others
 * than its owner an answer is as one that there is not. An answer
 * that is still being written cannot be asked for: none is written in the background. */
#include "api/api.h"

#include "access/auth.h"
#include "answers/answer.h"
#include "base/buf.h"
#include "base/str.h"
#include "catalog/answers.h"
#include "dialects/openai/responses.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE_MAX = 100, PAGE = 20 };

/* One request that waits for the catalog, which cannot be called off. */
struct asker {
    struct qn_http *http; /* NULL: gone */
    void (*answer)(struct qn_http *h, const struct qn_answer_row *row);
    char *id;
};

static void gone(void *ctx)
{
    ((struct asker *)ctx)->http = NULL;
}

static struct asker *asker_new(struct qn_http *h, const char *id,
                               void (*answer)(struct qn_http *h, const struct qn_answer_row *row))
{
    struct asker *a = qn_xcalloc(1, sizeof *a);
    a->http = h;
    a->answer = answer;
    a->id = qn_xstrdup(id);
    qn_http_on_gone(h, gone, a);
    return a;
}

static void asker_free(struct asker *a)
{
    free(a->id);
    free(a);
}

static void answer_missing(struct qn_http *h, const char *id)
{
    struct qn_error e = {0};
    qn_fail_param(&e, QN_ENOTFOUND, "response_id", "Response with id '%.80s' not found", id);
    qn_answer_error(h, &e);
}

static void found(void *ctx, const struct qn_answers_found *f)
{
    struct asker *a = ctx;
    if (a->http) {
        qn_http_on_gone(a->http, NULL, NULL);
        if (f->e)
            qn_answer_error(a->http, f->e);
        else if (f->n == 0)
            answer_missing(a->http, a->id);
        else
            a->answer(a->http, &f->rows[0]);
    }
    asker_free(a);
}

static void look_up(struct qn_services *sv, struct qn_http *h, const char *id,
                    void (*answer)(struct qn_http *h, const struct qn_answer_row *row))
{
    const char *ids[] = {id};
    struct qn_caller caller;
    qn_auth_caller(sv->auth, h, &caller);
    struct qn_answers_of of = {caller.owner, caller.admin};
    qn_catalog_find_answers(sv->catalog, &of, NULL, ids, 1, found, asker_new(h, id, answer));
}

static void show(struct qn_http *h, const struct qn_answer_row *row)
{
    qn_http_reply(h, 200, "application/json", row->body, strlen(row->body));
}

/* What was said once is said again as a stream. */
static void replay(struct qn_http *h, const struct qn_answer_row *row)
{
    const char *starting_after = qn_http_query(h, "starting_after");
    struct qn_error e = {0};
    struct qn_buf out;
    int64_t after = -1;
    qn_err err = QN_OK;
    qn_buf_init(&out, QN_REPLY_MAX);
    if (starting_after && (!qn_parse_i64(starting_after, &after) || after < 0 || after > INT32_MAX))
        err = qn_fail_param(&e, QN_EINVAL, "starting_after",
                            "starting_after: expected the number of an event");
    if (!err)
        err = qn_responses_replay(row->body, after, qn_http_arena(h), &out, &e);
    if (err)
        qn_answer_error(h, &e);
    else
        qn_http_reply(h, 200, "text/event-stream", qn_buf_cstr(&out), out.len);
    qn_buf_deinit(&out);
}

void qn_api_response(struct qn_services *sv, struct qn_http *h, const char *id)
{
    look_up(sv, h, id, qn_str_eq(qn_http_query(h, "stream"), "true") ? replay : show);
}

/* OpenAI's own words for an answer that nobody asked to be written in the background. */
static void refuse_cancel(struct qn_http *h, const struct qn_answer_row *row)
{
    struct qn_error e = {0};
    (void)row;
    qn_fail(&e, QN_EINVAL, "Cannot cancel a synchronous response");
    qn_answer_error(h, &e);
}

void qn_api_response_cancel(struct qn_services *sv, struct qn_http *h, const char *id)
{
    look_up(sv, h, id, refuse_cancel);
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
    asker_free(a);
}

void qn_api_response_delete(struct qn_services *sv, struct qn_http *h, const char *id)
{
    struct qn_caller caller;
    qn_auth_caller(sv->auth, h, &caller);
    struct qn_answers_of of = {caller.owner, caller.admin};
    qn_catalog_drop_answer(sv->catalog, &of, id, dropped, asker_new(h, id, NULL));
}

/* A page of a list: which items, in which order. */
struct page {
    bool ascending;
    int64_t limit;
    const char *after; /* the id that the page begins behind, or NULL */
};

static qn_err read_page(struct qn_http *h, struct page *p, struct qn_error *e)
{
    const char *order = qn_http_query(h, "order"), *limit = qn_http_query(h, "limit");
    *p = (struct page){.limit = PAGE, .after = qn_http_query(h, "after")};
    p->ascending = qn_str_eq(order, "asc");
    if (order && !p->ascending && !qn_str_eq(order, "desc"))
        return qn_fail_param(e, QN_EINVAL, "order", "order: '%.40s' is none of asc, desc", order);
    if (limit && (!qn_parse_i64(limit, &p->limit) || p->limit < 1 || p->limit > PAGE_MAX))
        return qn_fail_param(e, QN_EINVAL, "limit", "limit: expected a number from 1 to %d",
                             PAGE_MAX);
    return QN_OK;
}

/* The items of an array as texts of their own, in the page's order. */
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

static void list_input(struct qn_http *h, const struct qn_answer_row *row)
{
    struct page p;
    struct qn_json *doc = NULL;
    struct qn_error e = {0};
    qn_err err = read_page(h, &p, &e);
    if (!err)
        err = qn_json_parse(row->input, strlen(row->input), &doc, &e);
    if (err) {
        qn_answer_error(h, &e);
        return;
    }
    struct qn_jref root = qn_json_root(doc);
    struct qn_buf body;
    qn_buf_init(&body, QN_ANSWER_BYTES_MAX * 2);
    struct qn_jw w = qn_jw_to(&body);
    write_page(&p, row, &root, qn_http_arena(h), &w);
    qn_answer_json(h, 200, &body);
    qn_buf_deinit(&body);
    qn_json_free(doc);
}

void qn_api_response_input(struct qn_services *sv, struct qn_http *h, const char *id)
{
    look_up(sv, h, id, list_input);
}
