/* See kept.h. Neither a catalog query nor a worker can be cancelled, so an abandoned object is
 * freed when they have finished. */
#include "infer/kept.h"

#include "base/arena.h"
#include "base/buf.h"
#include "io/loop.h"

#include <stdlib.h>
#include <string.h>

struct qn_kept_look {
    struct qn_loop *loop;
    struct qn_request *rq;
    bool busy, left;        /* a query or worker uses it; the request has abandoned it */
    struct qn_arena *arena; /* holds the texts */
    struct qn_kept *kept;
    size_t n, n_chain;
    struct qn_error error;
    qn_kept_fn fn;
    void *ctx;
};

/* Any thread. */
static void look_free(void *ctx)
{
    struct qn_kept_look *look = ctx;
    for (size_t i = 0; i < look->n; i++) {
        qn_json_free(look->kept[i].input_doc);
        qn_json_free(look->kept[i].body_doc);
    }
    free(look->kept);
    qn_arena_free(look->arena);
    free(look);
}

/* Freeing many small allocations takes long, too, so a worker does it. */
static void look_end(struct qn_kept_look *look)
{
    if (look->n)
        qn_loop_work(look->loop, look_free, NULL, look);
    else
        look_free(look);
}

static void tell(struct qn_kept_look *look)
{
    look->busy = false;
    if (look->left) {
        look_end(look);
        return;
    }
    look->rq->kept = look->kept;
    look->rq->n_kept = look->n;
    look->rq->n_chain = look->n_chain;
    look->fn(look->ctx, look->error.code ? &look->error : NULL);
}

/* Runs on a worker. The texts were written by this server, but the disk may have damaged them. */
static void open_all(void *ctx)
{
    struct qn_kept_look *look = ctx;
    struct qn_error *e = &look->error;
    for (size_t i = 0; i < look->n && !e->code; i++) {
        struct qn_kept *k = &look->kept[i];
        if (qn_json_parse(k->input, strlen(k->input), &k->input_doc, e) == QN_OK)
            /* The loop reports the error. */
            (void)qn_json_parse(k->body, strlen(k->body), &k->body_doc, e);
    }
}

static void opened(void *ctx)
{
    tell(ctx);
}

/* Takes over the catalog's arena, so that the texts need not be copied. */
static void take(struct qn_kept_look *look, const struct qn_answers_found *found)
{
    look->arena = *found->arena;
    *found->arena = NULL;
    look->kept = qn_xcalloc(found->n + 1, sizeof *look->kept);
    look->n_chain = found->n_chain;
    for (; look->n < found->n; look->n++) {
        const struct qn_answer_row *row = &found->rows[look->n];
        look->kept[look->n] = (struct qn_kept){
            .id = row->id, .previous = row->previous, .input = row->input, .body = row->body};
    }
}

static void found(void *ctx, const struct qn_answers_found *f)
{
    struct qn_kept_look *look = ctx;
    if (f->e)
        look->error = *f->e;
    else if (!look->left)
        take(look, f);
    if (look->n)
        qn_loop_work(look->loop, open_all, opened, look);
    else
        tell(look);
}

struct qn_kept_look *qn_kept_look(struct qn_loop *loop, struct qn_catalog *catalog,
                                  const struct qn_answers_of *of, struct qn_request *rq,
                                  const char *chain, const char *const *ids, size_t n,
                                  qn_kept_fn fn, void *ctx)
{
    struct qn_kept_look *look = qn_xcalloc(1, sizeof *look);
    look->loop = loop;
    look->rq = rq;
    look->busy = true;
    look->fn = fn;
    look->ctx = ctx;
    qn_catalog_find_answers(catalog, of, chain, ids, n, found, look);
    return look;
}

void qn_kept_leave(struct qn_kept_look *look)
{
    if (!look)
        return;
    look->left = true;
    if (!look->busy)
        look_end(look);
}
