/* POST rerank, reranking, reranker: the relevance of each document to a query. Results are in the
 * order of the documents, as in Lemonade's API; top_n omits the least relevant ones. */
#include "dialects/openai/openai.h"
#include "dialects/shared/embed.h"

#include <stdlib.h>
#include <string.h>

static const char *const known[] = {"query",    "documents", "texts", "top_n", "return_documents",
                                    "truncate", NULL};

struct ask {
    size_t top; /* number of results in the reply */
    bool told;  /* results contain their documents */
};

/* Reads a document: a string, or an object with a text. */
static qn_err read_document(const struct qn_jref *v, const char **out, struct qn_error *e)
{
    struct qn_jref text = qn_json_get(v, "text");
    return qn_embed_text(qn_json_type(v) == QN_JSON_OBJECT ? &text : v, out, e);
}

static qn_err read_documents(const struct qn_jref *v, struct qn_request *rq, struct qn_error *e)
{
    struct qn_jref it;
    const char *text;
    if (qn_json_type(v) != QN_JSON_ARRAY)
        return qn_json_fail(v, e, "expected an array of documents");
    qn_err err = qn_embed_inputs(rq, v, false, e);
    for (bool more = qn_json_first(v, &it); more && !err; more = qn_json_next(&it))
        err = read_document(&it, &text, e);
    return err;
}

static qn_err parse(struct qn_request *rq, struct qn_error *e)
{
    struct qn_jref root = qn_json_root(rq->doc);
    struct ask *ask = qn_arena_alloc(rq->arena, sizeof *ask);
    rq->own = ask;
    qn_err err = qn_embed_job(rq, QN_TASK_RERANK, &root, e);
    struct qn_jref v = qn_json_get(&root, "query");
    if (!err)
        err = qn_json_str(&v, &rq->jobs->embed.query, e);
    if (!err && strlen(rq->jobs->embed.query) > QN_JOB_PROMPT_BYTES_MAX)
        err = qn_json_fail(&v, e, "too long: at most %d bytes", QN_JOB_PROMPT_BYTES_MAX);
    v = qn_json_get(&root, "documents");
    if (qn_json_type(&v) <= QN_JSON_NULL) {
        struct qn_jref texts = qn_json_get(&root, "texts"); /* the name in another server's API */
        if (qn_json_type(&texts) > QN_JSON_NULL)
            v = texts;
    }
    if (!err)
        err = read_documents(&v, rq, e);
    v = qn_json_get(&root, "top_n");
    int64_t all = rq->jobs->embed.count, top = all;
    if (!err)
        err = qn_json_i64_opt(&v, 1, INT32_MAX, &top, e);
    ask->top = (size_t)(top < all ? top : all);
    v = qn_json_get(&root, "return_documents");
    if (!err)
        err = qn_json_bool_opt(&v, &ask->told, e);
    if (!err)
        qn_openai_unknown(&root, "rerank", known);
    return err;
}

struct ranked {
    float score;
    uint32_t index;
};

/* More relevant ones first; of equals the earlier document. */
static int compare(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->score > y->score || x->score < y->score)
        return x->score > y->score ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

/* Returns for each document whether it is among the `top` most relevant; NULL: all are. */
static bool *choose(const struct qn_embed_reply *m, size_t top)
{
    if (top >= m->n)
        return NULL;
    struct ranked *all = qn_xcalloc(m->n, sizeof *all);
    bool *chosen = qn_xcalloc(m->n, sizeof *chosen);
    for (size_t i = 0; i < m->n; i++)
        all[i] = (struct ranked){m->score[i], (uint32_t)i};
    qsort(all, m->n, sizeof *all, compare);
    for (size_t i = 0; i < top; i++)
        chosen[all[i].index] = true;
    free(all);
    return chosen;
}

static void write_result(struct qn_jw *w, size_t i, float score, const struct qn_jref *document)
{
    const char *text = "";
    qn_jw_obj(w);
    qn_jw_ki64(w, "index", (int64_t)i);
    qn_jw_key(w, "relevance_score");
    qn_jw_f32(w, score);
    if (document && read_document(document, &text, NULL) == QN_OK) {
        qn_jw_key(w, "document");
        qn_jw_obj(w);
        qn_jw_kstr(w, "text", text);
        qn_jw_obj_end(w);
    }
    qn_jw_obj_end(w);
}

static void end(struct qn_reply *r)
{
    struct qn_embed_reply *m = r->own;
    const struct ask *ask = r->rq->own;
    struct qn_jw *w = &m->w;
    struct qn_jref document;
    bool *chosen = choose(m, ask->top);
    qn_jw_obj(w);
    qn_jw_kstr(w, "model", r->rq->model);
    qn_jw_kstr(w, "object", "list");
    qn_jw_key(w, "results");
    qn_jw_arr(w);
    bool more = qn_json_first(&r->rq->jobs->embed.inputs, &document);
    for (size_t i = 0; i < m->n && more; i++, more = qn_json_next(&document))
        if (!chosen || chosen[i])
            write_result(w, i, m->score[i], ask->told ? &document : NULL);
    qn_jw_arr_end(w);
    qn_embed_usage(m, w);
    qn_jw_obj_end(w);
    free(chosen);
}

const struct qn_dialect qn_rerank = {
    .task = QN_TASK_RERANK,
    .stream_type = "application/json",
    .parse = parse,
    .begin = qn_embed_begin,
    .event = qn_embed_event,
    .end = end,
    .fail = qn_embed_fail,
    .ping = qn_embed_ping,
    .free = qn_embed_free,
};
