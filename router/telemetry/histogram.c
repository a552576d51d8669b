/* See histogram.h. */
#include "telemetry/histogram.h"

size_t qn_bounds_find(const struct qn_bounds *b, double seconds)
{
    size_t i = 0;
    while (i < b->n && seconds > b->upper_s[i])
        i++;
    return i;
}

void qn_histogram_add(struct qn_histogram *h, size_t bucket, double seconds)
{
    h->buckets[bucket]++;
    h->count++;
    if (seconds > 0)
        h->sum_s += seconds;
}

double qn_histogram_quantile(const struct qn_histogram *h, const struct qn_bounds *b, double q)
{
    double wanted = q * (double)h->count, below = 0, lower = 0;
    for (size_t i = 0; i < b->n; i++) {
        double here = (double)h->buckets[i];
        if (here > 0 && below + here >= wanted)
            return lower + (b->upper_s[i] - lower) * (wanted - below) / here;
        below += here;
        lower = b->upper_s[i];
    }
    return h->count ? lower : 0;
}
