/* router/models/queue_spot.c: positions and waits, each worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "models/queue_spot.h"

#include <math.h>

/* 100, then (100*4 + 200) / 5 = 120, then (120*4 + 0) / 5 = 96. */
static void newer_durations_count_more(void **state)
{
    (void)state;
    struct qn_mean m = {0};
    qn_mean_add(&m, 100);
    assert_true(fabs(m.value - 100) < 1e-9);
    qn_mean_add(&m, 200);
    assert_true(fabs(m.value - 120) < 1e-9);
    qn_mean_add(&m, 0);
    assert_true(fabs(m.value - 96) < 1e-9);
}

static void who_finds_room_is_first(void **state)
{
    (void)state;
    struct qn_queue_spot s = qn_queue_spot(&(struct qn_queue_facts){
        .waiting = 1, .capacity = 4, .used = 3, .answer_ms = 1000, .loaded = true});
    assert_int_equal(s.position, 1);
    assert_int_equal(s.depth, 1);
    assert_int_equal(s.wait_ms, 0);
    assert_int_equal(s.clear_ms, 250);
}

/* One answer at a time, one runs, two wait and this one is the last of them: three must end. */
static void one_at_a_time(void **state)
{
    (void)state;
    struct qn_queue_spot s = qn_queue_spot(&(struct qn_queue_facts){
        .waiting = 3, .ahead = 2, .capacity = 1, .used = 1, .answer_ms = 3000, .loaded = true});
    assert_int_equal(s.position, 4);
    assert_int_equal(s.depth, 4);
    assert_int_equal(s.wait_ms, 9000);
    assert_int_equal(s.clear_ms, 3000);
}

/* Four at a time, all taken; five wait, and by its turn this one is third: three must end, which
 * takes three quarters of an answer's time; the last of the five is at 6. */
static void several_at_a_time(void **state)
{
    (void)state;
    struct qn_queue_spot s = qn_queue_spot(&(struct qn_queue_facts){
        .waiting = 5, .ahead = 2, .capacity = 4, .used = 4, .answer_ms = 2000, .loaded = true});
    assert_int_equal(s.position, 4);
    assert_int_equal(s.depth, 6);
    assert_int_equal(s.wait_ms, 1500);
}

/* More than it may take at once: a request of several answers had begun. */
static void overfull(void **state)
{
    (void)state;
    struct qn_queue_spot s = qn_queue_spot(&(struct qn_queue_facts){
        .waiting = 1, .capacity = 2, .used = 7, .answer_ms = 1000, .loaded = true});
    assert_int_equal(s.position, 2);
}

/* Two models are before it, which takes 7 s; then it is loaded in 2, and one answer of 1 s is
 * before this request's. */
static void other_models_count(void **state)
{
    (void)state;
    struct qn_queue_facts f = {.waiting = 2,
                               .ahead = 1,
                               .capacity = 1,
                               .answer_ms = 1000,
                               .load_ms = 2000,
                               .others_ms = 7000};
    assert_int_equal(qn_queue_spot(&f).position, 2);
    assert_int_equal(qn_queue_spot(&f).wait_ms, 10000);
    assert_int_equal(qn_queue_spot(&f).clear_ms, 10000);
    f.loaded = true;
    assert_int_equal(qn_queue_spot(&f).wait_ms, 8000);
}

/* Loading takes 5 s and has gone on for 2 s; then two places are free and the third must wait for
 * one answer, half a second of a second's answer. */
static void loading_counts(void **state)
{
    (void)state;
    struct qn_queue_facts f = {.waiting = 3,
                               .ahead = 2,
                               .capacity = 2,
                               .answer_ms = 1000,
                               .load_ms = 5000,
                               .loading_ms = 2000};
    assert_int_equal(qn_queue_spot(&f).position, 2);
    assert_int_equal(qn_queue_spot(&f).wait_ms, 3500);
    assert_int_equal(qn_queue_spot(&f).clear_ms, 3500);
    f.loading_ms = 9000; /* later than usual: any moment now */
    assert_int_equal(qn_queue_spot(&f).wait_ms, 500);
    assert_int_equal(qn_queue_spot(&f).clear_ms, 500);
}

static void nothing_known(void **state)
{
    (void)state;
    struct qn_queue_spot s =
        qn_queue_spot(&(struct qn_queue_facts){.waiting = 2, .ahead = 1, .capacity = 1});
    assert_int_equal(s.position, 2);
    assert_int_equal(s.wait_ms, 0);
    assert_int_equal(s.clear_ms, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(newer_durations_count_more),
        cmocka_unit_test(who_finds_room_is_first),
        cmocka_unit_test(one_at_a_time),
        cmocka_unit_test(several_at_a_time),
        cmocka_unit_test(overfull),
        cmocka_unit_test(other_models_count),
        cmocka_unit_test(loading_counts),
        cmocka_unit_test(nothing_known),
    };
    return cmocka_run_group_tests_name("queue_spot", tests, NULL, NULL);
}
