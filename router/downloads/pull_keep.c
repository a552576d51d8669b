/* Writes jobs to the catalog and reads them from it; see pull_private.h. */
#include "downloads/pull_private.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"

#include <stdlib.h>

static bool may_write(const struct qn_pull_job *j)
{
    return !*j->pulls->config.closed;
}

/* The result's `wish` is the buffer's text, which the caller frees. */
static struct qn_download_row row_of(const struct qn_pull_job *j, struct qn_buf *text)
{
    struct qn_pull_view v = qn_pull_view_of(j);
    qn_buf_init(text, QN_PULL_ORDER_MAX);
    struct qn_pull_order order = j->plan->order;
    order.owners = j->owners;
    qn_pull_order_write(&order, text);
    return (struct qn_download_row){
        .id = j->id,
        .model = j->plan->order.model,
        .wish = qn_buf_cstr(text),
        .state = v.status,
        .error = v.error,
        .error_name = v.error_name,
        .priority = j->priority,
        .created_s = j->created_s,
        .changed_s = j->changed_s,
        .files = j->plan->files,
        .n_files = j->plan->n,
    };
}

struct keeping {
    struct qn_pulls *pulls;
    char *id;
};

static void on_kept(void *ctx, const struct qn_error *e)
{
    struct keeping *k = ctx;
    struct qn_pull_job *j = qn_pull_find(k->pulls, k->id);
    if (e)
        qn_error_log("pulls", "download=%s not_written=1 message=\"%s\"", k->id, e->message);
    if (j && !j->kept) { /* the job goes on either way: clients that only wait for its start are
                            notified */
        j->kept = true;
        qn_pull_tell_progress(j);
    }
    free(k->id);
    free(k);
}

/* Writes the job with all its files. */
void qn_pull_keep(struct qn_pull_job *j)
{
    struct qn_buf text;
    if (!may_write(j))
        return;
    struct qn_download_row row = row_of(j, &text);
    struct keeping *k = qn_xcalloc(1, sizeof *k);
    k->pulls = j->pulls;
    k->id = qn_xstrdup(j->id);
    qn_catalog_put_download(j->pulls->config.catalog, &row, on_kept, k);
    qn_buf_deinit(&text);
}

void qn_pull_mark(struct qn_pull_job *j)
{
    struct qn_buf text;
    j->changed_s = qn_wall_ms() / 1000;
    if (!may_write(j))
        return;
    struct qn_download_row row = row_of(j, &text);
    qn_catalog_mark_download(j->pulls->config.catalog, &row, NULL, NULL);
    qn_buf_deinit(&text);
}

/* Writes the files that a run has finished since the last call. */
void qn_pull_note_done(struct qn_pull_job *j)
{
    struct qn_pull_run *r = j->run;
    for (size_t i = 0; r && i < r->n; i++) {
        struct qn_download_file *f = &j->plan->files[r->files[i]];
        if (f->done || !atomic_load_explicit(&r->parts[i].done, memory_order_acquire))
            continue;
        f->done = true;
        f->etag = qn_arena_strdup(j->plan->arena, r->parts[i].etag);
        if (f->size_bytes < 0)
            f->size_bytes = atomic_load(&j->blobs[r->files[i]]->meter.size_bytes);
        if (may_write(j))
            qn_catalog_mark_download_file(j->pulls->config.catalog, j->id, r->files[i], f, NULL,
                                          NULL);
    }
}

void qn_pull_unkeep(struct qn_pull_job *j)
{
    if (may_write(j))
        qn_catalog_remove_download(j->pulls->config.catalog, j->id, NULL, NULL);
}

/* Restores a job of the last run. */
static void take_up(struct qn_pulls *p, const struct qn_download_row *row)
{
    struct qn_arena *a = qn_arena_new(SIZE_MAX); /* what was read is bounded already */
    struct qn_pull_order order;
    struct qn_error e = {0};
    if (qn_pull_find(p, row->id) || qn_pull_order_read(row->wish, a, &order, &e)) {
        qn_error_log("pulls", "download=%s not_taken_up=1 message=\"%s\"", row->id, e.message);
        qn_arena_free(a);
        return;
    }
    struct qn_pull_plan *plan = qn_arena_alloc(a, sizeof *plan);
    *plan = (struct qn_pull_plan){.arena = a, .order = order};
    struct qn_pull_job *j = qn_pull_job_new(p, row->id, plan);
    free(j->owners);
    j->owners = qn_xstrdup(order.owners);
    plan->files = qn_arena_alloc(a, (row->n_files + 1) * sizeof *plan->files);
    for (size_t i = 0; i < row->n_files; i++)
        qn_download_file_copy(&row->files[i], a, &plan->files[plan->n++]);
    if (plan->n) {
        j->m.planned = true;
        qn_pull_blobs_take(j);
    }
    j->priority = row->priority;
    j->created_s = row->created_s;
    j->changed_s = row->changed_s;
    j->wanted = j->kept = true;
    j->m.state = qn_pull_status_parse(row->state);
    if (j->m.state == QN_PULL_FAILED) {
        bool full = qn_str_eq(row->error_name, QN_PULL_DISK_FULL);
        qn_fail_param(&j->error, full ? QN_EIO : qn_err_parse(row->error_name),
                      full ? QN_PULL_DISK_FULL : "", "%s", row->error);
    }
    if (j->m.state == QN_PULL_WAITING) {
        qn_info("pulls", "download=%s resumed=1 files=%zu", j->id, plan->n);
        if (qn_pull_begin(&j->m) & QN_PULL_FX_RESOLVE)
            j->wants_resolve = true;
    }
}

static void on_found(void *ctx, const struct qn_download_row *rows, size_t n,
                     const struct qn_error *e)
{
    struct qn_pulls *p = ctx;
    if (p->stopping)
        return;
    if (e) {
        qn_error_log("pulls", "downloads_of_the_last_run=unreadable message=\"%s\"", e->message);
        return;
    }
    for (size_t i = 0; i < n; i++)
        take_up(p, &rows[i]);
    qn_pull_measure(p, rows, n);
    qn_pull_tick_on(p);
    qn_pull_schedule_soon(p);
}

void qn_pull_take_up(struct qn_pulls *p)
{
    qn_catalog_find_downloads(p->config.catalog, on_found, p);
}
