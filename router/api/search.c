/* GET registry/search: searches a hub's repositories by words. */
#include "api/api.h"

#include "access/client_id.h"
#include "answers/answer.h"
#include "base/str.h"
#include "library/inquiry.h"
#include "registry/hub.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { QUERY_MIN = 3, QUERY_MAX = 200, RESULTS = 12 };

struct asker {
    const struct qn_hubs_api *api;
    struct qn_http *http; /* NULL: the client has disconnected */
    struct qn_inquiry *inquiry;
    enum qn_hub_kind hub;
    char *query;
    int64_t limit;
    bool gguf;
    struct qn_search *found; /* the result */
};

static void gone(void *ctx)
{
    struct asker *a = ctx;
    a->http = NULL;
    qn_inquiry_stop(a->inquiry);
}

/* Runs on a worker. */
static qn_err ask(void *ctx, const struct qn_web *web, struct qn_error *e)
{
    struct asker *a = ctx;
    return qn_hub_search(a->api->hubs, web, a->hub, a->query, (int)a->limit, a->gguf, &a->found, e);
}

static void write_number(struct qn_jw *w, const char *key, int64_t n)
{
    if (n < 0)
        qn_jw_knull(w, key);
    else
        qn_jw_ki64(w, key, n);
}

static void answer(const struct asker *a)
{
    struct qn_buf body;
    qn_buf_init(&body, QN_API_REPLY_MAX);
    struct qn_jw w = qn_jw_to(&body);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "source", qn_hub_kind_name(a->hub));
    qn_jw_kstr(&w, "query", a->query);
    qn_jw_ki64(&w, "total", a->found->total >= 0 ? a->found->total : (int64_t)a->found->n);
    qn_jw_key(&w, "results");
    qn_jw_arr(&w);
    for (size_t i = 0; i < a->found->n; i++) {
        const struct qn_found_repo *f = &a->found->v[i];
        const char *slash = strchr(f->id, '/');
        qn_jw_obj(&w);
        qn_jw_kstr(&w, "repository_id", f->id);
        qn_jw_kstr(&w, "display_name", slash + 1);
        qn_jw_kstr(&w, "source", qn_hub_kind_name(a->hub));
        write_number(&w, "downloads", f->downloads);
        write_number(&w, "likes", f->likes);
        qn_jw_kbool(&w, "has_gguf", f->gguf);
        qn_jw_kbool(&w, "gated", f->gated);
        qn_jw_kstr(&w, "license", f->license);
        qn_jw_kstr(&w, "updated", *f->updated ? f->updated : NULL);
        qn_jw_obj_end(&w);
    }
    qn_jw_arr_end(&w);
    qn_jw_obj_end(&w);
    qn_answer_json(a->http, 200, &body);
    qn_buf_deinit(&body);
}

static void done(void *ctx, const struct qn_error *e)
{
    struct asker *a = ctx;
    if (a->http) {
        qn_http_on_gone(a->http, NULL, NULL);
        if (e)
            qn_api_hub_problem(a->api->puller->web, a->http, e, 502);
        else
            answer(a);
    }
    qn_search_free(a->found);
    free(a->query);
    free(a);
}

/* Without spaces at either end. */
static char *trimmed(const char *s)
{
    while (isspace((unsigned char)*s))
        s++;
    size_t n = strlen(s);
    while (n > 0 && isspace((unsigned char)s[n - 1]))
        n--;
    return qn_xstrndup(s, n);
}

static qn_err read_query(const struct qn_hubs_api *api, const struct qn_http *h, struct asker *a,
                         struct qn_error *e)
{
    const char *query = qn_http_query(h, "query"), *source = qn_http_query(h, "source");
    const char *limit = qn_http_query(h, "limit"), *format = qn_http_query(h, "format");
    if (!query)
        query = qn_http_query(h, "q");
    a->query = trimmed(query ? query : "");
    a->hub = qn_hub_kind_parse(source && *source ? source : api->puller->model_source);
    if (strlen(a->query) < QUERY_MIN || strlen(a->query) > QUERY_MAX)
        return qn_fail_param(e, QN_EINVAL, "query", "query must have %d to %d characters",
                             QUERY_MIN, QUERY_MAX);
    if (a->hub != QN_HUB_HF && a->hub != QN_HUB_MODELSCOPE)
        return qn_fail_param(e, QN_EINVAL, "source",
                             "source must be huggingface or modelscope, not '%.40s'", source);
    if (limit && (!qn_parse_i64(limit, &a->limit) || a->limit < 1 || a->limit > QN_SEARCH_MAX))
        return qn_fail_param(e, QN_EINVAL, "limit", "limit must be a whole number from 1 to %d",
                             QN_SEARCH_MAX);
    if (format && !qn_str_eq(format, "gguf"))
        return qn_fail_param(e, QN_EINVAL, "format", "format must be gguf, not '%.40s'", format);
    a->gguf = format != NULL;
    return QN_OK;
}

void qn_api_search(const struct qn_hubs_api *api, struct qn_http *h, const char *id)
{
    struct asker *a = qn_xcalloc(1, sizeof *a);
    struct qn_error e = {0};
    (void)id;
    a->api = api;
    a->http = h;
    a->limit = RESULTS;
    qn_err err = read_query(api, h, a, &e);
    if (!err)
        err = qn_inquire(api->inquiries, qn_client_owner(h), ask, done, a, &a->inquiry, &e);
    if (err) { /* no hub was queried */
        qn_answer_error(h, &e);
        free(a->query);
        free(a);
        return;
    }
    qn_http_on_gone(h, gone, a);
}
