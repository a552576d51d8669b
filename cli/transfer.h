/* A download in the server's reports (an event of POST pull, or a job of GET downloads): its
 * progress, rate, remaining time, and the line that shows them. Pure. */
#ifndef QN_CLI_TRANSFER_H
#define QN_CLI_TRANSFER_H

#include "base/buf.h"
#include "base/json.h"

#include <stddef.h>
#include <stdint.h>

enum { QN_TRANSFER_SAMPLES = 32 };

/* The progress of all files together, not of the current file. */
struct qn_transfer {
    int file_index, total_files; /* the current file, from 1; 0: unknown */
    int told_index;              /* the last file whose earlier bytes were added to `earlier` */
    double earlier;              /* part of done: bytes that were on the disk before */
    double done, total;          /* bytes of all files; total 0: unknown */
    double percent;              /* 0 to 100 */
    double told_rate;            /* bytes/s reported by the server; <= 0: not reported */
    struct {
        int64_t at_ms;
        double done;
    } samples[QN_TRANSFER_SAMPLES]; /* a ring buffer of the last seconds */
    size_t n_samples, next_sample;
};

/* Takes the members of a report: file_index, total_files, bytes_downloaded, bytes_total and
 * bytes_previously_downloaded (of the file), total_download_size, cumulative_bytes_downloaded (or
 * completed_files_bytes), percent, bytes_per_second. Missing members leave *t unchanged. *t begins
 * zeroed. now_ms: monotonic. */
void qn_transfer_update(struct qn_transfer *t, const struct qn_jref *told, int64_t now_ms);

/* Bytes per second over the last seconds; < 0: not known yet. */
double qn_transfer_rate(const struct qn_transfer *t);

/* Remaining seconds; < 0: unknown. */
double qn_transfer_left_s(const struct qn_transfer *t);

/* Writes "43 %  2.1 GB of 4.9 GB  39 MB/s  1 min 12 s left", for logs. */
void qn_transfer_text(const struct qn_transfer *t, struct qn_buf *out);

/* Writes "[2/3]  43 %  (a bar)  2.1 GB ..." in at most `width` columns (at least 70; the bar is
 * shortened first). */
void qn_transfer_line(const struct qn_transfer *t, size_t width, struct qn_buf *out);

#endif
