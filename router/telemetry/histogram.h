/* How often a duration fell between which bounds: a histogram as Prometheus has them, with bounds
 * that do not change. Observing is a search of a few bounds and three additions, cheap enough for
 * every token. Loop thread only. */
#ifndef QN_TELEMETRY_HISTOGRAM_H
#define QN_TELEMETRY_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

enum { QN_HISTOGRAM_BOUNDS_MAX = 16 };

/* Upper bounds in seconds, ascending; a value that equals one is within it. What is above the last
 * counts in the bucket behind it. */
struct qn_bounds {
    size_t n;
    double upper_s[QN_HISTOGRAM_BOUNDS_MAX];
};

struct qn_histogram {
    uint64_t buckets[QN_HISTOGRAM_BOUNDS_MAX + 1]; /* each by itself, not cumulative */
    uint64_t count;
    double sum_s;
};

/* The bucket of a value. Negative values and NANs are in the first: clocks of other processes may
 * have given them. */
size_t qn_bounds_find(const struct qn_bounds *b, double seconds);

/* Counts a value in the bucket that was found for it. */
void qn_histogram_add(struct qn_histogram *h, size_t bucket, double seconds);

/* The value below which the share q (0 to 1) of all lies, in seconds: straight between the bounds
 * of its bucket, the last bound for what is above it; 0 when there is none. */
double qn_histogram_quantile(const struct qn_histogram *h, const struct qn_bounds *b, double q);

#endif
