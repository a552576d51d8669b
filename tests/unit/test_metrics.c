/* Counters and histograms: bounds, quantiles by hand, and who shares "other". */
#include "telemetry/metrics.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct qn_bounds three = {3, {0.1, 1, 10}};

static void observe(struct qn_histogram *h, double seconds)
{
    qn_histogram_add(h, qn_bounds_find(&three, seconds), seconds);
}

static void test_observe(void **state)
{
    (void)state;
    struct qn_histogram h = {0};
    const double values[] = {0, 0.1, 0.100001, 1, 2, 10, 10.5, 1e9};
    const uint64_t expected[] = {2, 2, 2, 2};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        observe(&h, values[i]);
    assert_memory_equal(h.buckets, expected, sizeof expected);
    assert_int_equal(h.count, 8);
    assert_true(fabs(h.sum_s - (0.1 + 0.100001 + 1 + 2 + 10 + 10.5 + 1e9)) < 1e-6);
}

static void test_observe_nonsense(void **state)
{
    (void)state;
    struct qn_histogram h = {0};
    observe(&h, -5);
    observe(&h, (double)NAN);
    observe(&h, (double)INFINITY);
    assert_int_equal(h.buckets[0], 2);
    assert_int_equal(h.buckets[3], 1);
}

/* Four values up to 0.1, four up to 1, two above the last bound. */
static void test_quantile(void **state)
{
    (void)state;
    struct qn_histogram h = {.buckets = {4, 4, 0, 2}, .count = 10};
    struct qn_histogram none = {0};
    assert_true(fabs(qn_histogram_quantile(&h, &three, 0.2) - 0.05) < 1e-12); /* half of 0..0.1 */
    assert_true(fabs(qn_histogram_quantile(&h, &three, 0.4) - 0.1) < 1e-12);
    assert_true(fabs(qn_histogram_quantile(&h, &three, 0.5) - 0.325) < 1e-12); /* a quarter on */
    assert_true(fabs(qn_histogram_quantile(&h, &three, 0.99) - 10) < 1e-12);
    assert_true(qn_histogram_quantile(&none, &three, 0.5) == 0);
}

static void test_counts_in_whole(void **state)
{
    (void)state;
    struct qn_metrics *m = qn_metrics_new();
    qn_metric_add_of(m, "a", QN_M_LOADS, 2);
    qn_metric_add_of(m, "b", QN_M_LOADS, 3);
    qn_metric_add(m, QN_M_LOADS, 1);
    qn_metric_observe_of(m, "b", QN_H_LOAD, 3);
    assert_int_equal(qn_metrics_whole(m)->counts[QN_M_LOADS], 6);
    assert_int_equal(qn_metrics_models(m), 2);
    assert_string_equal(qn_metrics_model_at(m, 1)->label, "b");
    assert_int_equal(qn_metrics_model_at(m, 1)->counts[QN_M_LOADS], 3);
    assert_int_equal(qn_metrics_whole(m)->timings[QN_H_LOAD].count, 1);
    assert_int_equal(qn_metrics_model_at(m, 0)->timings[QN_H_LOAD].count, 0);
    qn_metrics_free(m);
}

static void test_limits(void **state)
{
    (void)state;
    struct qn_metrics *m = qn_metrics_new();
    char name[32];
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "x%d", i);
        qn_series_add(qn_metrics_model(m, name), QN_M_REQUESTS, 1);
        qn_metrics_client(m, name)->requests++;
    }
    assert_int_equal(qn_metrics_models(m), 65);
    assert_string_equal(qn_metrics_model_at(m, 63)->label, "x63");
    assert_string_equal(qn_metrics_model_at(m, 64)->label, "other");
    assert_int_equal(qn_metrics_model_at(m, 64)->counts[QN_M_REQUESTS], 36);
    assert_int_equal(qn_metrics_whole(m)->counts[QN_M_REQUESTS], 100);
    assert_int_equal(qn_metrics_clients(m), 33);
    assert_string_equal(qn_metrics_client_at(m, 32)->label, "other");
    assert_int_equal(qn_metrics_client_at(m, 32)->requests, 68);
    assert_int_equal(qn_metrics_client_at(m, 31)->requests, 1);
    qn_metrics_free(m);
}

static void test_no_metrics(void **state)
{
    (void)state;
    qn_metric_add(NULL, QN_M_LOADS, 1);
    qn_metric_observe_of(NULL, "a", QN_H_LOAD, 1);
    assert_null(qn_metrics_model(NULL, "a"));
    assert_null(qn_metrics_client(NULL, "a"));
    qn_series_add(NULL, QN_M_LOADS, 1);
    qn_metrics_free(NULL);
}

static void test_bounds_ascend(void **state)
{
    (void)state;
    for (int t = 0; t < QN_H_COUNT; t++) {
        const struct qn_bounds *b = qn_timing_bounds((enum qn_timing)t);
        assert_in_range(b->n, 1, QN_HISTOGRAM_BOUNDS_MAX);
        for (size_t i = 1; i < b->n; i++)
            assert_true(b->upper_s[i] > b->upper_s[i - 1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_observe),       cmocka_unit_test(test_observe_nonsense),
        cmocka_unit_test(test_quantile),      cmocka_unit_test(test_counts_in_whole),
        cmocka_unit_test(test_limits),        cmocka_unit_test(test_no_metrics),
        cmocka_unit_test(test_bounds_ascend),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
