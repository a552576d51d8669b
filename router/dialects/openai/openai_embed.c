/* POST embeddings: texts in, vectors out, as numbers or as the bytes of float32 in base64. */
#include "dialects/openai/openai.h"
#include "dialects/shared/measure.h"

#include "base/str.h"
#include "digest/base64.h"

#include <string.h>

static const char *const known[] = {"input", "encoding_format", "dimensions", "truncate", NULL};

struct ask {
    size_t inputs; /* first, see measure.c */
    bool base64;
};

/* An array of token ids. */
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
    if (qn_json_type(v) == QN_JSON_ARRAY)
        return check_tokens(v, e);
    if (qn_json_type(v) != QN_JSON_STRING)
        return qn_json_fail(v, e, "expected a string or an array of token ids");
    return *qn_json_raw_str(v) ? QN_OK : qn_json_fail(v, e, "must not be empty");
}

/* One text, several, the tokens of one, or of several: always a list in the job. */
static qn_err read_input(const struct qn_jref *v, struct qn_request *rq, struct ask *ask,
                         struct qn_error *e)
{
    struct qn_jref it;
    qn_err err = QN_OK;
    bool one = qn_json_type(v) == QN_JSON_STRING;
    if (!one && qn_json_type(v) != QN_JSON_ARRAY)
        return qn_json_fail(v, e, "expected a string, an array of strings or token ids");
    if (!one && !qn_json_first(v, &it))
        return qn_json_fail(v, e, "at least one input is needed");
    if (!one && qn_json_type(&it) == QN_JSON_NUMBER)
        one = true;
    ask->inputs = one ? 1 : qn_json_count(v);
    if (ask->inputs > QN_JOB_INPUTS_MAX)
        return qn_json_fail(v, e, "at most %d inputs are allowed, not %zu", QN_JOB_INPUTS_MAX,
                            ask->inputs);
    if (one)
        err = check_one(v, e);
    for (bool more = !one; more && !err; more = qn_json_next(&it))
        err = check_one(&it, e);
    if (err)
        return err;
    struct qn_buf text;
    qn_buf_init(&text, QN_JOB_PROMPT_BYTES_MAX);
    if (one)
        qn_buf_char(&text, '[');
    qn_json_print(v, &text);
    if (one)
        qn_buf_char(&text, ']');
    err = qn_openai_keep(rq, &text, v, &rq->jobs->measure.inputs, e);
    qn_buf_deinit(&text);
    return err;
}

static qn_err parse(struct qn_request *rq, struct qn_error *e)
{
    struct qn_jref root = qn_json_root(rq->doc);
    struct ask *ask = qn_arena_alloc(rq->arena, sizeof *ask);
    rq->own = ask;
    qn_err err = qn_measure_job(rq, QN_TASK_EMBED, &root, e);
    struct qn_jref v = qn_json_get(&root, "encoding_format");
    const char *format = "float";
    if (!err)
        err = qn_json_str_opt(&v, &format, e);
    ask->base64 = qn_str_eq(format, "base64");
    if (!err && !ask->base64 && !qn_str_eq(format, "float"))
        err = qn_json_fail(&v, e, "'%.40s' is none of float, base64", format);
    v = qn_json_get(&root, "dimensions");
    if (!err)
        err = qn_json_i64_opt(&v, 1, QN_JOB_DIMENSIONS_MAX, &rq->jobs->measure.dimensions, e);
    v = qn_json_get(&root, "input");
    if (!err)
        err = read_input(&v, rq, ask, e);
    if (!err)
        qn_openai_unknown(&root, "embeddings", known);
    return err;
}

/* The vector as its float32 bytes, least significant first, in base64. */
static void write_packed(const char *vector, struct qn_jw *w)
{
    struct qn_json *doc;
    struct qn_buf bytes, text;
    struct qn_jref it;
    qn_buf_init(&bytes, QN_REPLY_MAX);
    qn_buf_init(&text, QN_REPLY_MAX);
    if (qn_json_parse(vector, strlen(vector), &doc, NULL) == QN_OK) { /* the codec has checked it */
        struct qn_jref root = qn_json_root(doc);
        for (bool more = qn_json_first(&root, &it); more; more = qn_json_next(&it)) {
            float f = (float)qn_json_raw_f64(&it);
            uint32_t bits;
            memcpy(&bits, &f, sizeof bits);
            for (int k = 0; k < 4; k++)
                qn_buf_char(&bytes, (char)(bits >> 8 * k & 0xFF));
        }
        qn_json_free(doc);
    }
    qn_base64_add(&text, qn_buf_cstr(&bytes), bytes.len);
    qn_jw_strn(w, qn_buf_cstr(&text), text.len);
    qn_buf_deinit(&text);
    qn_buf_deinit(&bytes);
}

static void end(struct qn_reply *r)
{
    const struct qn_measured *m = r->own;
    const struct ask *ask = r->rq->own;
    struct qn_jw w = qn_jw_to(r->out);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "object", "list");
    qn_jw_key(&w, "data");
    qn_jw_arr(&w);
    for (size_t i = 0; i < m->n; i++) {
        qn_jw_obj(&w);
        qn_jw_kstr(&w, "object", "embedding");
        qn_jw_ki64(&w, "index", (int64_t)i);
        qn_jw_key(&w, "embedding");
        if (ask->base64)
            write_packed(m->vector[i], &w);
        else
            qn_jw_raw(&w, m->vector[i], strlen(m->vector[i]));
        qn_jw_obj_end(&w);
    }
    qn_jw_arr_end(&w);
    qn_jw_kstr(&w, "model", r->rq->model);
    qn_measure_usage(m, &w);
    qn_jw_obj_end(&w);
}

const struct qn_dialect qn_openai_embed = {
    .task = QN_TASK_EMBED,
    .stream_type = "application/json",
    .parse = parse,
    .begin = qn_measure_begin,
    .event = qn_measure_event,
    .end = end,
    .fail = qn_openai_fail,
    .ping = qn_measure_ping,
    .free = qn_measure_free,
};
