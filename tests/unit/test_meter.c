/* One request's account: what counts when it ends well, badly, or begins anew. */
#include "telemetry/meter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct qn_metrics *metrics;
static struct qn_stats stats;
static struct qn_meter meter;

static int setup(void **state)
{
    (void)state;
    metrics = qn_metrics_new();
    stats = (struct qn_stats){0};
    qn_meter_begin(&meter, metrics, &stats, "someone", "user:1");
    qn_meter_model(&meter, "m");
    qn_meter_granted(&meter);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    qn_meter_end(&meter, QN_METER_CANCELLED);
    qn_metrics_free(metrics);
    qn_stats_deinit(&stats);
    return 0;
}

static void say(size_t job, int64_t choice, enum qn_event_kind kind)
{
    struct qn_event ev;
    qn_event_init(&ev, kind);
    ev.index = choice;
    ev.usage.prompt = 7;
    ev.usage.cached = 3;
    ev.usage.output = 20;
    ev.usage.output_ms = 500;
    qn_meter_event(&meter, job, &ev);
}

static int64_t whole(enum qn_metric what)
{
    return qn_metrics_whole(metrics)->counts[what];
}

static uint64_t timed(enum qn_timing what)
{
    return qn_metrics_whole(metrics)->timings[what].count;
}

static void test_completed(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        say(0, 0, QN_EV_TEXT);
        say(0, 1, QN_EV_TEXT); /* another choice */
        say(1, 0, QN_EV_TEXT); /* another prompt */
    }
    say(0, 0, QN_EV_DONE);
    say(0, 0, QN_EV_USAGE);
    say(1, 0, QN_EV_USAGE);
    qn_meter_end(&meter, QN_METER_COMPLETED);
    qn_meter_end(&meter, QN_METER_ERRORED); /* does nothing */
    assert_int_equal(whole(QN_M_REQUESTS), 1);
    assert_int_equal(whole(QN_M_COMPLETED), 1);
    assert_int_equal(whole(QN_M_ERRORED), 0);
    assert_int_equal(whole(QN_M_STREAM_CHUNKS), 9);
    assert_int_equal(whole(QN_M_PROMPT_TOKENS), 14);
    assert_int_equal(whole(QN_M_CACHED_TOKENS), 6);
    assert_int_equal(whole(QN_M_OUTPUT_TOKENS), 40);
    assert_int_equal(timed(QN_H_FIRST_TOKEN), 1);
    assert_int_equal(timed(QN_H_INTER_TOKEN), 2);
    assert_int_equal(timed(QN_H_QUEUE_WAIT), 1);
    assert_int_equal(timed(QN_H_REQUEST), 1);
    assert_int_equal(timed(QN_H_INFERENCE), 1);
    assert_int_equal(stats.n_times, 2);
    assert_int_equal(stats.output, 40);
    const struct qn_series *m = qn_metrics_model_at(metrics, 0);
    assert_string_equal(m->label, "m");
    assert_int_equal(m->counts[QN_M_REQUESTS], 1);
    assert_int_equal(m->counts[QN_M_OUTPUT_TOKENS], 40);
    assert_true(m->last.tokens_s == 40); /* 40 tokens in twice 500 ms */
    const struct qn_client_series *c = qn_metrics_client_at(metrics, 0);
    assert_int_equal(c->requests, 1);
    assert_int_equal(c->completed, 1);
}

static void test_errored(void **state)
{
    (void)state;
    say(0, 0, QN_EV_TEXT);
    say(0, 0, QN_EV_USAGE);
    qn_meter_end(&meter, QN_METER_ERRORED);
    assert_int_equal(whole(QN_M_ERRORED), 1);
    assert_int_equal(whole(QN_M_COMPLETED), 0);
    assert_int_equal(whole(QN_M_OUTPUT_TOKENS), 0);
    assert_int_equal(timed(QN_H_REQUEST), 0);
    assert_int_equal(stats.output, 0);
}

/* The second process's answer alone counts. */
static void test_again(void **state)
{
    (void)state;
    say(0, 0, QN_EV_TEXT);
    say(0, 0, QN_EV_USAGE);
    qn_meter_again(&meter);
    qn_meter_granted(&meter);
    say(0, 0, QN_EV_TEXT);
    say(0, 0, QN_EV_TEXT);
    say(0, 0, QN_EV_USAGE);
    qn_meter_end(&meter, QN_METER_COMPLETED);
    assert_int_equal(whole(QN_M_REPLAYED), 1);
    assert_int_equal(whole(QN_M_OUTPUT_TOKENS), 20);
    assert_int_equal(stats.n_times, 1);
    assert_int_equal(stats.output, 20);
    assert_int_equal(whole(QN_M_REQUESTS), 1);
    assert_int_equal(timed(QN_H_QUEUE_WAIT), 1);
    assert_int_equal(timed(QN_H_FIRST_TOKEN), 1);
}

/* A request that only loads a model leaves the last answer's figures alone. */
static void test_nothing_told(void **state)
{
    (void)state;
    stats.output = 5;
    qn_meter_end(&meter, QN_METER_COMPLETED);
    assert_int_equal(stats.output, 5);
    assert_int_equal(whole(QN_M_COMPLETED), 1);
}

static void test_long_answer(void **state)
{
    (void)state;
    for (int i = 0; i < QN_STATS_TIMES_MAX + 100; i++)
        say(0, 0, QN_EV_TEXT);
    say(0, 0, QN_EV_USAGE);
    qn_meter_end(&meter, QN_METER_COMPLETED);
    assert_int_equal(stats.n_times, QN_STATS_TIMES_MAX);
    assert_int_equal(timed(QN_H_INTER_TOKEN), QN_STATS_TIMES_MAX + 99);
}

static void test_without_metrics(void **state)
{
    struct qn_meter m;
    struct qn_stats s = {0};
    (void)state;
    qn_meter_begin(&m, NULL, &s, "x", "user:1");
    qn_meter_model(&m, "a");
    qn_meter_granted(&m);
    qn_meter_end(&m, QN_METER_COMPLETED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_completed, setup, teardown),
        cmocka_unit_test_setup_teardown(test_errored, setup, teardown),
        cmocka_unit_test_setup_teardown(test_again, setup, teardown),
        cmocka_unit_test_setup_teardown(test_nothing_told, setup, teardown),
        cmocka_unit_test_setup_teardown(test_long_answer, setup, teardown),
        cmocka_unit_test(test_without_metrics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
