/* Each limit is the best of a few runs of a loop that does nothing else, on all threads at once. A
 * child process does it, so that its memory is not counted as the benchmark's. */
#include "limits.h"

#include "base/clock.h"

#include <immintrin.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RUNS = 5, THREADS_MAX = 128, LINE = 64, AHEAD = 8192 };
static const size_t region_bytes = 128u << 20; /* per thread: larger than any cache */
static const int64_t spins = 2000000;

struct job {
    double (*work)(void *arg); /* operations or bytes done */
    void *arg;
    pthread_barrier_t *start;
    double done, began, ended; /* seconds */
};

static double now_s(void)
{
    return (double)qn_now_us() * 1e-6;
}

static void *one(void *p)
{
    struct job *j = p;
    pthread_barrier_wait(j->start);
    j->began = now_s();
    j->done = j->work(j->arg);
    j->ended = now_s();
    return NULL;
}

/* The sum over all threads of what they did, per second from the first start to the last end. */
static double together(int threads, double (*work)(void *), void **args)
{
    double best = 0;
    for (int run = 0; run < RUNS; run++) {
        pthread_t id[THREADS_MAX];
        struct job jobs[THREADS_MAX];
        pthread_barrier_t start;
        double done = 0, began = INFINITY, ended = 0;
        pthread_barrier_init(&start, NULL, (unsigned)threads);
        for (int i = 0; i < threads; i++) {
            jobs[i] = (struct job){work, args ? args[i] : NULL, &start, 0, 0, 0};
            if (pthread_create(&id[i], NULL, one, &jobs[i])) {
                fprintf(stderr, "bench: cannot start a thread\n");
                exit(1);
            }
        }
        for (int i = 0; i < threads; i++) {
            pthread_join(id[i], NULL);
            done += jobs[i].done;
            began = fmin(began, jobs[i].began);
            ended = fmax(ended, jobs[i].ended);
        }
        pthread_barrier_destroy(&start);
        best = fmax(best, done / (ended - began));
    }
    return best;
}

static volatile uint64_t sink; /* keeps the compiler from leaving the loops out */

/* One long stretch a thread, front to back: several streams, or turns at pieces, get less here. */
static double read_region(void *arg)
{
    const char *p = arg, *end = p + region_bytes;
    uint64_t sum[8] = {0};
    for (; p < end; p += LINE) {
        const uint64_t *words = (const uint64_t *)p;
        __builtin_prefetch(p + AHEAD);
        for (int i = 0; i < 8; i++)
            sum[i] += words[i];
    }
    for (int i = 0; i < 8; i++)
        sink += sum[i];
    return (double)region_bytes;
}

static double measure_read(int threads)
{
    void *regions[THREADS_MAX];
    for (int i = 0; i < threads; i++) {
        regions[i] =
            mmap(NULL, region_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (regions[i] == MAP_FAILED) {
            fprintf(stderr, "bench: no memory to measure with\n");
            exit(1);
        }
        madvise(regions[i], region_bytes, MADV_HUGEPAGE); /* as weights are */
        memset(regions[i], i + 1, region_bytes);
    }
    double rate = together(threads, read_region, regions);
    for (int i = 0; i < threads; i++)
        munmap(regions[i], region_bytes);
    return rate;
}

/* Ten independent chains cover the latency of both units on all of today's processors. */
#define CHAINS(op) op(0) op(1) op(2) op(3) op(4) op(5) op(6) op(7) op(8) op(9)
enum { N_CHAINS = 10 };

__attribute__((target("avx512f"))) static double fma_512(void *arg)
{
    (void)arg;
    __m512 a[N_CHAINS], x = _mm512_set1_ps(0.999f), y = _mm512_set1_ps(1e-3f);
    for (int i = 0; i < N_CHAINS; i++)
        a[i] = _mm512_set1_ps((float)i);
    for (int64_t n = 0; n < spins; n++) {
#define OP(i) a[i] = _mm512_fmadd_ps(a[i], x, y);
        CHAINS(OP)
#undef OP
        __asm__ volatile("" : "+v"(x)); /* the results are not foreseen */
    }
    float sum = 0;
    for (int i = 0; i < N_CHAINS; i++)
        sum += _mm512_cvtss_f32(a[i]);
    sink += (uint64_t)(int64_t)sum;
    return (double)spins * N_CHAINS * 16 * 2;
}

__attribute__((target("avx2,fma"))) static double fma_256(void *arg)
{
    (void)arg;
    __m256 a[N_CHAINS], x = _mm256_set1_ps(0.999f), y = _mm256_set1_ps(1e-3f);
    for (int i = 0; i < N_CHAINS; i++)
        a[i] = _mm256_set1_ps((float)i);
    for (int64_t n = 0; n < spins; n++) {
#define OP(i) a[i] = _mm256_fmadd_ps(a[i], x, y);
        CHAINS(OP)
#undef OP
        __asm__ volatile("" : "+x"(x));
    }
    float sum = 0;
    for (int i = 0; i < N_CHAINS; i++)
        sum += _mm256_cvtss_f32(a[i]);
    sink += (uint64_t)sum;
    return (double)spins * N_CHAINS * 8 * 2;
}

__attribute__((target("avx512f,avx512vnni"))) static double int8_512(void *arg)
{
    (void)arg;
    __m512i a[N_CHAINS], x = _mm512_set1_epi8(3), y = _mm512_set1_epi8((char)spins);
    for (int i = 0; i < N_CHAINS; i++)
        a[i] = _mm512_set1_epi32(i);
    for (int64_t n = 0; n < spins; n++) {
#define OP(i) a[i] = _mm512_dpbusd_epi32(a[i], x, y);
        CHAINS(OP)
#undef OP
        __asm__ volatile("" : "+v"(x));
    }
    int64_t sum = 0;
    for (int i = 0; i < N_CHAINS; i++)
        sum += _mm512_cvtsi512_si32(a[i]);
    sink += (uint64_t)sum;
    return (double)spins * N_CHAINS * 64 * 2;
}

__attribute__((target("avx2"))) static double int8_256(void *arg)
{
    (void)arg;
    __m256i a[N_CHAINS], x = _mm256_set1_epi8(3), y = _mm256_set1_epi8((char)spins);
    const __m256i ones = _mm256_set1_epi16(1);
    for (int i = 0; i < N_CHAINS; i++)
        a[i] = _mm256_set1_epi32(i);
    for (int64_t n = 0; n < spins; n++) {
#define OP(i)                                                                                      \
    a[i] = _mm256_add_epi32(a[i], _mm256_madd_epi16(_mm256_maddubs_epi16(x, y), ones));            \
    __asm__ volatile("" : "+x"(x));
        CHAINS(OP)
#undef OP
    }
    int64_t sum = 0;
    for (int i = 0; i < N_CHAINS; i++)
        sum += _mm256_cvtsi256_si32(a[i]);
    sink += (uint64_t)sum;
    return (double)spins * N_CHAINS * 32 * 2;
}

static struct limits measure(int threads)
{
    struct limits l = {.read_gb_s = measure_read(threads) * 1e-9};
    if (__builtin_cpu_supports("avx512f"))
        l.fma_gflop_s = together(threads, fma_512, NULL) * 1e-9;
    else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        l.fma_gflop_s = together(threads, fma_256, NULL) * 1e-9;
    if (__builtin_cpu_supports("avx512vnni"))
        l.int8_gop_s = together(threads, int8_512, NULL) * 1e-9;
    else if (__builtin_cpu_supports("avx2"))
        l.int8_gop_s = together(threads, int8_256, NULL) * 1e-9;
    return l;
}

struct limits limits_measure(int threads)
{
    struct limits l = {0};
    int ends[2], status = 0;
    if (threads > THREADS_MAX)
        threads = THREADS_MAX;
    if (pipe(ends)) {
        perror("bench: pipe");
        exit(1);
    }
    pid_t child = fork();
    if (child == 0) {
        l = measure(threads);
        _exit(write(ends[1], &l, sizeof l) != sizeof l);
    }
    close(ends[1]);
    if (child < 0 || read(ends[0], &l, sizeof l) != sizeof l || waitpid(child, &status, 0) < 0 ||
        status) {
        fprintf(stderr, "bench: the machine's limits could not be measured\n");
        exit(1);
    }
    close(ends[0]);
    return l;
}
