/* router/residency.c: who must leave, who never does, how threads are shared. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "router/residency.h"

#define LLM QN_KIND_LLM
#define ASR QN_KIND_TRANSCRIPTION
#define TTS QN_KIND_TTS
#define ALL(n)                                                                                     \
    {                                                                                              \
        {                                                                                          \
            n, n, n, n, n, n                                                                       \
        }                                                                                          \
    }
#define LIVE(...) const struct qn_resident live[] = {__VA_ARGS__}
#define PLAN(want_, budget_)                                                                       \
    struct qn_plan plan;                                                                           \
    qn_residency_plan(live, sizeof live / sizeof *live, &(struct qn_resident)want_,                \
                      &(struct qn_budget)budget_, &plan)
#define A(...)                                                                                     \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static void an_empty_house_takes_anyone(void **state)
{
    (void)state;
    struct qn_plan plan;
    qn_residency_plan(NULL, 0, &(struct qn_resident){.kind = LLM},
                      &(struct qn_budget){.max_loaded = ALL(1), .threads = 8}, &plan);
    assert_int_equal(plan.verdict, QN_PLAN_LOAD);
    assert_int_equal(plan.threads, 8);
    qn_residency_plan(NULL, 0, &(struct qn_resident){.kind = LLM},
                      &(struct qn_budget){.max_loaded = ALL(0), .threads = 8}, &plan);
    assert_int_equal(plan.verdict, QN_PLAN_REFUSE);
}

static void the_least_recently_used_of_its_type_leaves(void **state)
{
    (void)state;
    LIVE({.kind = LLM, .last_use_ms = 30}, {.kind = ASR, .last_use_ms = 1},
         {.kind = LLM, .last_use_ms = 20}, {.kind = LLM, .last_use_ms = 25});
    PLAN(A(.kind = LLM), A(.max_loaded = ALL(3), .threads = 4));
    assert_int_equal(plan.verdict, QN_PLAN_EVICT);
    assert_int_equal(plan.n_evict, 1);
    assert_int_equal(plan.evict[0], 2);
}

static void a_lowered_limit_evicts_several_in_order(void **state)
{
    (void)state;
    LIVE({.kind = LLM, .last_use_ms = 30}, {.kind = LLM, .last_use_ms = 20},
         {.kind = LLM, .last_use_ms = 25});
    PLAN(A(.kind = LLM), A(.max_loaded = ALL(2), .threads = 4));
    assert_int_equal(plan.verdict, QN_PLAN_EVICT);
    assert_int_equal(plan.n_evict, 2);
    assert_int_equal(plan.evict[0], 1);
    assert_int_equal(plan.evict[1], 2);
}

static void other_types_have_their_own_places(void **state)
{
    (void)state;
    LIVE({.kind = ASR}, {.kind = TTS});
    PLAN(A(.kind = LLM), A(.max_loaded = ALL(1), .threads = 4));
    assert_int_equal(plan.verdict, QN_PLAN_LOAD);
}

static void a_busy_one_is_never_evicted(void **state)
{
    (void)state;
    LIVE({.kind = LLM, .busy = true, .last_use_ms = 1});
    PLAN(A(.kind = LLM), A(.max_loaded = ALL(1), .threads = 4));
    assert_int_equal(plan.verdict, QN_PLAN_WAIT);
    assert_int_equal(plan.n_evict, 0);
    assert_int_equal(plan.cause, QN_CAUSE_PLACES);
    assert_int_equal(plan.blocker, 0);
    assert_true(plan.awaited[0]);
}

static void the_idle_one_leaves_though_the_busy_one_is_older(void **state)
{
    (void)state;
    LIVE({.kind = LLM, .busy = true, .last_use_ms = 1}, {.kind = LLM, .last_use_ms = 99});
    PLAN(A(.kind = LLM), A(.max_loaded = ALL(2), .threads = 4));
    assert_int_equal(plan.verdict, QN_PLAN_EVICT);
    assert_int_equal(plan.evict[0], 1);
}

static void nobody_leaves_for_nothing(void **state)
{
    (void)state;
    /* Two places are needed, one could be had: waiting is right, evicting is not. */
    LIVE({.kind = LLM, .busy = true}, {.kind = LLM, .last_use_ms = 5});
    PLAN(A(.kind = LLM), A(.max_loaded = ALL(1), .threads = 4));
    assert_int_equal(plan.verdict, QN_PLAN_WAIT);
    assert_int_equal(plan.n_evict, 0);
}

static void pinned_ones_refuse(void **state)
{
    (void)state;
    LIVE({.kind = LLM, .pinned = true});
    PLAN(A(.kind = LLM), A(.max_loaded = ALL(1), .threads = 4));
    assert_int_equal(plan.verdict, QN_PLAN_REFUSE);
    assert_int_equal(plan.cause, QN_CAUSE_PLACES);
    assert_true(plan.kept);
    assert_int_equal(plan.blocker, 0);
}

static void a_leaving_one_is_waited_for(void **state)
{
    (void)state;
    LIVE({.kind = LLM, .leaving = true, .busy = true}, {.kind = LLM, .last_use_ms = 3});
    PLAN(A(.kind = LLM), A(.max_loaded = ALL(2), .threads = 4));
    assert_int_equal(plan.verdict, QN_PLAN_WAIT);
    assert_int_equal(plan.n_evict, 0);
}

static void no_limit_means_no_limit(void **state)
{
    (void)state;
    LIVE({.kind = LLM, .busy = true}, {.kind = LLM}, {.kind = LLM});
    PLAN(A(.kind = LLM, .memory_bytes = INT64_MAX / 4), A(.max_loaded = ALL(-1), .threads = 4));
    assert_int_equal(plan.verdict, QN_PLAN_LOAD);
    assert_int_equal(plan.threads, 2); /* beside one busy neighbour */
}

static void memory_is_freed_over_all_types(void **state)
{
    (void)state;
    LIVE({.kind = ASR, .memory_bytes = 40, .last_use_ms = 1},
         {.kind = TTS, .memory_bytes = 30, .last_use_ms = 2},
         {.kind = LLM, .memory_bytes = 20, .last_use_ms = 0, .pinned = true});
    PLAN(A(.kind = LLM, .memory_bytes = 50),
         A(.max_loaded = ALL(5), .memory_bytes = 100, .threads = 4));
    assert_int_equal(plan.verdict, QN_PLAN_EVICT);
    assert_int_equal(plan.n_evict, 1);
    assert_int_equal(plan.evict[0], 0);
}

static void too_big_for_the_house(void **state)
{
    (void)state;
    LIVE({.kind = ASR, .memory_bytes = 40, .last_use_ms = 1});
    PLAN(A(.kind = LLM, .memory_bytes = 101),
         A(.max_loaded = ALL(5), .memory_bytes = 100, .threads = 4));
    assert_int_equal(plan.verdict, QN_PLAN_REFUSE);
    assert_int_equal(plan.n_evict, 0);
}

static void a_full_table_waits(void **state)
{
    (void)state;
    struct qn_resident live[QN_RESIDENTS_MAX];
    for (int i = 0; i < QN_RESIDENTS_MAX; i++)
        live[i] = (struct qn_resident){.kind = LLM, .busy = true};
    PLAN(A(.kind = LLM), A(.max_loaded = ALL(-1), .threads = 4));
    assert_int_equal(plan.verdict, QN_PLAN_WAIT);
}

static void threads_are_shared_by_the_busy(void **state)
{
    (void)state;
    LIVE({.kind = LLM, .busy = true}, {.kind = LLM}, {.kind = LLM, .busy = true},
         {.kind = ASR, .busy = true});
    int t[4];
    qn_residency_threads(live, 4, 8, t);
    assert_int_equal(t[0], 3);
    assert_int_equal(t[1], 2); /* idle: what it would have as the fourth */
    assert_int_equal(t[2], 3);
    assert_int_equal(t[3], 2);
    qn_residency_threads(live, 4, 2, t); /* fewer threads than busy children: each at least one */
    assert_int_equal(t[0], 1);
    assert_int_equal(t[1], 1);
    assert_int_equal(t[3], 1);
    const struct qn_resident alone[] = {{.kind = LLM}};
    qn_residency_threads(alone, 1, 6, t);
    assert_int_equal(t[0], 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_house_takes_anyone),
        cmocka_unit_test(the_least_recently_used_of_its_type_leaves),
        cmocka_unit_test(a_lowered_limit_evicts_several_in_order),
        cmocka_unit_test(other_types_have_their_own_places),
        cmocka_unit_test(a_busy_one_is_never_evicted),
        cmocka_unit_test(the_idle_one_leaves_though_the_busy_one_is_older),
        cmocka_unit_test(nobody_leaves_for_nothing),
        cmocka_unit_test(pinned_ones_refuse),
        cmocka_unit_test(a_leaving_one_is_waited_for),
        cmocka_unit_test(no_limit_means_no_limit),
        cmocka_unit_test(memory_is_freed_over_all_types),
        cmocka_unit_test(too_big_for_the_house),
        cmocka_unit_test(a_full_table_waits),
        cmocka_unit_test(threads_are_shared_by_the_busy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
