/* router/answers/profile.c: the table is complete, and what a profile changes in an error's answer.
 * Statuses are those of each API's own page: a prompt that does not fit, an engine that fails, a
 * model that is not known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "answers/answer.h"
#include "answers/profile.h"

#include <string.h>

static void every_row_is_whole(void **state)
{
    (void)state;
    for (int i = 0; i < QN_PROFILE_COUNT; i++) {
        const struct qn_profile *p = qn_profile_at(i);
        assert_ptr_equal(qn_profile_find(p->name), p);
        assert_int_equal(qn_profile_index(p), i);
        assert_non_null(strstr(QN_PROFILE_NAMES, p->name));
        assert_true(*p->owned_by != '\0' && p->health && p->health_versioned && p->queue);
    }
    assert_string_equal(qn_profile_main()->name, QN_PROFILE_MAIN_NAME);
    assert_null(qn_profile_find("nobody"));
    assert_null(qn_profile_find(""));
    assert_ptr_equal(qn_profile_at(-1), qn_profile_main());
    assert_ptr_equal(qn_profile_at(QN_PROFILE_COUNT), qn_profile_main());
}

static void owners(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"lemonade", "lemonade"}, {"layerscale", "layerscale"}, {"dppan", "dppan"},
        {"localllm", "local"},    {"auto", "lemonade"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(qn_profile_find(rows[i][0])->owned_by, rows[i][1]);
}

static void statuses(void **state)
{
    (void)state;
    static const struct {
        const char *profile;
        enum qn_family family;
        qn_err error;
        bool loading;
        int status;
    } rows[] = {
        {"lemonade", QN_FAMILY_ERROR, QN_ENOTFOUND, false, 404},
        {"lemonade", QN_FAMILY_ERROR, QN_ECONTEXT, false, 400},
        {"dppan", QN_FAMILY_TEXT, QN_ENOTFOUND, false, 422},
        {"dppan", QN_FAMILY_ERROR, QN_ENOTFOUND, false, 422},
        {"dppan", QN_FAMILY_TEXT, QN_ENOTFOUND, true, 500},
        {"dppan", QN_FAMILY_ANTHROPIC, QN_ENOTFOUND, false, 404}, /* the path's own API decides */
        {"localllm", QN_FAMILY_NUMBER, QN_ECONTEXT, false, 413},
        {"localllm", QN_FAMILY_NUMBER, QN_ECHILD, false, 500},
        {"localllm", QN_FAMILY_TEXT, QN_ECHILD, false, 502},
        {"kolosal", QN_FAMILY_ENGINES, QN_ECHILD, false, 500},
        {"kolosal", QN_FAMILY_ENGINES, QN_ECONTEXT, false, 400},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct qn_error e = {.code = rows[i].error};
        struct qn_problem p = {.error = &e, .loading = rows[i].loading};
        qn_problem_adapt(&p, qn_profile_find(rows[i].profile), rows[i].family);
        if (qn_problem_status(&p) != rows[i].status)
            fail_msg("%s, row %zu: %d", rows[i].profile, i, qn_problem_status(&p));
    }
    struct qn_error e = {.code = QN_ECONTEXT};
    struct qn_problem p = {.error = &e, .status = 429};
    qn_problem_adapt(&p, qn_profile_find("localllm"), QN_FAMILY_NUMBER);
    assert_int_equal(qn_problem_status(&p), 429);
}

/* Clients that read a number there get the status; those of engines their own word. */
static void bodies(void **state)
{
    (void)state;
    static const struct {
        const char *profile;
        enum qn_family family;
        qn_err error;
        const char *part;
    } rows[] = {
        {"localllm", QN_FAMILY_NUMBER, QN_ECONTEXT, "\"code\":413"},
        {"localllm", QN_FAMILY_NUMBER, QN_ECHILD, "\"code\":500"},
        {"kolosal", QN_FAMILY_ENGINES, QN_ECHILD, "\"code\":\"inference_error\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct qn_error e = {.code = rows[i].error, .message = "words"};
        struct qn_problem p = {.error = &e};
        struct qn_buf body;
        qn_buf_init(&body, 4096);
        qn_problem_adapt(&p, qn_profile_find(rows[i].profile), rows[i].family);
        qn_problem_body(&p, rows[i].family, &body);
        if (!strstr(qn_buf_cstr(&body), rows[i].part))
            fail_msg("%s", qn_buf_cstr(&body));
        qn_buf_deinit(&body);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_whole),
        cmocka_unit_test(owners),
        cmocka_unit_test(statuses),
        cmocka_unit_test(bodies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
