/* Histograms of durations in Prometheus' sense, with fixed bounds. Adding a value costs a search
 * among a few bounds and three additions, which is cheap enough for every token. Loop thread
 * only. */
#ifndef QN_TELEMETRY_HISTOGRAM_H
#define QN_TELEMETRY_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

enum { QN_HISTOGRAM_BOUNDS_MAX = 16 };

/* Upper bounds in seconds, ascending and inclusive. One more bucket counts the values above the
 * last bound. */
struct qn_bounds {
    size_t n;
    double upper_s[QN_HISTOGRAM_BOUNDS_MAX];
};

struct qn_histogram {
    uint64_t buckets[QN_HISTOGRAM_BOUNDS_MAX + 1]; /* each bucket's own count, not cumulative */
    uint64_t count;
    double sum_s;
};

/* Returns the bucket of a value. Negative values and NAN, which may come from other processes'
 * clocks, belong to the first bucket. */
size_t qn_bounds_find(const struct qn_bounds *b, double seconds);

/* Counts a value in the bucket that qn_bounds_find returned for it. */
void qn_histogram_add(struct qn_histogram *h, size_t bucket, double seconds);

/* Returns the quantile q (0 to 1) in seconds, interpolated linearly between the bounds of its
 * bucket. For a value above the last bound it is the last bound; 0 if the histogram is empty. */
double qn_histogram_quantile(const struct qn_histogram *h, const struct qn_bounds *b, double q);

#endif
