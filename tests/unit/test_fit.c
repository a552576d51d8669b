/* How long a context and how large a cache are chosen, by hand from the rules in fit.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "llm/fit.h"

#include <string.h>

static const int64_t GIB = INT64_C(1) << 30;

static void what_is_not_asked_for_is_chosen(void **state)
{
    (void)state;
    struct qn_fit fit;
    /* Qwen3-0.6B: 112 KiB a token; a quarter of 16 GiB holds 37449 tokens, cut to a multiple of
     * 512: 37376. More than one context does not fit the same quarter. */
    struct qn_fit_facts f = {.trained = 40960, .token_bytes = 112 * 1024, .free_bytes = 16 * GIB};
    assert_int_equal(qn_llm_fit(&f, &fit, NULL), QN_OK);
    assert_int_equal(fit.context, 37376);
    assert_int_equal(fit.pool, 37449);
    assert_int_equal(fit.seqs, QN_LLM_SEQS);
    assert_int_equal(fit.kept, 0);
    /* Memory in plenty: the trained context, four times. */
    f.free_bytes = 1024 * GIB;
    assert_int_equal(qn_llm_fit(&f, &fit, NULL), QN_OK);
    assert_int_equal(fit.context, 40960);
    assert_int_equal(fit.pool, 4 * 40960);
    /* Hardly any: the least there is, as long as nine tenths hold it. */
    f.free_bytes = 64 << 20;
    assert_int_equal(qn_llm_fit(&f, &fit, NULL), QN_OK);
    assert_int_equal(fit.context, QN_LLM_CONTEXT_MIN);
    struct qn_error e = {0};
    f.free_bytes = 32 << 20;
    assert_int_equal(qn_llm_fit(&f, &fit, &e), QN_ENOMEM);
    assert_non_null(strstr(e.message, "512 tokens"));
    assert_non_null(strstr(e.message, "56 MiB"));
    /* A model that does not say what it was trained on. */
    f = (struct qn_fit_facts){.token_bytes = 1024, .free_bytes = GIB};
    assert_int_equal(qn_llm_fit(&f, &fit, NULL), QN_OK);
    assert_int_equal(fit.context, QN_LLM_CONTEXT_GUESS);
}

static void what_is_asked_for_is_taken_or_refused(void **state)
{
    (void)state;
    struct qn_fit fit;
    struct qn_error e = {0};
    struct qn_fit_facts f = {
        .asked = 30000, .trained = 40960, .token_bytes = 112 * 1024, .free_bytes = 4 * GIB};
    assert_int_equal(qn_llm_fit(&f, &fit, NULL), QN_OK);
    assert_int_equal(fit.context, 30000);
    assert_int_equal(fit.pool, 30000); /* a quarter would be less than one */
    f.asked = 100000;
    assert_int_equal(qn_llm_fit(&f, &fit, &e), QN_ENOMEM);
    assert_non_null(strstr(e.message, "40960 tokens"));
    assert_non_null(strstr(e.message, "cache_type"));
    /* Eight answers of 2048: 1.75 GiB, although that is more than a quarter. */
    f.asked = 2048;
    f.slots = 8;
    assert_int_equal(qn_llm_fit(&f, &fit, NULL), QN_OK);
    assert_int_equal(fit.pool, 8 * 2048);
    assert_int_equal(fit.seqs, 8);
}

static void recurrent_states_are_counted(void **state)
{
    (void)state;
    struct qn_fit fit;
    struct qn_fit_facts f = {
        .trained = 4096, .token_bytes = 1024, .free_bytes = 8 * GIB, .state_bytes = 64 << 20};
    assert_int_equal(qn_llm_fit(&f, &fit, NULL), QN_OK);
    assert_int_equal(fit.seqs, 16); /* an eighth of 8 GiB holds 16 of 64 MiB */
    assert_int_equal(fit.kept, 16);
    f.state_bytes = 2 * GIB;
    assert_int_equal(qn_llm_fit(&f, &fit, NULL), QN_OK);
    assert_int_equal(fit.seqs, 1);
    assert_int_equal(fit.kept, QN_LLM_KEPT_MIN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_asked_for_is_chosen),
        cmocka_unit_test(what_is_asked_for_is_taken_or_refused),
        cmocka_unit_test(recurrent_states_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
