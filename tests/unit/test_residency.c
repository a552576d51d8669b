/* router/models/residency.c: who must leave, who never does, how threads are shared. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "models/residency.h"

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

static void no_eviction_in_vain(void **state)
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
    assert_int_equal(plan.cause, QN_CAUSE_PROCESSES);
    assert_true(
        plan.awaited[0]); /* who becomes idle gets no new work, or this would take for ever */
}

static void a_full_table_makes_room(void **state)
{
    (void)state;
    struct qn_resident live[QN_RESIDENTS_MAX];
    for (int i = 0; i < QN_RESIDENTS_MAX; i++)
        live[i] = (struct qn_resident){.kind = LLM, .last_use_ms = 100 + i, .elsewhere = i % 2};
    live[7].last_use_ms = 5;
    PLAN(A(.kind = ASR, .elsewhere = true), A(.max_loaded = ALL(-1), .threads = 4));
    assert_int_equal(plan.verdict, QN_PLAN_EVICT);
    assert_int_equal(plan.n_evict, 1);
    assert_int_equal(plan.evict[0], 7);
    live[7].leaving = true;
    qn_residency_plan(live, QN_RESIDENTS_MAX, &(struct qn_resident){.kind = LLM},
                      &(struct qn_budget){.max_loaded = ALL(-1), .threads = 4}, &plan);
    assert_int_equal(plan.verdict, QN_PLAN_WAIT);
    assert_int_equal(plan.n_evict, 0);
}

static void a_table_full_of_pinned_ones_refuses(void **state)
{
    (void)state;
    struct qn_resident live[QN_RESIDENTS_MAX];
    for (int i = 0; i < QN_RESIDENTS_MAX; i++)
        live[i] = (struct qn_resident){.kind = LLM, .pinned = true};
    PLAN(A(.kind = ASR), A(.max_loaded = ALL(-1), .threads = 4));
    assert_int_equal(plan.verdict, QN_PLAN_REFUSE);
    assert_int_equal(plan.cause, QN_CAUSE_PROCESSES);
    assert_true(plan.kept);
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

/* Each kind has a limit of its own. */
static void kinds_have_their_own_limits(void **state)
{
    (void)state;
    const struct qn_kind_limits limits = {{2, 1, 0, -1, 1, 1}}; /* llm, embedding, reranking, ... */
    LIVE({.kind = LLM, .last_use_ms = 1}, {.kind = QN_KIND_EMBEDDING, .last_use_ms = 2},
         {.kind = ASR, .last_use_ms = 0});
    static const struct {
        enum qn_kind want;
        enum qn_plan_verdict verdict;
        size_t leaves;
    } cases[] = {
        {LLM, QN_PLAN_LOAD, 0},
        {QN_KIND_EMBEDDING, QN_PLAN_EVICT, 1},
        {QN_KIND_RERANKING, QN_PLAN_REFUSE, 0},
        {ASR, QN_PLAN_LOAD, 0},
        {TTS, QN_PLAN_LOAD, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PLAN(A(.kind = cases[i].want), A(.max_loaded = limits, .threads = 4));
        assert_int_equal(plan.verdict, cases[i].verdict);
        if (plan.verdict == QN_PLAN_EVICT)
            assert_int_equal(plan.evict[0], cases[i].leaves);
        if (plan.verdict == QN_PLAN_REFUSE)
            assert_false(plan.kept);
    }
}

static void what_computes_elsewhere_needs_no_room(void **state)
{
    (void)state;
    LIVE({.kind = LLM, .busy = true, .memory_bytes = 90},
         {.kind = LLM, .elsewhere = true, .memory_bytes = 90});
    PLAN(A(.kind = LLM, .elsewhere = true, .memory_bytes = 90),
         A(.max_loaded = ALL(1), .memory_bytes = 100, .threads = 4));
    assert_int_equal(plan.verdict, QN_PLAN_LOAD);
    /* Nor does it take the place that another needs. */
    qn_residency_plan(live + 1, 1, &(struct qn_resident){.kind = LLM},
                      &(struct qn_budget){ALL(1), .threads = 1}, &plan);
    assert_int_equal(plan.verdict, QN_PLAN_LOAD);
    /* And gives none. */
    qn_residency_plan(live + 1, 1, &(struct qn_resident){.kind = LLM, .memory_bytes = 101},
                      &(struct qn_budget){ALL(1), .memory_bytes = 100, .threads = 1}, &plan);
    assert_int_equal(plan.verdict, QN_PLAN_REFUSE);
    assert_false(plan.kept);
}

static void memory_of_graphics_processors(void **state)
{
    (void)state;
    LIVE({.kind = LLM, .last_use_ms = 1, .memory_bytes = 50},
         {.kind = LLM, .last_use_ms = 2, .memory_bytes = 5, .gpu_bytes = 60});
    PLAN(A(.kind = LLM, .gpu_bytes = 50),
         A(.max_loaded = ALL(-1), .memory_bytes = 100, .gpu_bytes = 80, .threads = 4));
    assert_int_equal(plan.verdict, QN_PLAN_EVICT);
    assert_int_equal(plan.n_evict, 1);
    assert_int_equal(plan.evict[0], 1); /* the older one has nothing of what is missing */
    assert_int_equal(plan.cause, QN_CAUSE_GPU_MEMORY);
}

static struct qn_group swapping = {.name = "s", .swap = true};
static struct qn_group apart = {.name = "a", .exclusive = true};
static struct qn_group forever = {.name = "f", .persistent = true};

/* A group is its members' limit: that of their kind does not count them. */
static void groups_have_their_own_rules(void **state)
{
    (void)state;
    static const struct {
        struct qn_group *has, *wants;
        bool pinned, busy;
        enum qn_plan_verdict verdict;
        enum qn_plan_cause cause;
    } cases[] = {
        {&swapping, &swapping, false, false, QN_PLAN_EVICT, QN_CAUSE_GROUP},
        {&swapping, &swapping, false, true, QN_PLAN_WAIT, QN_CAUSE_GROUP},
        {&swapping, &swapping, true, false, QN_PLAN_REFUSE, QN_CAUSE_GROUP},
        {&swapping, NULL, false, false, QN_PLAN_LOAD, QN_CAUSE_NONE},
        {&apart, &apart, false, true, QN_PLAN_LOAD, QN_CAUSE_NONE},
        {&apart, NULL, false, false, QN_PLAN_EVICT, QN_CAUSE_GROUP},
        {NULL, &apart, false, false, QN_PLAN_EVICT, QN_CAUSE_GROUP},
        {&forever, &apart, false, false, QN_PLAN_LOAD, QN_CAUSE_NONE},
        {&forever, NULL, false, false, QN_PLAN_LOAD, QN_CAUSE_NONE},
        {NULL, NULL, false, false, QN_PLAN_EVICT, QN_CAUSE_PLACES},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        LIVE(
            {.kind = LLM, .group = cases[i].has, .pinned = cases[i].pinned, .busy = cases[i].busy});
        PLAN(A(.kind = LLM, .group = cases[i].wants), A(.max_loaded = ALL(1), .threads = 4));
        assert_int_equal(plan.verdict, cases[i].verdict);
        assert_int_equal(plan.cause, cases[i].cause);
        assert_int_equal(plan.kept, plan.verdict == QN_PLAN_REFUSE);
        if (plan.verdict != QN_PLAN_LOAD)
            assert_true(plan.awaited[0] || plan.verdict == QN_PLAN_REFUSE || !cases[i].has);
    }
}

static void a_member_needs_no_place_of_its_kind(void **state)
{
    (void)state;
    LIVE({.kind = LLM, .busy = true});
    PLAN(A(.kind = LLM, .group = &swapping), A(.max_loaded = ALL(1), .threads = 4));
    assert_int_equal(plan.verdict, QN_PLAN_LOAD);
}

/* Who is named as being in the way is the one that is waited for. */
static void the_blocker_is_the_busy_one(void **state)
{
    (void)state;
    LIVE({.kind = LLM, .leaving = true, .busy = true}, {.kind = LLM}, {.kind = LLM, .busy = true});
    PLAN(A(.kind = LLM), A(.max_loaded = ALL(1), .threads = 4));
    assert_int_equal(plan.verdict, QN_PLAN_WAIT);
    assert_int_equal(plan.blocker, 2);
}

static void a_persistent_member_leaves_only_for_its_own_group(void **state)
{
    (void)state;
    struct qn_group swapping_forever = {.name = "w", .swap = true, .persistent = true};
    LIVE({.kind = LLM, .group = &swapping_forever, .memory_bytes = 60});
    PLAN(A(.kind = LLM, .memory_bytes = 60),
         A(.max_loaded = ALL(1), .memory_bytes = 100, .threads = 4));
    assert_int_equal(plan.verdict, QN_PLAN_REFUSE);
    assert_int_equal(plan.cause, QN_CAUSE_MEMORY);
    assert_true(plan.kept);
    assert_int_equal(plan.blocker, 0);
    qn_residency_plan(
        live, 1, &(struct qn_resident){.kind = LLM, .group = &swapping_forever, .memory_bytes = 60},
        &(struct qn_budget){ALL(1), .memory_bytes = 100, .threads = 1}, &plan);
    assert_int_equal(plan.verdict, QN_PLAN_EVICT);
}

/* The rows that the document shows: flm holds one model of each kind, the others the whole NPU. */
static void the_neural_processor_is_not_shared(void **state)
{
    (void)state;
    const struct qn_device_use *flm = qn_device_use_of("flm", NULL);
    const struct qn_device_use *ryzen = qn_device_use_of("ryzenai-llm", NULL);
    const struct qn_device_use *whisper = qn_device_use_of("whispercpp", "npu");
    assert_non_null(flm);
    assert_non_null(ryzen);
    assert_non_null(whisper);
    assert_null(qn_device_use_of("whispercpp", NULL));
    assert_null(qn_device_use_of("whispercpp", "cpu"));
    assert_null(qn_device_use_of("llamacpp", NULL));
    const struct {
        const struct qn_device_use *has;
        enum qn_kind has_kind;
        const struct qn_device_use *wants;
        enum qn_kind wants_kind;
        bool both;
    } cases[] = {
        {flm, LLM, flm, ASR, true},      {flm, LLM, flm, QN_KIND_EMBEDDING, true},
        {flm, LLM, flm, LLM, false},     {flm, ASR, ryzen, LLM, false},
        {ryzen, LLM, ryzen, LLM, false}, {ryzen, LLM, whisper, ASR, false},
        {whisper, ASR, flm, LLM, false}, {whisper, ASR, NULL, LLM, true},
        {NULL, LLM, ryzen, LLM, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        LIVE({.kind = cases[i].has_kind, .usage = cases[i].has});
        PLAN(A(.kind = cases[i].wants_kind, .usage = cases[i].wants),
             A(.max_loaded = ALL(-1), .threads = 4));
        assert_int_equal(plan.verdict, cases[i].both ? QN_PLAN_LOAD : QN_PLAN_EVICT);
        assert_int_equal(plan.cause, cases[i].both ? QN_CAUSE_NONE : QN_CAUSE_DEVICE);
    }
}

/* Loading has failed as if for want of memory. */
static void a_second_try_has_the_memory_to_itself(void **state)
{
    (void)state;
    LIVE({.kind = LLM, .pinned = true}, {.kind = ASR}, {.kind = TTS, .busy = true},
         {.kind = LLM, .elsewhere = true});
    PLAN(A(.kind = LLM, .alone = true), A(.max_loaded = ALL(-1), .threads = 4));
    assert_int_equal(plan.verdict, QN_PLAN_WAIT); /* for the busy one; none is evicted before */
    assert_int_equal(plan.cause, QN_CAUSE_RETRY);
    assert_int_equal(plan.blocker, 2);
    assert_int_equal(plan.n_evict, 0);
    assert_false(plan.awaited[0]);
    assert_true(plan.awaited[1]);
    assert_true(plan.awaited[2]);
    assert_false(plan.awaited[3]);
    qn_residency_plan(live, 2, &(struct qn_resident){.kind = LLM, .alone = true},
                      &(struct qn_budget){ALL(-1), .threads = 1}, &plan);
    assert_int_equal(plan.verdict, QN_PLAN_EVICT);
    assert_int_equal(plan.n_evict, 1);
    assert_int_equal(plan.evict[0], 1);
    qn_residency_plan(live, 1, &(struct qn_resident){.kind = LLM, .alone = true},
                      &(struct qn_budget){ALL(-1), .threads = 1}, &plan);
    assert_int_equal(plan.verdict, QN_PLAN_LOAD); /* what is pinned stays */
}

static void a_modest_load_evicts_no_model(void **state)
{
    (void)state;
    LIVE({.kind = LLM});
    PLAN(A(.kind = LLM, .modest = true), A(.max_loaded = ALL(1), .threads = 4));
    assert_int_equal(plan.verdict, QN_PLAN_REFUSE);
    assert_int_equal(plan.cause, QN_CAUSE_PLACES);
    assert_int_equal(plan.n_evict, 0);
    qn_residency_plan(live, 1, &(struct qn_resident){.kind = LLM, .modest = true},
                      &(struct qn_budget){ALL(2), .threads = 1}, &plan);
    assert_int_equal(plan.verdict, QN_PLAN_LOAD);
}

/* Both hinder: the one whose leaving helps in its own way is found for each. */
static void places_and_memory_at_once(void **state)
{
    (void)state;
    LIVE({.kind = ASR, .last_use_ms = 1, .memory_bytes = 50},
         {.kind = LLM, .last_use_ms = 9, .memory_bytes = 10},
         {.kind = TTS, .last_use_ms = 2, .memory_bytes = 30});
    PLAN(A(.kind = LLM, .memory_bytes = 50),
         A(.max_loaded = ALL(1), .memory_bytes = 100, .threads = 4));
    assert_int_equal(plan.verdict, QN_PLAN_EVICT);
    assert_int_equal(plan.n_evict, 2);
    assert_int_equal(plan.evict[0], 1);
    assert_int_equal(plan.evict[1], 0);
}

/* idle / (load x weight), the highest goes. */
static void who_is_missed_least(void **state)
{
    (void)state;
    const struct qn_candidate c[] = {
        {.may_go = false, .idle_ms = 1000000, .load_ms = 1},
        {.may_go = true, .idle_ms = 60000, .load_ms = 1000, .weight = 1},     /* 60 */
        {.may_go = true, .idle_ms = 100000, .load_ms = 1000, .weight = 2},    /* 50 */
        {.may_go = true, .idle_ms = 90000, .load_ms = 30000, .weight = 0.01}, /* 300 */
        {.may_go = true, .idle_ms = 200, .load_ms = 0, .weight = -1},         /* 200 */
    };
    assert_int_equal(qn_residency_least_missed(c, 5), 3);
    assert_int_equal(qn_residency_least_missed(c, 3), 1);
    assert_int_equal(qn_residency_least_missed(c + 4, 1), 0);
    assert_int_equal(qn_residency_least_missed(c, 1), 1);
    assert_int_equal(qn_residency_least_missed(NULL, 0), 0);
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
        cmocka_unit_test(no_eviction_in_vain),
        cmocka_unit_test(pinned_ones_refuse),
        cmocka_unit_test(a_leaving_one_is_waited_for),
        cmocka_unit_test(no_limit_means_no_limit),
        cmocka_unit_test(memory_is_freed_over_all_types),
        cmocka_unit_test(too_big_for_the_house),
        cmocka_unit_test(a_full_table_waits),
        cmocka_unit_test(a_full_table_makes_room),
        cmocka_unit_test(a_table_full_of_pinned_ones_refuses),
        cmocka_unit_test(threads_are_shared_by_the_busy),
        cmocka_unit_test(kinds_have_their_own_limits),
        cmocka_unit_test(what_computes_elsewhere_needs_no_room),
        cmocka_unit_test(memory_of_graphics_processors),
        cmocka_unit_test(groups_have_their_own_rules),
        cmocka_unit_test(a_member_needs_no_place_of_its_kind),
        cmocka_unit_test(the_blocker_is_the_busy_one),
        cmocka_unit_test(a_persistent_member_leaves_only_for_its_own_group),
        cmocka_unit_test(the_neural_processor_is_not_shared),
        cmocka_unit_test(a_second_try_has_the_memory_to_itself),
        cmocka_unit_test(a_modest_load_evicts_no_model),
        cmocka_unit_test(places_and_memory_at_once),
        cmocka_unit_test(who_is_missed_least),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
