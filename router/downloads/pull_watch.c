/* The clients' view of jobs: figures, progress, the end; see pull_private.h. */
#include "downloads/pull_private.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/str.h"

#include <stdlib.h>

static size_t jobs_ahead(const struct qn_pull_job *j)
{
    size_t n = 0;
    bool before = true;
    for (const struct qn_pull_job *other = j->pulls->jobs; other; other = other->next) {
        before = before && other != j;
        if (other != j && !qn_pull_is_over(other->m.state) && other->m.state != QN_PULL_PAUSED &&
            (other->priority > j->priority || (other->priority == j->priority && before)))
            n++;
    }
    return n;
}

struct qn_pull_view qn_pull_view_of(const struct qn_pull_job *j)
{
    struct qn_pulls *p = j->pulls;
    size_t n = j->blobs ? j->plan->n : 0;
    if (n > p->scratch_n) {
        p->scratch = qn_xrealloc(p->scratch, n * sizeof *p->scratch);
        p->scratch_n = n;
    }
    for (size_t i = 0; i < n; i++) {
        const struct qn_download_file *f = &j->plan->files[i];
        struct qn_pull_meter *m = &j->blobs[i]->meter;
        int64_t size = f->size_bytes >= 0 ? f->size_bytes : atomic_load(&m->size_bytes);
        p->scratch[i] = (struct qn_pull_view_file){
            .path = f->path,
            .sum = *f->sha256 ? f->sha256 : f->git_sha1,
            .size_bytes = size,
            .here_bytes = f->done && size >= 0 ? size : atomic_load(&m->here_bytes),
            .before_bytes = atomic_load(&m->before_bytes),
            .done = f->done,
        };
    }
    bool failed = j->m.state == QN_PULL_FAILED;
    struct qn_pull_view v = {
        .id = j->id,
        .model = j->plan->order.model,
        .status = qn_pull_status(j->m.state),
        .phase = qn_pull_state_name(j->m.state),
        .running = qn_pull_is_at_work(j->m.state) && !j->wants_resolve,
        .error = failed ? j->error.message : "",
        .error_name = !failed                                        ? ""
                      : qn_str_eq(j->error.param, QN_PULL_DISK_FULL) ? QN_PULL_DISK_FULL
                                                                     : qn_err_name(j->error.code),
        .retry_s = j->retry_at_ms > qn_now_ms() ? (j->retry_at_ms - qn_now_ms() + 999) / 1000
                                                : j->retry_at_ms != 0,
        .recipe = j->plan->order.recipe,
        .main_ref = j->plan->order.n ? j->plan->order.checkpoints[0].ref : "",
        .files = p->scratch,
        .n = n,
        .rate_bytes_s =
            j->m.state == QN_PULL_FETCHING || j->m.state == QN_PULL_WAITING ? j->rate.bytes_s : 0,
        .priority = j->priority,
        .ahead = j->m.state == QN_PULL_WAITING || j->wants_resolve ? jobs_ahead(j) : 0,
        .created_s = j->created_s,
        .changed_s = j->changed_s,
    };
    qn_pull_view_add_up(&v);
    return v;
}

static void leave(struct qn_pull_client *c)
{
    struct qn_pull_client **at = &c->job->clients;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    free(c->owner);
    free(c);
}

static void tell_end(struct qn_pull_client *c, const struct qn_error *e)
{
    struct qn_pull_view v = qn_pull_view_of(c->job);
    c->ev->end(c->ctx, &v, e);
    leave(c);
}

void qn_pull_tell_end(struct qn_pull_job *j, const struct qn_error *e)
{
    while (j->clients)
        tell_end(j->clients, e);
}

/* Other clients may leave during a callback, so the search starts again after each one. */
void qn_pull_tell_end_to(struct qn_pull_job *j, const char *owner, const struct qn_error *e)
{
    for (struct qn_pull_client *c = j->clients; c;) {
        bool hit = c->owner && qn_str_eq(c->owner, owner);
        if (hit)
            tell_end(c, e);
        c = hit ? j->clients : c->next;
    }
}

/* A client may leave, or get its end event, while the others are notified. */
void qn_pull_tell_progress(struct qn_pull_job *j)
{
    for (struct qn_pull_client *c = j->clients, *next; c; c = next) {
        next = c->next;
        struct qn_pull_view v = qn_pull_view_of(j);
        if (j->kept && !c->told_kept) {
            c->told_kept = true;
            if (c->ev->kept)
                c->ev->kept(c->ctx, &v);
        } else if (c->ev->progress) {
            c->ev->progress(c->ctx, &v);
        }
    }
}

void qn_pull_look(struct qn_pull_job *j)
{
    struct qn_pull_view v = qn_pull_view_of(j);
    qn_pull_rate_look(&j->rate, v.here_bytes, qn_now_ms());
}

void qn_pull_leave(struct qn_pull_client *c)
{
    if (!c)
        return;
    struct qn_pull_job *j = c->job;
    leave(c);
    if (!j->wanted && !j->clients && !j->pulls->stopping)
        qn_pull_handle(j, QN_PULL_CANCEL);
}
