/* A download as the server tells of it (an event of POST pull, or a job of GET downloads): how far
 * it is, how fast, how long it will take, and the line that says so. Pure. */
#ifndef QN_CLI_TRANSFER_H
#define QN_CLI_TRANSFER_H

#include "base/buf.h"
#include "base/json.h"

#include <stddef.h>
#include <stdint.h>

enum { QN_TRANSFER_SAMPLES = 32 };

/* The whole of it, not the file that is at work. */
struct qn_transfer {
    int file_index, total_files; /* the one at work, from 1; 0: not known */
    int told_index;              /* the last file whose earlier bytes were added up */
    double earlier;              /* of done: bytes that were here before */
    double done, total;          /* bytes of all files; total 0: not known */
    double percent;              /* 0 to 100 */
    double told_rate;            /* bytes/s as the server says; <= 0: it does not */
    struct {
        int64_t at_ms;
        double done;
    } samples[QN_TRANSFER_SAMPLES]; /* a ring of the last seconds */
    size_t n_samples, next_sample;
};

/* Takes what an object tells: file_index, total_files, bytes_downloaded, bytes_total and
 * bytes_previously_downloaded (of the file), total_download_size, cumulative_bytes_downloaded (or
 * completed_files_bytes), percent, bytes_per_second. What is missing stays as it was. *t begins
 * zeroed. now_ms: monotonic. */
void qn_transfer_update(struct qn_transfer *t, const struct qn_jref *told, int64_t now_ms);

/* Bytes per second over the last seconds; < 0 before that can be said. */
double qn_transfer_rate(const struct qn_transfer *t);

/* Seconds to go; < 0: unknown. */
double qn_transfer_left_s(const struct qn_transfer *t);

/* "43 %  2.1 GB of 4.9 GB  39 MB/s  1 min 12 s left": for logs. */
void qn_transfer_text(const struct qn_transfer *t, struct qn_buf *out);

/* "[2/3]  43 %  (a bar)  2.1 GB ..." in at most `width` columns (from 70; the bar gives way). */
void qn_transfer_line(const struct qn_transfer *t, size_t width, struct qn_buf *out);

#endif
