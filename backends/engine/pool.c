/* Worker threads that are not waited for unless they have joined a run.
 *
 * One 32-bit word is the whole state: how many workers are inside the current run (low bits),
 * whether it can still be joined (OPEN), and the number of the run (the rest). A worker joins by
 * incrementing the count with a compare-and-swap, takes items until none is left, and decrements
 * the count. Each thread has a range of items and takes them from the front; when its range is
 * empty, it takes items from the back of another thread's range. Adjacent items are thus read by
 * one thread, front to back: when two threads took pieces of 64 KiB alternately, this machine's
 * memory gave two thirds of its bandwidth. The caller works too; when it finds no more items, it
 * clears OPEN and waits only for workers that are inside: a worker that was never scheduled is not
 * waited for. The word is also the futex, with one wake-up bit for the workers and one for the
 * caller. */
#include "engine/pool.h"
#include "base/buf.h"
#include "base/clock.h"

#include <assert.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { INSIDE = 0xff, OPEN = 0x100, QUIT = 0x200, RUN = 0x400 };
enum { WAKE_WORKERS = 1, WAKE_CALLER = 2 };
enum { SPIN_US = 20 };

/* A wait longer than this, and longer than three quarters of the run, counts as a delay by other
 * programs: neither slow cores next to fast ones nor a long last item explain it. */
static const int64_t held_up_ns = 300 * 1000;
static const int64_t alone_min_ns = 16 * 1000 * 1000, alone_max_ns = 256 * 1000 * 1000;

/* Items not taken yet: the first in the low half, the end in the high half. */
struct range {
    _Alignas(64) atomic_ullong ends;
};

struct worker {
    struct qn_pool *pool;
    pthread_t thread;
    int index;
};

struct qn_pool {
    _Alignas(64) atomic_uint word;
    _Alignas(64) atomic_int asleep; /* workers that wait in the futex, or are about to */
    atomic_bool caller_asleep;
    /* of the current run: written before OPEN is set, read only by threads inside */
    qn_pool_fn fn;
    void *arg;
    /* used by the caller: for how long it runs without workers, and until when */
    int64_t alone_ns, alone_until;
    int threads;
    struct range *ranges;    /* [threads] */
    struct worker workers[]; /* [threads - 1] */
};

static void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void futex_wait(atomic_uint *word, unsigned seen, unsigned bits)
{
    syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, seen, NULL, NULL, bits);
}

static void futex_wake(atomic_uint *word, int n, unsigned bits)
{
    syscall(SYS_futex, word, FUTEX_WAKE_BITSET_PRIVATE, n, NULL, NULL, bits);
}

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Takes the next item of a range, from its back if `back`; -1 if the range is empty. */
static int64_t take(struct range *r, bool back)
{
    unsigned long long ends = atomic_load_explicit(&r->ends, memory_order_relaxed);
    for (;;) {
        uint32_t first = (uint32_t)ends, end = (uint32_t)(ends >> 32);
        if (first == end)
            return -1;
        unsigned long long left = back ? ends - (1ull << 32) : ends + 1;
        if (atomic_compare_exchange_weak_explicit(&r->ends, &ends, left, memory_order_relaxed,
                                                  memory_order_relaxed))
            return back ? end - 1 : first;
    }
}

static void take_items(struct qn_pool *p, int worker)
{
    for (int i = 0; i < p->threads; i++) {
        struct range *r = &p->ranges[(worker + i) % p->threads];
        for (int64_t item; (item = take(r, i > 0)) >= 0;)
            p->fn(p->arg, item, worker);
    }
}

static bool joinable(unsigned word, unsigned last_run)
{
    return (word & OPEN) && (word & ~(RUN - 1u)) != last_run;
}

/* Waits until a run other than last_run can be joined, or for QUIT. */
static unsigned await_run(struct qn_pool *p, unsigned last_run)
{
    unsigned word = atomic_load(&p->word);
    int64_t until = now_ns() + SPIN_US * 1000;
    for (int spins = 1; !joinable(word, last_run) && !(word & QUIT); spins++) {
        pause_briefly();
        word = atomic_load(&p->word);
        if (spins % 64 == 0 && now_ns() > until)
            break;
    }
    while (!joinable(word, last_run) && !(word & QUIT)) {
        /* Sequentially consistent on both sides: either the caller sees this worker asleep and
         * wakes it, or the futex sees its new word and does not sleep. */
        atomic_fetch_add(&p->asleep, 1);
        word = atomic_load(&p->word);
        if (!joinable(word, last_run) && !(word & QUIT))
            futex_wait(&p->word, word, WAKE_WORKERS);
        atomic_fetch_sub(&p->asleep, 1);
        word = atomic_load(&p->word);
    }
    return word;
}

static void *worker_main(void *arg)
{
    struct worker *w = arg;
    struct qn_pool *p = w->pool;
    unsigned last_run = ~(RUN - 1u);
    for (;;) {
        unsigned word = await_run(p, last_run);
        if (word & QUIT)
            return NULL;
        if (!atomic_compare_exchange_strong(&p->word, &word, word + 1))
            continue;
        last_run = word & ~(RUN - 1u);
        take_items(p, w->index);
        unsigned before = atomic_fetch_sub(&p->word, 1);
        if ((before & INSIDE) == 1 && !(before & OPEN) && atomic_load(&p->caller_asleep))
            futex_wake(&p->word, 1, WAKE_CALLER);
    }
}

/* Waits until no worker is inside. OPEN is clear, so no worker can enter. */
static void await_inside(struct qn_pool *p)
{
    int64_t until = 0;
    for (int spins = 1; atomic_load(&p->word) & INSIDE; spins++) {
        pause_briefly();
        if (spins % 64)
            continue;
        if (!until)
            until = now_ns() + SPIN_US * 1000;
        else if (now_ns() > until)
            break;
    }
    for (unsigned word; (word = atomic_load(&p->word)) & INSIDE;) {
        atomic_store(&p->caller_asleep, true);
        word = atomic_load(&p->word);
        if (word & INSIDE)
            futex_wait(&p->word, word, WAKE_CALLER);
        atomic_store(&p->caller_asleep, false);
    }
}

/* After a run that ended at `now`: if the wait for workers was too long, the next runs use only the
 * caller's thread for a while. */
static void judge(struct qn_pool *p, int64_t waited, int64_t whole, int64_t now)
{
    if (waited > held_up_ns && waited > whole / 4 * 3) {
        p->alone_ns = p->alone_ns ? 2 * p->alone_ns : alone_min_ns;
        if (p->alone_ns > alone_max_ns)
            p->alone_ns = alone_max_ns;
        p->alone_until = now + p->alone_ns;
    } else if (p->alone_ns && now > p->alone_until + p->alone_ns) {
        p->alone_ns = 0; /* no delay for as long as the caller ran alone */
    }
}

void qn_pool_run(struct qn_pool *p, qn_pool_fn fn, void *arg, int64_t n)
{
    int64_t start = p->threads > 1 && n > 1 ? now_ns() : 0;
    assert(n <= INT32_MAX);
    if (p->threads == 1 || n <= 1 || start < p->alone_until) {
        for (int64_t i = 0; i < n; i++)
            fn(arg, i, 0);
        return;
    }
    p->fn = fn;
    p->arg = arg;
    for (int i = 0; i < p->threads; i++) {
        unsigned long long first = (unsigned long long)(n * i / p->threads),
                           end = (unsigned long long)(n * (i + 1) / p->threads);
        atomic_store_explicit(&p->ranges[i].ends, end << 32 | first, memory_order_relaxed);
    }
    unsigned word = atomic_load(&p->word);
    assert(!(word & (INSIDE | OPEN)));
    atomic_store(&p->word, (word + RUN) | OPEN);
    int asleep = atomic_load(&p->asleep);
    if (asleep > 0)
        futex_wake(&p->word, n - 1 < asleep ? (int)(n - 1) : asleep, WAKE_WORKERS);
    take_items(p, 0);
    atomic_fetch_and(&p->word, ~(unsigned)OPEN);
    int64_t finished = now_ns();
    await_inside(p);
    int64_t now = now_ns();
    judge(p, now - finished, now - start, now);
}

qn_err qn_pool_new(int threads, struct qn_pool **out, struct qn_error *e)
{
    if (threads < 1 || threads > QN_POOL_THREADS_MAX)
        return qn_fail(e, QN_EINVAL, "threads: %d is not within 1 and %d", threads,
                       QN_POOL_THREADS_MAX);
    size_t bytes = sizeof(struct qn_pool) + (size_t)(threads - 1) * sizeof(struct worker);
    struct qn_pool *p = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!p)
        return qn_fail(e, QN_ENOMEM, "no memory for a pool of %d threads", threads);
    memset(p, 0, bytes);
    p->ranges = aligned_alloc(64, (size_t)threads * sizeof *p->ranges);
    if (!p->ranges) {
        free(p);
        return qn_fail(e, QN_ENOMEM, "no memory for a pool of %d threads", threads);
    }
    p->threads = 1;
    /* Signals are for the program's own threads, except those that a worker's own instruction
     * causes: if blocked, they would kill the process before its handler can report the cause. */
    sigset_t all, old;
    sigfillset(&all);
    sigdelset(&all, SIGBUS);
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGILL);
    sigdelset(&all, SIGFPE);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    for (int i = 0; i < threads - 1; i++) {
        p->workers[i] = (struct worker){.pool = p, .index = i + 1};
        int rc = pthread_create(&p->workers[i].thread, NULL, worker_main, &p->workers[i]);
        if (rc) {
            pthread_sigmask(SIG_SETMASK, &old, NULL);
            qn_pool_free(p);
            return qn_fail(e, QN_EIO, "start worker thread %d of %d: %s", i + 1, threads - 1,
                           strerror(rc));
        }
        p->threads++;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    *out = p;
    return QN_OK;
}

void qn_pool_free(struct qn_pool *p)
{
    if (!p)
        return;
    atomic_fetch_or(&p->word, QUIT);
    futex_wake(&p->word, QN_POOL_THREADS_MAX, WAKE_WORKERS);
    for (int i = 0; i < p->threads - 1; i++)
        pthread_join(p->workers[i].thread, NULL);
    free(p->ranges);
    free(p);
}

int qn_pool_threads(const struct qn_pool *p)
{
    return p->threads;
}
