/* The memory of a run, and the work that workers do for it; see run_private.h.
 *
 * For a large request a worker does everything whose cost is proportional to its size: parsing it,
 * encoding its jobs, writing a complete response, freeing all that. While a worker parses or writes
 * (aside), nothing else is done for the run; while it encodes, other jobs go on. A run that ends
 * meanwhile releases its lease and its client at once, and its memory when the worker has
 * finished. */
#include "infer/run_private.h"

#include "catalog/answers.h"

#include <stdlib.h>

/* Any thread. */
static void free_memory(void *ctx)
{
    struct qn_infer_run *r = ctx;
    r->dialect->free(r->reply.own);
    qn_reading_deinit(&r->reading);
    qn_answer_task_free(r->to_keep);
    qn_buf_deinit(&r->out);
    qn_arena_free(r->arena);
    free(r->jobs);
    free(r);
}

static void release(struct qn_infer_run *r)
{
    qn_kept_leave(r->look);
    if (r->large)
        qn_loop_work(r->with->serving->loop, free_memory, NULL, r);
    else
        free_memory(r);
}

void qn_infer_let_go(struct qn_infer_run *r)
{
    qn_infer_stop_jobs(r);
    qn_timer_stop(r->beat);
    qn_timer_stop(r->deadline);
    qn_timer_stop(r->unread);
    qn_pull_first_leave(r->first);
    qn_lease_release(r->lease);
    r->ended = true;
}

void qn_infer_free(struct qn_infer_run *r)
{
    if (!r->busy)
        release(r);
}

bool qn_infer_is_back(struct qn_infer_run *r)
{
    r->busy--;
    if (r->ended && !r->busy)
        release(r);
    else if (!r->ended)
        return true;
    return false;
}

void qn_infer_late_words(const struct qn_infer_run *r, struct qn_error *e)
{
    qn_fail(e, QN_ETIMEOUT, "the request took longer than its limit of %.3g seconds",
            (double)r->limit_ms / 1000);
}

static void back(void *ctx)
{
    struct qn_infer_run *r = ctx;
    struct qn_error e = {0};
    r->aside = false;
    if (r->ended) /* cancelled while the worker was busy; nothing else can end a run then */
        qn_infer_note_cancelled(r);
    if (!qn_infer_is_back(r))
        return;
    if (r->late)
        qn_infer_late_words(r, &e);
    else if (r->with->serving->stopping && !r->open && !r->jobs)
        qn_fail(&e, QN_EBUSY, "the server is stopping");
    if (e.code)
        qn_infer_fail(r, &e, false);
    else
        r->then(r);
}

void qn_infer_aside(struct qn_infer_run *r, qn_post_fn work, qn_post_fn then)
{
    if (!r->large) {
        work(r);
        then(r);
        return;
    }
    r->busy++;
    r->aside = true;
    r->then = then;
    qn_loop_work(r->with->serving->loop, work, back, r);
}
