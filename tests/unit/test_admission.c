/* router/models/admission.c: refusals in the words of each profile. Statuses, words and seconds of
 * LocalLLM are those of its HTTP API's page. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "models/admission.h"

#include <string.h>

static struct qn_problem problem;
static struct qn_error error;

static int64_t refuse(const char *profile, enum qn_family family, const struct qn_admission *a)
{
    qn_fail(&error, a ? QN_EBUSY : QN_ETIMEOUT, "as it was");
    problem = (struct qn_problem){.error = &error};
    return qn_admission_refuse(qn_profile_find(profile), family, a, &problem, &error);
}

static void a_full_queue(void **state)
{
    (void)state;
    struct qn_admission a = {.full = true, .spot = {.clear_ms = 1001}};
    assert_int_equal(refuse("lemonade", QN_FAMILY_ERROR, &a), 2); /* rounded up */
    assert_int_equal(qn_problem_status(&problem), 503);
    assert_null(problem.type);
    a.spot.clear_ms = 1;
    assert_int_equal(refuse("ollama", QN_FAMILY_TEXT, &a), 1);
    a.spot.clear_ms = 3600000;
    assert_int_equal(refuse("lemonade", QN_FAMILY_ANTHROPIC, &a), 60);
    assert_int_equal(refuse("localllm", QN_FAMILY_NUMBER, &a), 5);
    assert_int_equal(qn_problem_status(&problem), 429);
    assert_string_equal(problem.type, "queue_full");
    assert_string_equal(error.message, "as it was");
    /* Another API's path on its listener keeps that API's habits. */
    assert_int_equal(refuse("localllm", QN_FAMILY_ANTHROPIC, &a), 60);
    assert_int_equal(qn_problem_status(&problem), 503);
}

static void a_queue_of_length_zero(void **state)
{
    (void)state;
    struct qn_admission a = {.full = true, .none_waits = true, .spot = {.clear_ms = 1}};
    for (int p = 0; p < QN_PROFILE_COUNT; p++) {
        refuse(qn_profile_at(p)->name, QN_FAMILY_ERROR, &a);
        assert_int_equal(qn_problem_status(&problem), 429);
    }
}

static void too_late(void **state)
{
    (void)state;
    refuse("lemonade", QN_FAMILY_ERROR, NULL);
    assert_int_equal(qn_problem_status(&problem), 504);
    assert_string_equal(error.message, "as it was");
    refuse("localllm", QN_FAMILY_NUMBER, NULL);
    assert_int_equal(qn_problem_status(&problem), 408);
    assert_string_equal(error.message, "Inference timeout");
    assert_string_equal(problem.type, "timeout");
    refuse("localllm", QN_FAMILY_TEXT, NULL);
    assert_int_equal(qn_problem_status(&problem), 504);
}

static void the_whole_body_of_a_late_answer(void **state)
{
    (void)state;
    struct qn_buf body;
    qn_buf_init(&body, 4096);
    refuse("localllm", QN_FAMILY_NUMBER, NULL);
    qn_problem_body(&problem, QN_FAMILY_NUMBER, &body);
    assert_non_null(strstr(qn_buf_cstr(&body), "\"message\":\"Inference timeout\""));
    assert_non_null(strstr(qn_buf_cstr(&body), "\"type\":\"timeout\""));
    assert_non_null(strstr(qn_buf_cstr(&body), "\"code\":408"));
    qn_buf_deinit(&body);
}

static void how_many_may_wait(void **state)
{
    (void)state;
    for (int i = 0; i < QN_PROFILE_COUNT; i++) {
        const struct qn_profile *p = qn_profile_at(i);
        assert_int_equal(p->queue, strcmp(p->name, "localllm") ? -1 : 8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_queue),      cmocka_unit_test(a_queue_of_length_zero),
        cmocka_unit_test(too_late),          cmocka_unit_test(the_whole_body_of_a_late_answer),
        cmocka_unit_test(how_many_may_wait),
    };
    return cmocka_run_group_tests_name("admission", tests, NULL, NULL);
}
