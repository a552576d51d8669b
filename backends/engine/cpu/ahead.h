/* Prefetching of memory, a few lines with every step of a product: if everything is prefetched at
 * once, most of it is lost, because the processor drops requests that exceed its buffers. */
#ifndef QN_ENGINE_CPU_AHEAD_H
#define QN_ENGINE_CPU_AHEAD_H

#include <stdint.h>
#include <xmmintrin.h>

/* Prefetch distance in bytes of weights, for products of few rows: 8 KiB was best on AMD's
 * processors (Zen 5), 2 KiB is a quarter faster on Intel's (Sapphire Rapids). */
enum { ASK_NEAR = 2048, ASK_FAR = 8192 };

static inline int ask_distance(void)
{
    return __builtin_cpu_is("intel") ? ASK_NEAR : ASK_FAR;
}

/* Prefetches the lines of n bytes at p, which will be needed after `distance` bytes. Far data goes
 * only to the L2 cache: the L1 cache has few request buffers and stalls on them (a quarter slower
 * on Zen 4). */
static inline __attribute__((always_inline)) void ask(const char *p, int n, int distance)
{
    for (int i = 0; i < n; i += 64)
        if (distance <= ASK_NEAR)
            _mm_prefetch(p + i, _MM_HINT_T0);
        else
            _mm_prefetch(p + i, _MM_HINT_T1);
}

struct ahead {
    const char *at, *end;
    int lines; /* lines per step */
};

/* Prefetches the memory from `at` to `end`, distributed over this many steps. */
static inline struct ahead ahead_of(const char *at, const char *end, int64_t steps)
{
    const int64_t lines = (end - at + 63) / 64;
    return (struct ahead){at, end, (int)((lines + steps - 1) / steps)};
}

static inline __attribute__((always_inline)) void ask_ahead(struct ahead *a)
{
    for (int i = 0; i < a->lines && a->at < a->end; i++, a->at += 64)
        _mm_prefetch(a->at, _MM_HINT_T1);
}

#endif
