/* What a repository offers: what fits, what is recommended, what an answer means. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cli/variants.h"

#include <string.h>

static struct qn_json *doc;

static void read(struct qn_variants_view *view, const char *json, double memory)
{
    assert_int_equal(qn_json_parse(json, strlen(json), &doc, NULL), QN_OK);
    struct qn_jref root = qn_json_root(doc);
    qn_variants_read(view, &root, memory);
}

static void drop(struct qn_variants_view *view)
{
    qn_variants_deinit(view);
    qn_json_free(doc);
}

static const char usual[] =
    "{\"variants\":[{\"name\":\"Q4_K_M\",\"files\":[\"a\"],\"size_bytes\":4920000000},"
    "{\"name\":\"Q8_0\",\"files\":[\"b\",\"c\"],\"size_bytes\":8500000000},"
    "{\"name\":\"IQ2_M\",\"files\":[\"d\"],\"size_bytes\":3000000000},"
    "{\"name\":\"BF16\",\"files\":[\"e\"],\"size_bytes\":16000000000}]}";

/* 4.92 GB need 4.92 * 1.1 + 0.256 = 5.668 GB: 7.085 GB of memory less a fifth. */
static void fits(void **state)
{
    (void)state;
    assert_int_equal(qn_fit_judge(4.92e9, 7.09e9), QN_FIT_GOOD);
    assert_int_equal(qn_fit_judge(4.92e9, 7.08e9), QN_FIT_TIGHT);
    assert_int_equal(qn_fit_judge(4.92e9, 5.67e9), QN_FIT_TIGHT);
    assert_int_equal(qn_fit_judge(4.92e9, 5.66e9), QN_FIT_NOT);
    assert_int_equal(qn_fit_judge(0, 1e9), QN_FIT_UNKNOWN);
    assert_int_equal(qn_fit_judge(1e9, 0), QN_FIT_UNKNOWN);
}

static void recommended(void **state)
{
    (void)state;
    static const struct {
        double memory;
        size_t preferred;
    } cases[] = {
        {0, 0},    /* another machine's memory is not known: the most usual one */
        {64e9, 0}, /* all fit: the most usual one, not the largest */
        {7e9, 2},  /* the first is tight, the third fits */
        {4e9, 2},  /* only the third may */
        {1e9, 2},  /* none fits: the smallest */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct qn_variants_view v;
        read(&v, usual, cases[i].memory);
        assert_int_equal(v.n, 4);
        assert_int_equal(v.preferred, cases[i].preferred);
        assert_int_equal(v.v[1].files, 2);
        drop(&v);
    }
}

static void the_server_knows_its_memory(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        double memory;
        enum qn_variant_fit fit;
    } cases[] = {
        {"{\"variants\":[{\"size_bytes\":5e9,\"fits\":false}]}", 64e9, QN_FIT_NOT},
        {"{\"variants\":[{\"size_bytes\":5e9,\"fits\":true}]}", 0, QN_FIT_GOOD},
        {"{\"variants\":[{\"size_bytes\":5e9,\"fits\":true}]}", 6e9, QN_FIT_TIGHT},
        {"{\"variants\":[{\"size_bytes\":5e9,\"fits\":true}]}", 5e9, QN_FIT_TIGHT},
        {"{\"variants\":[{\"size_bytes\":5e9,\"fits\":null}]}", 5e9, QN_FIT_NOT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct qn_variants_view v;
        read(&v, cases[i].json, cases[i].memory);
        assert_int_equal(v.v[0].fit, cases[i].fit);
        drop(&v);
    }
}

static void answers(void **state)
{
    (void)state;
    static const struct {
        const char *answer;
        enum qn_chosen chosen;
        size_t index;
    } cases[] = {
        {"", QN_CHOSEN_ONE, 0},
        {"1", QN_CHOSEN_ONE, 0},
        {"4", QN_CHOSEN_ONE, 3},
        {"q8_0", QN_CHOSEN_ONE, 1},
        {"0", QN_CHOSEN_NONSENSE, 0},
        {"5", QN_CHOSEN_NONSENSE, 0},
        {"q", QN_CHOSEN_NONE, 0},
        {"Quit", QN_CHOSEN_NONE, 0},
        {"Q6_K", QN_CHOSEN_NAME, 0},
        {"-1", QN_CHOSEN_NAME, 0},
        {"99999999999999999999", QN_CHOSEN_NONSENSE, 0},
    };
    struct qn_variants_view v;
    read(&v, usual, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t index = 99;
        assert_int_equal(qn_variants_answer(&v, cases[i].answer, &index), cases[i].chosen);
        if (cases[i].chosen == QN_CHOSEN_ONE)
            assert_int_equal(index, cases[i].index);
    }
    drop(&v);
}

static void odd_replies(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "[]",
        "{}",
        "{\"variants\":7}",
        "{\"variants\":[]}",
    };
    struct qn_variants_view v;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        read(&v, cases[i], 8e9);
        assert_int_equal(v.n, 0);
        drop(&v);
    }
    read(&v, "{\"variants\":[1,{\"name\":7,\"size_bytes\":\"x\",\"files\":2}]}", 8e9);
    assert_int_equal(v.n, 2);
    assert_string_equal(v.v[1].name, "");
    assert_int_equal(v.v[1].fit, QN_FIT_UNKNOWN);
    drop(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fits),
        cmocka_unit_test(recommended),
        cmocka_unit_test(the_server_knows_its_memory),
        cmocka_unit_test(answers),
        cmocka_unit_test(odd_replies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
