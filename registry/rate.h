/* A limit on bytes per second that several downloads share.
 *
 * It keeps the moment at which what has been taken so far would have come at the allowed rate
 * (the virtual scheduling algorithm of ITU-T I.371): whoever takes bytes moves it on, and waits
 * until it is not too far ahead. One number, so it needs no lock. */
#ifndef QN_REGISTRY_RATE_H
#define QN_REGISTRY_RATE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { QN_RATE_BURST_MS = 250 }; /* of bytes that may come at once after a pause */

struct qn_rate {
    _Atomic int64_t bytes_s; /* 0: no limit; may be changed at any time by any thread */
    _Atomic int64_t paid_us; /* when, by the monotonic clock, what was taken is paid for */
};

/* Takes n bytes at now_us (qn_now_us) and returns for how many milliseconds the taker should take
 * no more: 0 when it is within the limit. r may be NULL: no limit. Any thread. */
int64_t qn_rate_take(struct qn_rate *r, size_t n, int64_t now_us);

#endif
