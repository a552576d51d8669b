/* A limit on bytes per second that several downloads share.
 *
 * It stores the time at which the bytes taken so far would have arrived at the allowed rate (the
 * virtual scheduling algorithm of ITU-T I.371). Taking bytes moves this time forward, and the taker
 * waits while it is too far in the future. It is one number, so no lock is needed. */
#ifndef QN_REGISTRY_RATE_H
#define QN_REGISTRY_RATE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { QN_RATE_BURST_MS = 250 }; /* worth of bytes that may arrive at once after a pause */

struct qn_rate {
    _Atomic int64_t bytes_s; /* 0: no limit; may be changed at any time by any thread */
    _Atomic int64_t paid_us; /* monotonic time at which the bytes taken are within the rate */
};

/* Takes n bytes at now_us (qn_now_us). Returns for how many milliseconds the taker should take no
 * more: 0 when it is within the limit. r may be NULL: no limit. Any thread. */
int64_t qn_rate_take(struct qn_rate *r, size_t n, int64_t now_us);

#endif
