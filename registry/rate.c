/* See rate.h. */
#include "registry/rate.h"

int64_t qn_rate_take(struct qn_rate *r, size_t n, int64_t now_us)
{
    int64_t bytes_s = r ? atomic_load_explicit(&r->bytes_s, memory_order_relaxed) : 0;
    if (bytes_s <= 0)
        return 0;
    int64_t cost_us = (int64_t)((double)n * 1e6 / (double)bytes_s);
    int64_t paid = atomic_load_explicit(&r->paid_us, memory_order_relaxed), next;
    do {
        /* time in the past gives no credit: unused rate is not saved up */
        next = (paid > now_us ? paid : now_us) + cost_us;
    } while (!atomic_compare_exchange_weak_explicit(&r->paid_us, &paid, next, memory_order_relaxed,
                                                    memory_order_relaxed));
    int64_t ahead_ms = (next - now_us) / 1000 - QN_RATE_BURST_MS;
    return ahead_ms > 0 ? ahead_ms : 0;
}
