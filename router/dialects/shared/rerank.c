/* POST rerank, reranking, reranker: how well each document answers a query. Results stand in the
 * documents' order, as Lemonade's API has them; top_n leaves the worst out. */
#include "dialects/openai/openai.h"
#include "dialects/shared/measure.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>

static const char *const known[] = {"query",    "documents", "texts", "top_n", "return_documents",
                                    "truncate", NULL};

struct ask {
    size_t inputs; /* first, see measure.c */
    size_t top;    /* results that are told */
    bool told;     /* with their documents */
    const char **documents;
};

/* A document: a string, or an object with a text. */
static qn_err read_document(const struct qn_jref *v, const char **out, struct qn_error *e)
{
    struct qn_jref text = qn_json_get(v, "text");
    return qn_json_str(qn_json_type(v) == QN_JSON_OBJECT ? &text : v, out, e);
}

static qn_err read_documents(const struct qn_jref *v, struct qn_request *rq, struct ask *ask,
                             struct qn_error *e)
{
    struct qn_jref it;
    if (qn_json_type(v) != QN_JSON_ARRAY)
        return qn_json_fail(v, e, "expected an array of documents");
    ask->inputs = qn_json_count(v);
    if (ask->inputs == 0)
        return qn_json_fail(v, e, "at least one document is needed");
    if (ask->inputs > QN_JOB_INPUTS_MAX)
        return qn_json_fail(v, e, "at most %d documents are allowed, not %zu", QN_JOB_INPUTS_MAX,
                            ask->inputs);
    ask->documents = qn_arena_alloc(rq->arena, ask->inputs * sizeof *ask->documents);
    struct qn_buf list;
    qn_buf_init(&list, QN_JOB_PROMPT_BYTES_MAX);
    struct qn_jw w = qn_jw_to(&list);
    qn_jw_arr(&w);
    qn_err err = QN_OK;
    size_t i = 0;
    for (bool more = qn_json_first(v, &it); more && !err; more = qn_json_next(&it), i++) {
        err = read_document(&it, &ask->documents[i], e);
        if (!err)
            qn_jw_str(&w, ask->documents[i]);
    }
    qn_jw_arr_end(&w);
    if (!err)
        err = qn_openai_keep(rq, &list, v, &rq->jobs->measure.inputs, e);
    qn_buf_deinit(&list);
    return err;
}

static qn_err parse(struct qn_request *rq, struct qn_error *e)
{
    struct qn_jref root = qn_json_root(rq->doc);
    struct ask *ask = qn_arena_alloc(rq->arena, sizeof *ask);
    rq->own = ask;
    qn_err err = qn_measure_job(rq, QN_TASK_RERANK, &root, e);
    struct qn_jref v = qn_json_get(&root, "query");
    if (!err)
        err = qn_json_str(&v, &rq->jobs->measure.query, e);
    if (!err && strlen(rq->jobs->measure.query) > QN_JOB_PROMPT_BYTES_MAX)
        err = qn_json_fail(&v, e, "too long: at most %d bytes", QN_JOB_PROMPT_BYTES_MAX);
    v = qn_json_get(&root, "documents");
    if (qn_json_type(&v) <= QN_JSON_NULL) {
        struct qn_jref texts = qn_json_get(&root, "texts"); /* as another server calls them */
        if (qn_json_type(&texts) > QN_JSON_NULL)
            v = texts;
    }
    if (!err)
        err = read_documents(&v, rq, ask, e);
    v = qn_json_get(&root, "top_n");
    int64_t top = (int64_t)ask->inputs;
    if (!err)
        err = qn_json_i64_opt(&v, 1, INT32_MAX, &top, e);
    ask->top = (size_t)top < ask->inputs ? (size_t)top : ask->inputs;
    v = qn_json_get(&root, "return_documents");
    if (!err)
        err = qn_json_bool_opt(&v, &ask->told, e);
    if (!err)
        qn_openai_unknown(&root, "rerank", known);
    return err;
}

struct place {
    double score;
    size_t document;
};

/* The best first; of equals the first. */
static int compare(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->score > y->score || x->score < y->score)
        return x->score > y->score ? -1 : 1;
    return x->document < y->document ? -1 : 1;
}

/* [n] which documents are among the best `top`; the caller frees it. */
static bool *choose(const struct qn_measured *m, size_t top)
{
    bool *chosen = qn_xcalloc(m->n, sizeof *chosen);
    struct place *places = qn_xcalloc(m->n, sizeof *places);
    for (size_t i = 0; i < m->n; i++)
        places[i] = (struct place){m->score[i], i};
    if (top < m->n)
        qsort(places, m->n, sizeof *places, compare);
    for (size_t i = 0; i < top; i++)
        chosen[places[i].document] = true;
    free(places);
    return chosen;
}

static void end(struct qn_reply *r)
{
    const struct qn_measured *m = r->own;
    const struct ask *ask = r->rq->own;
    bool *chosen = choose(m, ask->top);
    struct qn_jw w = qn_jw_to(r->out);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "model", r->rq->model);
    qn_jw_kstr(&w, "object", "list");
    qn_jw_key(&w, "results");
    qn_jw_arr(&w);
    for (size_t i = 0; i < m->n; i++) {
        if (!chosen[i])
            continue;
        qn_jw_obj(&w);
        qn_jw_ki64(&w, "index", (int64_t)i);
        qn_jw_kf64(&w, "relevance_score", m->score[i]);
        if (ask->told) {
            qn_jw_key(&w, "document");
            qn_jw_obj(&w);
            qn_jw_kstr(&w, "text", ask->documents[i]);
            qn_jw_obj_end(&w);
        }
        qn_jw_obj_end(&w);
    }
    qn_jw_arr_end(&w);
    qn_measure_usage(m, &w);
    qn_jw_obj_end(&w);
    free(chosen);
}

const struct qn_dialect qn_rerank = {
    .task = QN_TASK_RERANK,
    .stream_type = "application/json",
    .parse = parse,
    .begin = qn_measure_begin,
    .event = qn_measure_event,
    .end = end,
    .fail = qn_openai_fail,
    .ping = qn_measure_ping,
    .free = qn_measure_free,
};
