/* POST embeddings: texts in, vectors out, as numbers or as the bytes of float32 in base64. */
#include "dialects/openai/openai.h"
#include "dialects/shared/embed.h"

#include "base/str.h"

static const char *const known[] = {"input", "encoding_format", "dimensions", "truncate", NULL};

struct ask {
    bool base64;
};

/* Checks an array of token ids. */
static qn_err check_tokens(const struct qn_jref *list, struct qn_error *e)
{
    struct qn_jref it;
    qn_err err = QN_OK;
    int64_t id;
    if (qn_json_count(list) == 0)
        return qn_json_fail(list, e, "at least one token is needed");
    for (bool more = qn_json_first(list, &it); more && !err; more = qn_json_next(&it))
        err = qn_json_i64(&it, 0, INT32_MAX, &id, e);
    return err;
}

static qn_err check_one(const struct qn_jref *v, struct qn_error *e)
{
    const char *text;
    if (qn_json_type(v) == QN_JSON_ARRAY)
        return check_tokens(v, e);
    if (qn_json_type(v) != QN_JSON_STRING)
        return qn_json_fail(v, e, "expected a string or an array of token ids");
    qn_err err = qn_embed_text(v, &text, e);
    return err || *text ? err : qn_json_fail(v, e, "must not be empty");
}

/* Reads one text, several texts, the tokens of one, or of several. */
static qn_err read_input(const struct qn_jref *v, struct qn_request *rq, struct qn_error *e)
{
    struct qn_jref it;
    bool one = qn_json_type(v) == QN_JSON_STRING;
    if (!one && qn_json_type(v) != QN_JSON_ARRAY)
        return qn_json_fail(v, e, "expected a string, an array of strings or token ids");
    if (!one && qn_json_first(v, &it) && qn_json_type(&it) == QN_JSON_NUMBER)
        one = true;
    qn_err err = qn_embed_inputs(rq, v, one, e);
    if (!err && one)
        err = check_one(v, e);
    for (bool more = !one && qn_json_first(v, &it); more && !err; more = qn_json_next(&it))
        err = check_one(&it, e);
    return err;
}

static qn_err parse(struct qn_request *rq, struct qn_error *e)
{
    struct qn_jref root = qn_json_root(rq->doc);
    struct ask *ask = qn_arena_alloc(rq->arena, sizeof *ask);
    rq->own = ask;
    qn_err err = qn_embed_job(rq, QN_TASK_EMBED, &root, e);
    struct qn_jref v = qn_json_get(&root, "encoding_format");
    const char *format = "float";
    if (!err)
        err = qn_json_str_opt(&v, &format, e);
    ask->base64 = qn_str_eq(format, "base64");
    if (!err && !ask->base64 && !qn_str_eq(format, "float"))
        err = qn_json_fail(&v, e, "'%.40s' is not one of float, base64", format);
    v = qn_json_get(&root, "dimensions");
    if (!err)
        err = qn_json_i64_opt(&v, 1, QN_JOB_DIMENSIONS_MAX, &rq->jobs->embed.dimensions, e);
    v = qn_json_get(&root, "input");
    if (!err)
        err = read_input(&v, rq, e);
    if (!err)
        qn_openai_unknown(&root, "embeddings", known);
    return err;
}

static void open_list(struct qn_embed_reply *m)
{
    qn_jw_obj(&m->w);
    qn_jw_kstr(&m->w, "object", "list");
    qn_jw_key(&m->w, "data");
    qn_jw_arr(&m->w);
    m->begun = true;
}

static qn_err event(struct qn_reply *r, size_t job, const struct qn_event *ev, struct qn_error *e)
{
    struct qn_embed_reply *m = r->own;
    const struct ask *ask = r->rq->own;
    qn_err err = qn_embed_event(r, job, ev, e);
    if (err || ev->kind != QN_EV_VECTORS)
        return err;
    if (!m->begun)
        open_list(m);
    for (size_t i = 0; i < (size_t)ev->count; i++) {
        qn_jw_obj(&m->w);
        qn_jw_kstr(&m->w, "object", "embedding");
        qn_jw_ki64(&m->w, "index", ev->index + (int64_t)i);
        qn_jw_key(&m->w, "embedding");
        qn_embed_vector(m, ev, i, ask->base64);
        qn_jw_obj_end(&m->w);
    }
    return QN_OK;
}

static void end(struct qn_reply *r)
{
    struct qn_embed_reply *m = r->own;
    qn_jw_arr_end(&m->w);
    qn_jw_kstr(&m->w, "model", r->rq->model);
    qn_embed_usage(m, &m->w);
    qn_jw_obj_end(&m->w);
}

const struct qn_dialect qn_openai_embed = {
    .task = QN_TASK_EMBED,
    .stream_type = "application/json",
    .parse = parse,
    .begin = qn_embed_begin,
    .event = event,
    .end = end,
    .fail = qn_embed_fail,
    .ping = qn_embed_ping,
    .free = qn_embed_free,
};
