/* Memory asked for before its turn, a few lines with every step of a product: asked for all at
 * once, most of it is lost, because the processor drops what it has no room to wait for. */
#ifndef QN_ENGINE_CPU_AHEAD_H
#define QN_ENGINE_CPU_AHEAD_H

#include <stdint.h>
#include <xmmintrin.h>

/* Bytes of weights that are asked for before their turn, when few rows read them: 8 KiB were found
 * on AMD's processors (Zen 5), 2 give a quarter more on Intel's (Sapphire Rapids). */
enum { ASK_NEAR = 2048, ASK_FAR = 8192 };

static inline int ask_distance(void)
{
    return __builtin_cpu_is("intel") ? ASK_NEAR : ASK_FAR;
}

/* Asks for the lines of n bytes at p, which are `distance` bytes ahead of their turn. What is far
 * goes to the second cache only: the first has room for a few requests, and waits for them (a
 * quarter slower on Zen 4). */
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
    int lines; /* of one step */
};

/* What lies from `at` to `end`, in so many steps. */
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
