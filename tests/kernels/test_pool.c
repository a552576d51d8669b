/* The worker pool: each item exactly once, worker numbers never shared, waiting threads asleep. Run
 * under the thread sanitizer too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/pool.h"

enum { ITEMS = 1000, THREADS = 4 };

struct work {
    int done[ITEMS];     /* plain ints: the sanitizer sees whether qn_pool_run orders them */
    int64_t by[THREADS]; /* items of each worker, written without locks */
    atomic_int in[THREADS];
    int nap_us;
};

static void count(void *arg, int64_t i, int worker)
{
    struct work *w = arg;
    assert_in_range(worker, 0, THREADS - 1);
    assert_int_equal(atomic_fetch_add(&w->in[worker], 1),
                     0); /* no other thread has this number now */
    w->done[i]++;
    w->by[worker]++;
    if (w->nap_us)
        usleep((useconds_t)w->nap_us);
    atomic_fetch_sub(&w->in[worker], 1);
}

static void test_each_item_once(void **state)
{
    static const int64_t sizes[] = {0, 1, 2, 3, 7, 64, ITEMS};
    (void)state;
    for (int threads = 1; threads <= THREADS; threads++) {
        struct qn_pool *p;
        assert_int_equal(qn_pool_new(threads, &p, NULL), QN_OK);
        assert_int_equal(qn_pool_threads(p), threads);
        for (int round = 0; round < 300; round++) {
            struct work w;
            int64_t n = sizes[round % 7], sum = 0;
            memset(&w, 0, sizeof w);
            qn_pool_run(p, count, &w, n);
            for (int64_t i = 0; i < ITEMS; i++)
                assert_int_equal(w.done[i], i < n);
            for (int i = 0; i < THREADS; i++)
                sum += w.by[i];
            assert_int_equal(sum, n);
            if (round % 50 == 0)
                usleep(200); /* long enough for the workers to fall asleep */
        }
        qn_pool_free(p);
    }
}

/* No thread returns before all have come: one that did not help would hold up the run for ever. */
static void gather(void *arg, int64_t i, int worker)
{
    atomic_int *here = arg;
    (void)i;
    (void)worker;
    atomic_fetch_add(here, 1);
    while (atomic_load(here) < THREADS)
        usleep(100);
}

static void test_workers_help(void **state)
{
    struct qn_pool *p;
    atomic_int here = 0;
    (void)state;
    assert_int_equal(qn_pool_new(THREADS, &p, NULL), QN_OK);
    qn_pool_run(p, gather, &here, THREADS);
    assert_int_equal(here, THREADS);
    qn_pool_free(p);
}

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void test_idle_costs_nothing(void **state)
{
    struct qn_pool *p;
    struct work w;
    (void)state;
    assert_int_equal(qn_pool_new(THREADS, &p, NULL), QN_OK);
    memset(&w, 0, sizeof w);
    qn_pool_run(p, count, &w, 100);
    usleep(20000);
    double before = cpu_seconds();
    usleep(200000);
    assert_true(cpu_seconds() - before < 0.02); /* three spinning threads would take 0.6 s */
    qn_pool_free(p);
}

/* As if the worker lost its processor in the middle of an item: it needs four times as long as all
 * that was before. */
struct held_up {
    struct timespec start;
    atomic_bool helps, waited_for;
};

static int64_t since_us(const struct timespec *t)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)(now.tv_sec - t->tv_sec) * 1000000 + (now.tv_nsec - t->tv_nsec) / 1000;
}

static void slow_worker(void *arg, int64_t i, int worker)
{
    struct held_up *h = arg;
    (void)i;
    if (worker) {
        atomic_store(&h->helps, true);
        while (!atomic_load(&h->waited_for))
            usleep(100);
        usleep((useconds_t)(4 * since_us(&h->start) + 1000));
    } else {
        /* In vain where the caller works alone already. */
        while (!atomic_load(&h->helps) && since_us(&h->start) < 200 * 1000)
            usleep(100);
        atomic_store(&h->waited_for, true);
    }
}

static void test_alone_after_being_held_up(void **state)
{
    struct qn_pool *p;
    struct work w;
    bool alone = false;
    (void)state;
    assert_int_equal(qn_pool_new(2, &p, NULL), QN_OK);
    for (int i = 0; i < 100 && !alone;
         i++) { /* more than once: this thread, too, may be set aside */
        struct held_up h = {0};
        clock_gettime(CLOCK_MONOTONIC, &h.start);
        qn_pool_run(p, slow_worker, &h, 2);
        memset(&w, 0, sizeof w);
        w.nap_us = 20;
        qn_pool_run(p, count, &w, 100);
        alone = w.by[0] == 100;
    }
    assert_true(alone);
    while (w.by[1] == 0) { /* later they help again */
        w.nap_us = 100;
        qn_pool_run(p, count, &w, 100);
    }
    qn_pool_free(p);
}

static void test_limits(void **state)
{
    struct qn_pool *p;
    struct qn_error e;
    (void)state;
    assert_int_equal(qn_pool_new(0, &p, &e), QN_EINVAL);
    assert_int_equal(qn_pool_new(QN_POOL_THREADS_MAX + 1, &p, &e), QN_EINVAL);
    assert_non_null(strstr(e.message, "129"));
    qn_pool_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_item_once),
        cmocka_unit_test(test_workers_help),
        cmocka_unit_test(test_idle_costs_nothing),
        cmocka_unit_test(test_alone_after_being_held_up),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
