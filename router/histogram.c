/* See histogram.h. */
#include "router/histogram.h"

void qn_histogram_observe(struct qn_histogram *h, const struct qn_bounds *b, double seconds)
{
    size_t i = 0;
    if (!(seconds > 0))
        seconds = 0;
    while (i < b->n && seconds > b->upper_s[i])
        i++;
    h->buckets[i]++;
    h->count++;
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
