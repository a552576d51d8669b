/* GET models and models/{id} for clients of Anthropic's API, recognised by the header
 * anthropic-version: the same models, in the form of
 * https://platform.claude.com/docs/en/api/models. */
#include "api/api.h"

#include "answers/answer.h"
#include "base/str.h"
#include "models/inventory.h"

#include <string.h>
#include <time.h>

enum { LIMIT_MAX = 1000 };

static void write_model(struct qn_jw *w, const struct qn_model_row *row)
{
    char created[32];
    time_t t = (time_t)row->created_s;
    struct tm tm;
    gmtime_r(&t, &tm);
    strftime(created, sizeof created, "%Y-%m-%dT%H:%M:%SZ", &tm);
    struct qn_json *details = NULL;
    struct qn_jref root = {0};
    if (qn_json_parse(row->details, strlen(row->details), &details, NULL) == QN_OK)
        root = qn_json_root(details);
    struct qn_jref context = qn_json_get(&root, "context_length");
    qn_jw_obj(w);
    qn_jw_kstr(w, "type", "model");
    qn_jw_kstr(w, "id", row->name);
    qn_jw_kstr(w, "display_name", row->name);
    qn_jw_kstr(w, "created_at", created);
    qn_jw_key(w, "max_input_tokens");
    if (qn_json_type(&context) == QN_JSON_NUMBER)
        qn_jw_i64(w, (int64_t)qn_json_raw_f64(&context));
    else
        qn_jw_null(w);
    qn_jw_knull(w, "max_tokens");
    qn_jw_kstr(w, "lifecycle", "active");
    qn_jw_knull(w, "capabilities");
    qn_jw_obj_end(w);
    qn_json_free(details);
}

/* Index of the row with this name, or n. */
static size_t place_of(struct qn_snapshot *snap, const char *name)
{
    size_t i = 0, n = qn_snapshot_count(snap);
    while (i < n && !qn_str_eq(qn_snapshot_at(snap, i)->name, name))
        i++;
    return i;
}

/* Determines the range of rows that limit, after_id and before_id ask for. */
static qn_err read_page(struct qn_http *h, struct qn_snapshot *snap, size_t *from, size_t *to,
                        struct qn_error *e)
{
    const char *limit = qn_http_query(h, "limit"), *after = qn_http_query(h, "after_id");
    const char *before = qn_http_query(h, "before_id");
    int64_t most = LIMIT_MAX;
    if (limit && (!qn_parse_i64(limit, &most) || most < 1 || most > LIMIT_MAX))
        return qn_fail_param(e, QN_EINVAL, "limit", "limit: expected a whole number from 1 to %d",
                             LIMIT_MAX);
    *from = 0;
    *to = qn_snapshot_count(snap);
    if (after && place_of(snap, after) < *to)
        *from = place_of(snap, after) + 1;
    if (before && place_of(snap, before) < *to)
        *to = place_of(snap, before);
    if (*from > *to)
        *from = *to;
    if (*to - *from > (size_t)most) {
        if (before)
            *from = *to - (size_t)most;
        else
            *to = *from + (size_t)most;
    }
    return QN_OK;
}

void qn_api_anthropic_models(const struct qn_models_api *api, struct qn_http *h)
{
    struct qn_snapshot *snap = qn_catalog_snapshot(api->models->catalog);
    struct qn_error e = {0};
    struct qn_buf body;
    size_t from = 0, to = 0;
    if (read_page(h, snap, &from, &to, &e)) {
        qn_snapshot_unref(snap);
        qn_answer_error(h, &e);
        return;
    }
    bool more = qn_http_query(h, "before_id") ? from > 0 : to < qn_snapshot_count(snap);
    qn_buf_init(&body, QN_API_REPLY_MAX);
    struct qn_jw w = qn_jw_to(&body);
    qn_jw_obj(&w);
    qn_jw_key(&w, "data");
    qn_jw_arr(&w);
    for (size_t i = from; i < to; i++)
        write_model(&w, qn_snapshot_at(snap, i));
    qn_jw_arr_end(&w);
    qn_jw_kbool(&w, "has_more", more);
    qn_jw_kstr(&w, "first_id", from < to ? qn_snapshot_at(snap, from)->name : NULL);
    qn_jw_kstr(&w, "last_id", from < to ? qn_snapshot_at(snap, to - 1)->name : NULL);
    qn_jw_obj_end(&w);
    qn_answer_json(h, 200, &body);
    qn_buf_deinit(&body);
    qn_snapshot_unref(snap);
}

void qn_api_anthropic_model(struct qn_http *h, const struct qn_model_row *row)
{
    struct qn_buf body;
    qn_buf_init(&body, QN_API_REPLY_MAX);
    struct qn_jw w = qn_jw_to(&body);
    write_model(&w, row);
    qn_answer_json(h, 200, &body);
    qn_buf_deinit(&body);
}
