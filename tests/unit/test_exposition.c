/* The text format, character by character, as Prometheus' documentation describes it. */
#include "telemetry/exposition.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct qn_buf out;

static int setup(void **state)
{
    (void)state;
    qn_buf_init(&out, 65536);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    qn_buf_deinit(&out);
    return 0;
}

static void test_family(void **state)
{
    (void)state;
    qn_expose_family(&out, "a_total", "counter", "A \"help\" with \\ and\nmore.");
    assert_string_equal(qn_buf_cstr(&out), "# HELP a_total A \"help\" with \\\\ and\\nmore.\n"
                                           "# TYPE a_total counter\n");
}

static void test_samples(void **state)
{
    (void)state;
    const struct qn_labels labels = {
        4, {{"x", "say \"hi\""}, {"empty", ""}, {"none", NULL}, {"y", "back\\slash\nline"}}};
    const struct qn_labels empty = {1, {{"empty", ""}}};
    qn_expose(&out, "a", NULL, 42);
    qn_expose(&out, "a", &empty, 3.1375);
    qn_expose(&out, "a", &labels, -0.5);
    qn_expose(&out, "a", NULL, (double)NAN);
    qn_expose(&out, "a", NULL, (double)INFINITY);
    assert_string_equal(qn_buf_cstr(&out),
                        "a 42\n"
                        "a 3.1375\n"
                        "a{x=\"say \\\"hi\\\"\",y=\"back\\\\slash\\nline\"} -0.5\n");
}

static void test_histogram(void **state)
{
    (void)state;
    const struct qn_bounds bounds = {3, {0.0025, 1, 10}};
    const struct qn_histogram h = {.buckets = {1, 2, 0, 3}, .count = 6, .sum_s = 64.25};
    const struct qn_labels labels = {1, {{"model", "m"}}};
    qn_expose_histogram(&out, "t_seconds", &labels, &h, &bounds);
    assert_string_equal(qn_buf_cstr(&out), "t_seconds_bucket{model=\"m\",le=\"0.0025\"} 1\n"
                                           "t_seconds_bucket{model=\"m\",le=\"1\"} 3\n"
                                           "t_seconds_bucket{model=\"m\",le=\"10\"} 3\n"
                                           "t_seconds_bucket{model=\"m\",le=\"+Inf\"} 6\n"
                                           "t_seconds_sum{model=\"m\"} 64.25\n"
                                           "t_seconds_count{model=\"m\"} 6\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_family, setup, teardown),
        cmocka_unit_test_setup_teardown(test_samples, setup, teardown),
        cmocka_unit_test_setup_teardown(test_histogram, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
