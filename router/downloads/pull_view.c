/* See pull_view.h. */
#include "downloads/pull_view.h"

#include <math.h>

enum { RATE_WINDOW_MS = 4000 };

void qn_pull_view_add_up(struct qn_pull_view *v)
{
    v->here_bytes = v->total_bytes = 0;
    v->current = v->n;
    for (size_t i = v->n; i-- > 0;) {
        v->here_bytes += v->files[i].here_bytes;
        if (v->files[i].size_bytes < 0)
            v->total_bytes = -1;
        else if (v->total_bytes >= 0)
            v->total_bytes += v->files[i].size_bytes;
        if (!v->files[i].done)
            v->current = i;
    }
}

double qn_pull_view_left_s(const struct qn_pull_view *v)
{
    if (v->total_bytes < 0 || v->rate_bytes_s < 1)
        return -1;
    return (double)(v->total_bytes - v->here_bytes) / v->rate_bytes_s;
}

/* Whole percents; 100 only when every byte has arrived. */
static int64_t percent(int64_t here, int64_t total, bool done)
{
    if (done)
        return 100;
    if (total <= 0)
        return 0;
    int64_t p = (int64_t)((double)here * 100.0 / (double)total);
    return p > 99 ? 99 : p < 0 ? 0 : p;
}

static void write_rest(const struct qn_pull_view *v, struct qn_jw *w)
{
    int64_t here = v->here_bytes, total = v->total_bytes;
    double left = qn_pull_view_left_s(v);
    qn_jw_ki64(w, "cumulative_bytes_downloaded", here);
    qn_jw_ki64(w, "overall_bytes_downloaded", here);
    qn_jw_ki64(w, "total_download_size", total < 0 ? 0 : total);
    qn_jw_ki64(w, "total_percent", percent(here, total, v->n && v->current == v->n));
    qn_jw_ki64(w, "bytes_per_second", (int64_t)v->rate_bytes_s);
    if (left < 0)
        qn_jw_knull(w, "seconds_left");
    else
        qn_jw_ki64(w, "seconds_left", (int64_t)ceil(left));
}

/* Bytes of the files before file i that are done. */
static int64_t completed_before(const struct qn_pull_view *v, size_t i)
{
    int64_t bytes = 0;
    for (size_t k = 0; k < i; k++)
        bytes += v->files[k].done ? v->files[k].here_bytes : 0;
    return bytes;
}

void qn_pull_view_progress(const struct qn_pull_view *v, size_t i, struct qn_jw *w)
{
    const struct qn_pull_view_file *f = &v->files[i];
    qn_jw_kstr(w, "file", f->path);
    qn_jw_ki64(w, "file_index", (int64_t)i + 1);
    qn_jw_ki64(w, "total_files", (int64_t)v->n);
    qn_jw_ki64(w, "bytes_downloaded", f->here_bytes);
    qn_jw_ki64(w, "bytes_total", f->size_bytes < 0 ? 0 : f->size_bytes);
    qn_jw_ki64(w, "bytes_previously_downloaded", f->before_bytes);
    qn_jw_ki64(w, "completed_files_bytes", completed_before(v, i));
    qn_jw_ki64(w, "percent", percent(f->here_bytes, f->size_bytes, f->done));
    write_rest(v, w);
}

void qn_pull_view_job(const struct qn_pull_view *v, struct qn_jw *w)
{
    size_t i = v->current;
    bool complete = v->status[0] == 'c' && v->status[1] == 'o'; /* "completed" */
    qn_jw_obj(w);
    qn_jw_kstr(w, "id", v->id);
    qn_jw_kstr(w, "type", "model");
    qn_jw_kstr(w, "model_name", v->model);
    qn_jw_ksource(w, "checkpoint", v->main_ref);
    qn_jw_kstr(w, "status", v->status);
    qn_jw_kstr(w, "phase", v->phase);
    qn_jw_kbool(w, "running", v->running);
    qn_jw_kbool(w, "complete", complete);
    if (*v->error) {
        qn_jw_kstr(w, "error", v->error);
        qn_jw_kstr(w, "code", v->error_name);
        if (v->retry_s)
            qn_jw_ki64(w, "retry_in_s", v->retry_s);
    }
    qn_jw_ki64(w, "priority", v->priority);
    qn_jw_ki64(w, "jobs_ahead", (int64_t)v->ahead);
    qn_jw_ki64(w, "created", v->created_s);
    qn_jw_ki64(w, "changed", v->changed_s);
    if (v->n) {
        qn_pull_view_progress(v, i < v->n ? i : v->n - 1, w);
    } else {
        qn_jw_kstr(w, "file", "");
        qn_jw_ki64(w, "file_index", 0);
        qn_jw_ki64(w, "total_files", 0);
        qn_jw_ki64(w, "bytes_downloaded", 0);
        qn_jw_ki64(w, "bytes_total", 0);
        qn_jw_ki64(w, "bytes_previously_downloaded", 0);
        qn_jw_ki64(w, "completed_files_bytes", 0);
        qn_jw_ki64(w, "percent", complete ? 100 : 0);
        write_rest(v, w);
    }
    qn_jw_obj_end(w);
}

/* Begins with the mean over all time, so that the first values are no worse than later ones; then
 * older values lose weight exponentially. */
void qn_pull_rate_look(struct qn_pull_rate *r, int64_t bytes, int64_t now_ms)
{
    int64_t passed = now_ms - r->at_ms;
    if (!r->at_ms || bytes < r->bytes) {
        *r = (struct qn_pull_rate){.begun_ms = now_ms};
    } else if (passed <= 0) {
        return;
    } else {
        double now = (double)(bytes - r->bytes) * 1000.0 / (double)passed;
        double share = 1 - exp(-(double)passed / RATE_WINDOW_MS);
        double of_all = (double)passed / (double)(now_ms - r->begun_ms);
        r->bytes_s += (share > of_all ? share : of_all) * (now - r->bytes_s);
    }
    r->bytes = bytes;
    r->at_ms = now_ms;
}
