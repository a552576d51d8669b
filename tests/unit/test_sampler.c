/* Every stage of the sampler against numbers worked out by hand, and the order of the stages. */
#include "llm/sampler.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include <cmocka.h>

enum { VOCAB = 6 };

static struct qn_sampler_params neutral(void)
{
    return (struct qn_sampler_params){
        .temperature = 1, .top_p = 1, .repeat_penalty = 1, .repeat_last_n = -1};
}

static void assert_near(double a, double b)
{
    if (fabs(a - b) > 1e-6)
        fail_msg("%.9f is not %.9f", a, b);
}

static void top_logits_are_sorted_and_finite(void **state)
{
    (void)state;
    const float l[8] = {1, 5, NAN, 3, 5, -INFINITY, 4, INFINITY};
    struct qn_token_candidate c[8];
    assert_int_equal(qn_top_logits(l, 8, 3, c), 3);
    assert_int_equal(c[0].id, 1); /* equal logits: the lower id first */
    assert_int_equal(c[1].id, 4);
    assert_int_equal(c[2].id, 6);
    assert_int_equal(qn_top_logits(l, 8, 8, c), 5); /* what is not finite is never a candidate */
    assert_int_equal(c[3].id, 3);
    assert_int_equal(c[4].id, 0);
    const float none[2] = {NAN, -INFINITY};
    assert_int_equal(qn_top_logits(none, 2, 2, c), 0);
}

static void top_logits_of_many(void **state)
{
    (void)state;
    /* i * 7919 mod 10007 visits every number below 10007 once (both are primes). */
    static float l[10007];
    for (int i = 0; i < 10007; i++)
        l[i] = (float)(i * 7919L % 10007);
    struct qn_token_candidate c[50];
    assert_int_equal(qn_top_logits(l, 10007, 50, c), 50);
    for (int i = 0; i < 50; i++)
        assert_true(c[i].logit == (float)(10006 - i));
}

static void log_sum_exp_by_hand(void **state)
{
    (void)state;
    /* exp: 1 + 2 + 4 = 7 */
    const float l[4] = {0, logf(2), logf(4), -INFINITY};
    assert_near(qn_log_sum_exp(l, 4), log(7));
    const float far[2] = {1000, 1000};
    assert_near(qn_log_sum_exp(far, 2), 1000 + log(2));
}

static void top_p_keeps_the_smallest_sufficient_set(void **state)
{
    (void)state;
    /* probabilities 0.5, 0.3, 0.2 */
    const struct qn_token_candidate c[3] = {{0, logf(5)}, {1, logf(3)}, {2, logf(2)}};
    assert_int_equal(qn_stage_top_p(c, 3, 0.4), 1);
    assert_int_equal(qn_stage_top_p(c, 3, 0.6), 2);
    assert_int_equal(qn_stage_top_p(c, 3, 0.79), 2);
    assert_int_equal(qn_stage_top_p(c, 3, 0.81), 3);
    assert_int_equal(qn_stage_top_p(c, 3, 1), 3);
    assert_int_equal(qn_stage_top_p(c, 3, 0.0001), 1);
}

static void min_p_is_relative_to_the_likeliest(void **state)
{
    (void)state;
    const struct qn_token_candidate c[3] = {{0, logf(5)}, {1, logf(3)}, {2, logf(2)}};
    assert_int_equal(qn_stage_min_p(c, 3, 0.5), 2);  /* 0.3 >= 0.25 > 0.2 */
    assert_int_equal(qn_stage_min_p(c, 3, 0.39), 3); /* 0.2 >= 0.195 */
    assert_int_equal(qn_stage_min_p(c, 3, 1), 1);
    assert_int_equal(qn_stage_min_p(c, 3, 0), 3);
}

static void draw_divides_the_unit_interval(void **state)
{
    (void)state;
    const struct qn_token_candidate c[3] = {{7, logf(5)}, {8, logf(3)}, {9, logf(2)}};
    assert_int_equal(qn_stage_draw(c, 3, 1, 0), 7);
    assert_int_equal(qn_stage_draw(c, 3, 1, 0.499), 7);
    assert_int_equal(qn_stage_draw(c, 3, 1, 0.501), 8);
    assert_int_equal(qn_stage_draw(c, 3, 1, 0.799), 8);
    assert_int_equal(qn_stage_draw(c, 3, 1, 0.801), 9);
    /* Temperature 0.5 squares: 25, 9, 4 of 38. */
    assert_int_equal(qn_stage_draw(c, 3, 0.5, 24.9 / 38), 7);
    assert_int_equal(qn_stage_draw(c, 3, 0.5, 25.1 / 38), 8);
    assert_int_equal(qn_stage_draw(c, 3, 0.5, 34.1 / 38), 9);
    /* Temperature 2 takes roots: sqrt(5) of sqrt(5) + sqrt(3) + sqrt(2). */
    double total = sqrt(5) + sqrt(3) + sqrt(2);
    assert_int_equal(qn_stage_draw(c, 3, 2, sqrt(5) / total - 1e-6), 7);
    assert_int_equal(qn_stage_draw(c, 3, 2, sqrt(5) / total + 1e-6), 8);
    assert_int_equal(qn_stage_draw(c, 3, 1e-9, 0.999999), 7);
}

static void penalties_by_hand(void **state)
{
    (void)state;
    struct qn_sampler_work w;
    qn_sampler_work_init(&w, VOCAB, 16);
    const int32_t history[5] = {0, 1, 2, 1, 3};
    float l[VOCAB] = {2, 4, -1, 0.5f, 9, 0};
    struct qn_sampler_params p = neutral();
    p.repeat_penalty = 2;
    p.presence_penalty = 0.25;
    p.frequency_penalty = 0.5;
    p.repeat_last_n = 4; /* token 0 is out of sight */
    qn_stage_penalties(l, &p, history, 5, &w);
    assert_near(l[0], 2);
    assert_near(l[1], 4.0 / 2 - 2 * 0.5 - 0.25); /* seen twice */
    assert_near(l[2], -1.0 * 2 - 0.5 - 0.25);    /* negative: multiplied */
    assert_near(l[3], 0.5 / 2 - 0.5 - 0.25);
    assert_near(l[4], 9);
    assert_near(l[5], 0);
    float m[VOCAB] = {2, 4, -1, 0.5f, 9, 0};
    p.repeat_last_n = 0; /* sees nothing */
    qn_stage_penalties(m, &p, history, 5, &w);
    assert_near(m[1], 4);
    p.repeat_last_n = -1; /* sees all */
    qn_stage_penalties(m, &p, history, 5, &w);
    assert_near(m[0], 2.0 / 2 - 0.5 - 0.25);
    qn_sampler_work_deinit(&w);
}

static int32_t pick_once(const struct qn_sampler_params *p, const float *logits, int32_t n,
                         const int32_t *history, size_t n_history)
{
    struct qn_sampler_work w;
    qn_sampler_work_init(&w, n, 64);
    struct qn_sampler s;
    qn_sampler_init(&s, p, 0);
    float copy[64];
    memcpy(copy, logits, (size_t)n * sizeof *copy);
    int32_t id = qn_sampler_pick(&s, &w, copy, history, n_history);
    qn_sampler_work_deinit(&w);
    return id;
}

static void greedy_after_bias_and_penalties(void **state)
{
    (void)state;
    struct qn_sampler_params p = neutral();
    p.temperature = 0;
    const float l[VOCAB] = {1, 3, 3, 2, NAN, -INFINITY};
    assert_int_equal(pick_once(&p, l, VOCAB, NULL, 0), 1); /* equal: the lower id */
    struct qn_bias bias[1] = {{3, 1.5}};
    p.bias = (struct qn_biases){bias, 1};
    assert_int_equal(pick_once(&p, l, VOCAB, NULL, 0), 3); /* 3.5 */
    const int32_t history[1] = {3};
    p.repeat_penalty = 2; /* after the bias: 3.5 / 2, not 2 / 2 + 1.5 */
    assert_int_equal(pick_once(&p, l, VOCAB, history, 1), 1);
    const float none[2] = {NAN, -INFINITY};
    p = neutral();
    assert_int_equal(pick_once(&p, none, 2, NULL, 0), -1);
}

/* How often each token comes in many draws. */
static void tally(struct qn_sampler_params *p, const float *logits, int32_t n, int counts[],
                  int draws)
{
    struct qn_sampler_work w;
    qn_sampler_work_init(&w, n, 64);
    struct qn_sampler s;
    p->seed = 42;
    qn_sampler_init(&s, p, 0);
    memset(counts, 0, (size_t)n * sizeof *counts);
    for (int i = 0; i < draws; i++) {
        float copy[64];
        memcpy(copy, logits, (size_t)n * sizeof *copy);
        counts[qn_sampler_pick(&s, &w, copy, NULL, 0)]++;
    }
    qn_sampler_work_deinit(&w);
}

static void assert_share(int count, int draws, double share)
{
    double sigma = sqrt(share * (1 - share) / draws);
    double got = (double)count / draws;
    if (fabs(got - share) > 5 * sigma)
        fail_msg("share %.4f is not %.4f", got, share);
}

static void top_p_counts_what_top_k_left(void **state)
{
    (void)state;
    /* 0.4, 0.3, 0.2, 0.1. top_k 2 leaves 4/7 and 3/7; top_p 0.55 of those keeps the first alone,
     * although of all four 0.55 would have kept two. */
    const float l[4] = {logf(4), logf(3), logf(2), logf(1)};
    struct qn_sampler_params p = neutral();
    int counts[4];
    p.top_k = 2;
    p.top_p = 0.55;
    tally(&p, l, 4, counts, 200);
    assert_int_equal(counts[0], 200);
    p.top_k = 0;
    tally(&p, l, 4, counts, 20000);
    assert_int_equal(counts[2] + counts[3], 0);
    assert_share(counts[0], 20000, 4.0 / 7);
}

static void temperature_comes_after_the_truncations(void **state)
{
    (void)state;
    /* At temperature 100 all four are nearly equal, but min_p 0.6 was applied before: 0.4 and 0.3
     * stay. */
    const float l[4] = {logf(4), logf(3), logf(2), logf(1)};
    struct qn_sampler_params p = neutral();
    int counts[4];
    p.temperature = 100;
    p.min_p = 0.6;
    tally(&p, l, 4, counts, 20000);
    assert_int_equal(counts[2] + counts[3], 0);
    assert_share(counts[0], 20000, 0.5 + log(4.0 / 3) / 400);
    p.top_p = 0.95; /* the sorted way gives the same */
    tally(&p, l, 4, counts, 20000);
    assert_int_equal(counts[2] + counts[3], 0);
    assert_share(counts[0], 20000, 0.5 + log(4.0 / 3) / 400);
}

static void shares_follow_the_probabilities(void **state)
{
    (void)state;
    const float l[4] = {logf(1), logf(4), logf(2), logf(3)};
    struct qn_sampler_params p = neutral();
    int counts[4];
    tally(&p, l, 4, counts, 50000);
    for (int i = 0; i < 4; i++)
        assert_share(counts[i], 50000, exp((double)l[i]) / 10);
    p.top_k = 3;
    tally(&p, l, 4, counts, 50000);
    assert_int_equal(counts[0], 0);
    assert_share(counts[1], 50000, 4.0 / 9);
}

static void flat_distributions_need_wide_bands(void **state)
{
    (void)state;
    /* One token at 0 and 63 at -10: the others hold 63 * e^-10 of all, the last of them needed for
     * a top_p very near 1. */
    float l[64];
    for (int i = 0; i < 64; i++)
        l[i] = -10;
    l[5] = 0;
    struct qn_sampler_params p = neutral();
    int counts[64];
    p.top_p = 0.9999999;
    p.temperature = 1000;
    tally(&p, l, 64, counts, 6400);
    int seen = 0;
    for (int i = 0; i < 64; i++)
        seen += counts[i] > 0;
    assert_int_equal(seen, 64);
}

static void seeds_repeat(void **state)
{
    (void)state;
    float l[64];
    for (int i = 0; i < 64; i++)
        l[i] = (float)(i % 7) / 3;
    struct qn_sampler_params p = neutral();
    p.seed = 7;
    struct qn_sampler_work w;
    qn_sampler_work_init(&w, 64, 8);
    struct qn_sampler a, b, c;
    qn_sampler_init(&a, &p, 1);
    qn_sampler_init(&c, &p, 0);
    p.seed = 8;
    qn_sampler_init(&b, &p, 0); /* seed 7 + index 1 */
    int differs = 0;
    for (int i = 0; i < 100; i++) {
        float x[64], y[64], z[64];
        memcpy(x, l, sizeof l);
        memcpy(y, l, sizeof l);
        memcpy(z, l, sizeof l);
        int32_t first = qn_sampler_pick(&a, &w, x, NULL, 0);
        assert_int_equal(first, qn_sampler_pick(&b, &w, y, NULL, 0));
        differs += first != qn_sampler_pick(&c, &w, z, NULL, 0);
    }
    assert_true(differs > 50);
    qn_sampler_work_deinit(&w);
}

static void requests_override_defaults(void **state)
{
    (void)state;
    struct qn_sampler_params d = neutral(), p;
    d.top_k = 40;
    d.temperature = 0.8;
    struct qn_job job;
    qn_job_init(&job);
    struct qn_error e = {0};
    assert_int_equal(qn_sampler_resolve(&d, &job.sampling, VOCAB, &p, &e), QN_OK);
    assert_near(p.temperature, 0.8);
    assert_int_equal(p.top_k, 40);
    job.sampling.temperature = 0;
    job.sampling.top_k = 0;
    job.sampling.seed = -3;
    assert_int_equal(qn_sampler_resolve(&d, &job.sampling, VOCAB, &p, &e), QN_OK);
    assert_near(p.temperature, 0);
    assert_int_equal(p.top_k, 0);
    assert_true(p.seed == (uint64_t)-3);
    struct qn_bias bias[1] = {{VOCAB, 1}};
    job.sampling.logit_bias = (struct qn_biases){bias, 1};
    assert_int_equal(qn_sampler_resolve(&d, &job.sampling, VOCAB, &p, &e), QN_EINVAL);
    assert_string_equal(e.param, "logit_bias");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(top_logits_are_sorted_and_finite),
        cmocka_unit_test(top_logits_of_many),
        cmocka_unit_test(log_sum_exp_by_hand),
        cmocka_unit_test(top_p_keeps_the_smallest_sufficient_set),
        cmocka_unit_test(min_p_is_relative_to_the_likeliest),
        cmocka_unit_test(draw_divides_the_unit_interval),
        cmocka_unit_test(penalties_by_hand),
        cmocka_unit_test(greedy_after_bias_and_penalties),
        cmocka_unit_test(top_p_counts_what_top_k_left),
        cmocka_unit_test(temperature_comes_after_the_truncations),
        cmocka_unit_test(shares_follow_the_probabilities),
        cmocka_unit_test(flat_distributions_need_wide_bands),
        cmocka_unit_test(seeds_repeat),
        cmocka_unit_test(requests_override_defaults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
