/* See transfer.h. */
#include "cli/transfer.h"

#include "cli/table.h"
#include "cli/words.h"

enum {
    WINDOW_MS = 8000, /* the rate is averaged over this time */
    SAMPLE_MS = 300,
    SETTLED_MS = 700, /* a rate over a shorter time is too inaccurate to show */
    BAR_MAX = 30,
    BAR_MIN = 5
};

static double number(const struct qn_jref *told, const char *key, double otherwise)
{
    struct qn_jref v = qn_json_get(told, key);
    return qn_json_type(&v) == QN_JSON_NUMBER && qn_json_raw_f64(&v) >= 0 ? qn_json_raw_f64(&v)
                                                                          : otherwise;
}

static int small(const struct qn_jref *told, const char *key, int otherwise)
{
    double v = number(told, key, otherwise);
    return v < 1e6 ? (int)v : otherwise;
}

static void sample(struct qn_transfer *t, int64_t now_ms)
{
    size_t last = (t->next_sample + QN_TRANSFER_SAMPLES - 1) % QN_TRANSFER_SAMPLES;
    if (t->n_samples && t->done < t->samples[last].done)
        t->n_samples = 0; /* the download was restarted */
    if (t->n_samples && now_ms - t->samples[last].at_ms < SAMPLE_MS)
        return;
    t->samples[t->next_sample].at_ms = now_ms;
    t->samples[t->next_sample].done = t->done;
    t->next_sample = (t->next_sample + 1) % QN_TRANSFER_SAMPLES;
    if (t->n_samples < QN_TRANSFER_SAMPLES)
        t->n_samples++;
}

void qn_transfer_update(struct qn_transfer *t, const struct qn_jref *told, int64_t now_ms)
{
    t->file_index = small(told, "file_index", t->file_index);
    t->total_files = small(told, "total_files", t->total_files);
    t->percent = number(told, "percent", t->percent);
    t->told_rate = number(told, "bytes_per_second", -1);
    if (t->file_index != t->told_index)
        t->earlier += number(told, "bytes_previously_downloaded", 0);
    t->told_index = t->file_index;
    double file_done = number(told, "bytes_downloaded", 0);
    double before = number(told, "completed_files_bytes", -1);
    double all = number(told, "cumulative_bytes_downloaded", -1);
    t->total = number(told, "total_download_size", t->total);
    if (t->total_files <= 1 && t->total <= 0)
        t->total = number(told, "bytes_total", 0);
    if (all >= 0)
        t->done = all;
    else if (before >= 0 || t->total_files <= 1)
        t->done = file_done + (before > 0 ? before : 0);
    else if (t->total > 0)
        t->done = t->total * t->percent / 100; /* percent refers to all files */
    if (t->total > 0 && t->done > t->total)
        t->done = t->total;
    if (t->total > 0)
        t->percent = t->done / t->total * 100;
    if (t->percent > 100)
        t->percent = 100;
    sample(t, now_ms);
}

double qn_transfer_rate(const struct qn_transfer *t)
{
    if (t->told_rate > 0)
        return t->told_rate;
    size_t newest = (t->next_sample + QN_TRANSFER_SAMPLES - 1) % QN_TRANSFER_SAMPLES;
    for (size_t age = t->n_samples; age > 1; age--) {
        size_t i = (t->next_sample + QN_TRANSFER_SAMPLES - age) % QN_TRANSFER_SAMPLES;
        int64_t ms = t->samples[newest].at_ms - t->samples[i].at_ms;
        if (ms <= WINDOW_MS)
            return ms >= SETTLED_MS
                       ? (t->samples[newest].done - t->samples[i].done) * 1000 / (double)ms
                       : -1;
    }
    return -1;
}

double qn_transfer_left_s(const struct qn_transfer *t)
{
    double rate = qn_transfer_rate(t);
    return t->total > 0 && rate > 0 ? (t->total - t->done) / rate : -1;
}

/* Appends "2.1 GB of 4.9 GB", without the parts that are unknown. */
static void add_amount(const struct qn_transfer *t, struct qn_buf *out)
{
    char done[16], total[16];
    qn_human_bytes(t->done, done);
    qn_human_bytes(t->total, total);
    qn_buf_str(out, done);
    if (t->total > 0)
        qn_buf_fmt(out, " of %s", total);
}

static void add_speed(const struct qn_transfer *t, struct qn_buf *out)
{
    char rate[16], left[24];
    if (qn_transfer_rate(t) < 0)
        return;
    qn_human_bytes(qn_transfer_rate(t), rate);
    qn_buf_fmt(out, "  %s/s", rate);
    if (qn_transfer_left_s(t) < 0)
        return;
    qn_words_duration(qn_transfer_left_s(t), left);
    qn_buf_fmt(out, "  %s left", left);
}

/* Rounded down, so that 100 appears only when the download is complete. */
static double whole_percent(const struct qn_transfer *t)
{
    return (double)(int)t->percent;
}

void qn_transfer_text(const struct qn_transfer *t, struct qn_buf *out)
{
    if (t->total > 0)
        qn_buf_fmt(out, "%.0f %%  ", whole_percent(t));
    add_amount(t, out);
    add_speed(t, out);
}

static void add_bar(double percent, size_t columns, struct qn_buf *out)
{
    size_t full = (size_t)(percent / 100 * (double)columns + 0.5);
    for (size_t i = 0; i < columns; i++)
        qn_buf_str(out, i < full ? "\xE2\x96\x88" : "\xE2\x96\x91"); /* full block, light shade */
}

void qn_transfer_line(const struct qn_transfer *t, size_t width, struct qn_buf *out)
{
    struct qn_buf figures;
    qn_buf_init(&figures, 256);
    add_amount(t, &figures); /* ASCII, so bytes equal columns */
    add_speed(t, &figures);
    size_t begin = out->len;
    if (t->total_files > 1)
        qn_buf_fmt(out, "[%d/%d] ", t->file_index, t->total_files);
    if (t->total > 0) {
        qn_buf_fmt(out, "%3.0f %%  ", whole_percent(t));
        size_t used = out->len - begin + figures.len + 2;
        size_t room = width > used ? width - used : 0;
        if (room >= BAR_MIN) {
            add_bar(t->percent, room < BAR_MAX ? room : BAR_MAX, out);
            qn_buf_str(out, "  ");
        }
    }
    qn_buf_add(out, figures.data, figures.len);
    qn_buf_deinit(&figures);
}
