/* io/loop.c: timers, posts from threads, workers, watches that go away under the loop's hands. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "io/loop.h"

#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

static struct qn_loop *loop;

static int set_up(void **state)
{
    (void)state;
    return qn_loop_new(&loop, NULL) == QN_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    qn_loop_free(loop);
    return 0;
}

static void stop(void *ctx)
{
    (void)ctx;
    qn_loop_stop(loop);
}

/* ---- timers ---- */

static char order[64];

static void note(void *ctx)
{
    strcat(order, ctx);
}

static void timers_fire_in_order_of_time_then_of_starting(void **state)
{
    (void)state;
    order[0] = 0;
    struct qn_timer *t[6];
    int64_t began = qn_now_ms();
    /* Further apart than a busy machine keeps this thread waiting between two of these lines. */
    t[0] = qn_timer_start(loop, 1000, 0, note, "d");
    t[1] = qn_timer_start(loop, 10, 0, note, "a");
    t[2] = qn_timer_start(loop, 500, 0, note, "c");
    t[3] = qn_timer_start(loop, 10, 0, note, "b");
    t[4] = qn_timer_start(loop, 250, 0, note, "x");
    t[5] = qn_timer_start(loop, 1500, 0, stop, NULL);
    qn_timer_stop(t[4]);
    qn_loop_run(loop);
    assert_string_equal(order, "abcd");
    assert_true(qn_now_ms() - began >= 1500);
    for (int i = 0; i < 6; i++)
        if (i != 4)
            qn_timer_stop(t[i]);
    qn_timer_stop(NULL);
}

static void many_timers_come_out_sorted(void **state)
{
    (void)state;
    /* A heap of 500, half of them taken out again from random places. */
    static struct qn_timer *t[500];
    unsigned seed = 1;
    order[0] = 0;
    for (int i = 0; i < 500; i++) {
        seed = seed * 1103515245u + 12345u;
        t[i] = qn_timer_start(loop, 100000 + seed % 1000, 0, note, "!");
    }
    for (int i = 0; i < 500; i += 2)
        qn_timer_stop(t[i]);
    struct qn_timer *end = qn_timer_start(loop, 5, 0, stop, NULL);
    qn_loop_run(loop);
    assert_string_equal(order, "");
    qn_timer_stop(end);
    for (int i = 1; i < 500; i += 2)
        qn_timer_stop(t[i]);
}

struct repeating {
    struct qn_timer *t;
    int n;
};

static void third_time_stops(void *ctx)
{
    struct repeating *r = ctx;
    if (++r->n == 3) {
        qn_timer_stop(r->t); /* inside its own callback */
        qn_loop_stop(loop);
    }
}

static void a_repeating_timer_stops_itself(void **state)
{
    (void)state;
    struct repeating r = {0};
    r.t = qn_timer_start(loop, 1, 2, third_time_stops, &r);
    qn_loop_run(loop);
    assert_int_equal(r.n, 3);
}

struct pair {
    struct qn_timer *a, *b;
    int fired;
};

static void stops_both(void *ctx)
{
    struct pair *p = ctx;
    p->fired++;
    qn_timer_stop(p->a);
    qn_timer_stop(p->b);
    p->a = p->b = NULL;
}

static void a_timer_stops_another_due_at_the_same_time(void **state)
{
    (void)state;
    struct pair p = {0};
    p.a = qn_timer_start(loop, 1, 0, stops_both, &p);
    p.b = qn_timer_start(loop, 1, 0, stops_both, &p);
    struct qn_timer *end = qn_timer_start(loop, 10, 0, stop, NULL);
    qn_loop_run(loop);
    assert_int_equal(p.fired, 1);
    qn_timer_stop(end);
}

static int zero_fired;
static struct qn_timer *zero;

static void again_at_once(void *ctx)
{
    (void)ctx;
    qn_timer_stop(zero);
    zero = NULL;
    if (++zero_fired < 1000)
        zero = qn_timer_start(loop, 0, 0, again_at_once, NULL);
}

static void a_chain_of_zero_timers_does_not_starve_the_rest(void **state)
{
    (void)state;
    zero_fired = 0;
    zero = qn_timer_start(loop, 0, 0, again_at_once, NULL);
    qn_loop_post(loop, stop, NULL);
    qn_loop_run(loop);
    assert_true(zero_fired < 1000); /* the post came through in between */
    qn_timer_stop(zero);
}

/* ---- posts ---- */

enum { POSTS = 2000, THREADS = 3 };

static int64_t post_seen[THREADS];
static int posts_left;

static void count_post(void *ctx)
{
    intptr_t v = (intptr_t)ctx;
    int64_t thread = v / POSTS, n = v % POSTS;
    assert_int_equal(post_seen[thread], n); /* in each thread's own order */
    post_seen[thread]++;
    if (--posts_left == 0)
        qn_loop_stop(loop);
}

static void *post_many(void *arg)
{
    intptr_t thread = (intptr_t)arg;
    for (intptr_t i = 0; i < POSTS; i++)
        qn_loop_post(loop, count_post, (void *)(thread * POSTS + i));
    return NULL;
}

static void posts_from_threads_arrive_once_and_in_order(void **state)
{
    (void)state;
    pthread_t t[THREADS];
    memset(post_seen, 0, sizeof post_seen);
    posts_left = POSTS * THREADS;
    for (intptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&t[i], NULL, post_many, (void *)i), 0);
    qn_loop_run(loop);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(post_seen[i], POSTS);
}

/* ---- workers ---- */

struct job {
    pthread_t ran_on, done_on;
    int64_t result;
};

static int jobs_left;

static void work(void *ctx)
{
    struct job *j = ctx;
    j->ran_on = pthread_self();
    for (int i = 0; i < 1000; i++)
        j->result += i;
}

static void done(void *ctx)
{
    struct job *j = ctx;
    j->done_on = pthread_self();
    if (--jobs_left == 0)
        qn_loop_stop(loop);
}

static void work_runs_elsewhere_and_is_done_here(void **state)
{
    (void)state;
    static struct job jobs[50];
    jobs_left = 50;
    for (int i = 0; i < 50; i++)
        qn_loop_work(loop, work, done, &jobs[i]);
    qn_loop_run(loop);
    for (int i = 0; i < 50; i++) {
        assert_int_equal(jobs[i].result, 499500);
        assert_false(pthread_equal(jobs[i].ran_on, pthread_self()));
        assert_true(pthread_equal(jobs[i].done_on, pthread_self()));
    }
}

static void freeing_the_loop_finishes_what_was_given_to_it(void **state)
{
    (void)state;
    static struct job jobs[20];
    struct qn_loop *kept = loop;
    assert_int_equal(qn_loop_new(&loop, NULL), QN_OK);
    jobs_left = 20;
    for (int i = 0; i < 20; i++)
        qn_loop_work(loop, work, done, &jobs[i]);
    qn_loop_free(loop); /* never ran */
    assert_int_equal(jobs_left, 0);
    loop = kept;
}

/* ---- watches ---- */

struct end {
    int fd[2];
    struct qn_watch *w;
    struct end *other;
    int called;
};

static void end_open(struct end *x)
{
    memset(x, 0, sizeof *x);
    assert_int_equal(pipe(x->fd), 0);
    assert_int_equal(write(x->fd[1], "x", 1), 1);
}

static void end_close(struct end *x)
{
    qn_watch_remove(x->w);
    close(x->fd[0]);
    close(x->fd[1]);
}

static struct qn_timer *rest; /* a while in which nothing more may come */

static void begin_rest(void)
{
    rest = qn_timer_start(loop, 20, 0, stop, NULL);
}

static void removes_both(void *ctx, uint32_t events)
{
    struct end *x = ctx;
    assert_true(events & EPOLLIN);
    x->called++;
    qn_watch_remove(x->w);
    qn_watch_remove(x->other->w);
    x->w = x->other->w = NULL;
    begin_rest();
}

static void a_watch_removed_in_the_same_batch_is_not_called(void **state)
{
    (void)state;
    struct end a, b;
    end_open(&a);
    end_open(&b);
    a.other = &b;
    b.other = &a;
    assert_int_equal(qn_watch_add(loop, a.fd[0], EPOLLIN, removes_both, &a, &a.w, NULL), QN_OK);
    assert_int_equal(qn_watch_add(loop, b.fd[0], EPOLLIN, removes_both, &b, &b.w, NULL), QN_OK);
    qn_loop_run(loop);
    assert_int_equal(a.called + b.called, 1);
    qn_timer_stop(rest);
    end_close(&a);
    end_close(&b);
}

static void counts_then_sleeps(void *ctx, uint32_t events)
{
    (void)events;
    struct end *x = ctx;
    if (++x->called < 5)
        return;
    qn_watch_set(x->w, 0);
    begin_rest();
}

static void watches_are_level_triggered_and_can_be_set(void **state)
{
    (void)state;
    struct end a;
    end_open(&a);
    assert_int_equal(qn_watch_add(loop, a.fd[0], EPOLLIN, counts_then_sleeps, &a, &a.w, NULL),
                     QN_OK);
    qn_loop_run(loop);
    assert_int_equal(a.called, 5);
    qn_timer_stop(rest);
    end_close(&a);
}

static void a_closed_descriptor_cannot_be_watched(void **state)
{
    (void)state;
    struct qn_watch *w = NULL;
    struct qn_error e;
    assert_int_equal(qn_watch_add(loop, 9999, EPOLLIN, removes_both, NULL, &w, &e), QN_EIO);
    assert_non_null(strstr(e.message, "9999"));
    assert_null(w);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(timers_fire_in_order_of_time_then_of_starting),
        T(many_timers_come_out_sorted),
        T(a_repeating_timer_stops_itself),
        T(a_timer_stops_another_due_at_the_same_time),
        T(a_chain_of_zero_timers_does_not_starve_the_rest),
        T(posts_from_threads_arrive_once_and_in_order),
        T(work_runs_elsewhere_and_is_done_here),
        T(freeing_the_loop_finishes_what_was_given_to_it),
        T(a_watch_removed_in_the_same_batch_is_not_called),
        T(watches_are_level_triggered_and_can_be_set),
        T(a_closed_descriptor_cannot_be_watched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
