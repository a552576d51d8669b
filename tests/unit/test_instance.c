/* router/models/instance.c: every cell of the table, then the stories that cross several cells. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "models/instance.h"

#include <stdio.h>

/* ---- every cell, for an instance that no lease waits for and that is not pinned ---- */

struct cell {
    enum qn_inst_state next;
    unsigned effects;
};

#define ST QN_INST_STOPPED
#define LO QN_INST_LOADING
#define RE QN_INST_READY
#define DR QN_INST_DRAINING
#define BA QN_INST_BACKOFF
#define FA QN_INST_FAILED

/* clang-format off */
static const struct cell expected[QN_INST_STATE_COUNT][QN_INST_EVENT_COUNT] = {
    /*           WANT              UNWANT   UNPINNED STOP              READY    FAILED           REFUSED          UNHEALTHY        BROKEN           EXITED             BACKOFF_OVER      GRACE_OVER       TERM_OVER        HEALTHY */
    /* STOPPED */ {{LO, QN_FX_SPAWN}, {ST, 0}, {ST, 0}, {ST, 0},          {ST, 0}, {ST, 0},          {ST, 0},          {ST, 0},          {ST, 0},          {ST, 0},             {ST, 0},             {ST, 0},          {ST, 0},          {ST, 0}},
    /* LOADING */ {{LO, 0}, {LO, 0},           {LO, 0}, {DR, QN_FX_TERM}, {RE, 0}, {DR, QN_FX_LEAVE},{DR, QN_FX_LEAVE},{DR, QN_FX_KILL}, {LO, 0},          {ST, 0},             {LO, 0},             {LO, 0},          {LO, 0},          {LO, 0}},
    /* READY */   {{RE, 0}, {RE, 0},           {RE, 0}, {DR, QN_FX_STOP}, {RE, 0}, {DR, QN_FX_KILL}, {DR, QN_FX_KILL}, {DR, QN_FX_KILL}, {DR, QN_FX_STOP}, {ST, 0},             {RE, 0},             {RE, 0},          {RE, 0},          {RE, 0}},
    /* DRAINING */{{DR, 0}, {DR, 0},           {DR, 0}, {DR, 0},          {DR, 0}, {DR, 0},          {DR, 0},          {DR, QN_FX_KILL}, {DR, 0},          {ST, 0},             {DR, 0},             {DR, QN_FX_TERM}, {DR, QN_FX_KILL}, {DR, 0}},
    /* BACKOFF */ {{BA, 0},           {ST, 0}, {ST, 0}, {ST, 0},          {BA, 0}, {BA, 0},          {BA, 0},          {BA, 0},          {BA, 0},          {BA, 0},             {LO, QN_FX_SPAWN},   {BA, 0},          {BA, 0},          {BA, 0}},
    /* FAILED */  {{LO, QN_FX_SPAWN}, {FA, 0}, {FA, 0}, {ST, 0},          {FA, 0}, {FA, 0},          {FA, 0},          {FA, 0},          {FA, 0},          {FA, 0},             {FA, 0},             {FA, 0},          {FA, 0},          {FA, 0}},
};
/* clang-format on */

static void every_cell(void **state)
{
    (void)state;
    for (int s = 0; s < QN_INST_STATE_COUNT; s++)
        for (int ev = 0; ev < QN_INST_EVENT_COUNT; ev++) {
            struct qn_instance in = {.state = (enum qn_inst_state)s};
            unsigned fx = qn_instance_step(&in, (enum qn_inst_event)ev);
            const struct cell *want = &expected[s][ev];
            if (in.state != want->next || fx != want->effects)
                print_error("in %s, %s led to %s with effects %u\n",
                            qn_inst_state_name((enum qn_inst_state)s),
                            qn_inst_event_name((enum qn_inst_event)ev),
                            qn_inst_state_name(in.state), fx);
            assert_int_equal(in.state, want->next);
            assert_int_equal(fx, want->effects);
        }
}

/* ---- stories ---- */

static void play(struct qn_instance *in, enum qn_inst_event ev, enum qn_inst_state next,
                 unsigned fx)
{
    assert_int_equal(qn_instance_step(in, ev), fx);
    assert_int_equal(in->state, next);
}

static void three_failed_loads_fail_until_asked_again(void **state)
{
    (void)state;
    struct qn_instance in;
    qn_instance_init(&in, false);
    play(&in, QN_INST_WANT, LO, QN_FX_SPAWN);
    play(&in, QN_INST_EXITED, BA, QN_FX_BACKOFF);
    assert_int_equal(in.backoff_ms, 500);
    play(&in, QN_INST_BACKOFF_OVER, LO, QN_FX_SPAWN);
    play(&in, QN_INST_CHILD_FAILED, DR, QN_FX_LEAVE); /* an orderly failure counts the same */
    play(&in, QN_INST_EXITED, BA, QN_FX_BACKOFF);
    assert_int_equal(in.backoff_ms, 1000);
    play(&in, QN_INST_BACKOFF_OVER, LO, QN_FX_SPAWN);
    play(&in, QN_INST_UNHEALTHY, DR, QN_FX_KILL);
    play(&in, QN_INST_EXITED, FA, 0);
    assert_int_equal(in.crashes, 3);
    assert_false(in.wanted);
    play(&in, QN_INST_WANT, LO, QN_FX_SPAWN); /* asked again: all is forgotten */
    assert_int_equal(in.failed_loads, 0);
    play(&in, QN_INST_EXITED, BA, QN_FX_BACKOFF);
    assert_int_equal(in.backoff_ms, 500);
}

static void a_refused_load_is_not_tried_again(void **state)
{
    (void)state;
    struct qn_instance in;
    qn_instance_init(&in, true);
    play(&in, QN_INST_WANT, LO, QN_FX_SPAWN);
    play(&in, QN_INST_CHILD_REFUSED, DR, QN_FX_LEAVE);
    play(&in, QN_INST_EXITED, FA, 0);
    assert_int_equal(in.crashes, 0);
}

static void back_off_doubles_to_its_limit_and_health_resets_it(void **state)
{
    (void)state;
    struct qn_instance in;
    const int64_t waits[] = {500, 1000, 2000, 4000, 8000, 16000, 30000, 30000};
    qn_instance_init(&in, true); /* pinned: restarted though no lease waits */
    play(&in, QN_INST_WANT, LO, QN_FX_SPAWN);
    for (int i = 0; i < 8; i++) {
        play(&in, QN_INST_CHILD_READY, RE, 0);
        assert_int_equal(in.failed_loads, 0);
        play(&in, QN_INST_EXITED, BA, QN_FX_BACKOFF);
        assert_int_equal(in.backoff_ms, waits[i]);
        assert_int_equal(in.crashes, i + 1);
        play(&in, QN_INST_BACKOFF_OVER, LO, QN_FX_SPAWN);
    }
    play(&in, QN_INST_CHILD_READY, RE, 0);
    play(&in, QN_INST_HEALTHY, RE, 0);
    assert_int_equal(in.crashes, 0);
    play(&in, QN_INST_UNHEALTHY, DR, QN_FX_KILL);
    play(&in, QN_INST_EXITED, BA, QN_FX_BACKOFF);
    assert_int_equal(in.backoff_ms, 500);
    assert_int_equal(in.crashes, 1);
    play(&in, QN_INST_STOP, ST, 0);
    assert_int_equal(in.crashes, 0);
}

static void a_crash_without_waiters_rests_but_is_remembered(void **state)
{
    (void)state;
    struct qn_instance in;
    qn_instance_init(&in, false);
    play(&in, QN_INST_WANT, LO, QN_FX_SPAWN);
    play(&in, QN_INST_CHILD_READY, RE, 0);
    play(&in, QN_INST_EXITED, ST, 0);
    play(&in, QN_INST_WANT, BA, QN_FX_BACKOFF); /* not at once: a crash loop would spin */
    play(&in, QN_INST_UNWANT, ST, 0);
    play(&in, QN_INST_WANT, BA, QN_FX_BACKOFF);
    play(&in, QN_INST_BACKOFF_OVER, LO, QN_FX_SPAWN);
}

static void wanted_while_draining_starts_anew_at_its_end(void **state)
{
    (void)state;
    struct qn_instance in;
    qn_instance_init(&in, false);
    play(&in, QN_INST_WANT, LO, QN_FX_SPAWN);
    play(&in, QN_INST_CHILD_READY, RE, 0);
    play(&in, QN_INST_STOP, DR, QN_FX_STOP);
    play(&in, QN_INST_WANT, DR, 0);
    play(&in, QN_INST_GRACE_OVER, DR, QN_FX_TERM);
    play(&in, QN_INST_TERM_OVER, DR, QN_FX_KILL);
    play(&in, QN_INST_EXITED, LO, QN_FX_SPAWN);
    assert_int_equal(in.backoff_ms, 0);
    play(&in, QN_INST_CHILD_READY, RE, 0);
    play(&in, QN_INST_STOP, DR, QN_FX_STOP);
    play(&in, QN_INST_WANT, DR, 0);
    play(&in, QN_INST_UNWANT, DR, 0);
    play(&in, QN_INST_EXITED, ST, 0);
}

/* What says that it failed may end by itself, but not take its time over it. */
static void a_failed_load_that_does_not_end_is_killed(void **state)
{
    (void)state;
    struct qn_instance in;
    qn_instance_init(&in, false);
    play(&in, QN_INST_WANT, LO, QN_FX_SPAWN);
    play(&in, QN_INST_CHILD_REFUSED, DR, QN_FX_LEAVE);
    play(&in, QN_INST_TERM_OVER, DR, QN_FX_KILL);
    play(&in, QN_INST_EXITED, FA, 0);
}

static void a_stop_overrides_a_restart(void **state)
{
    (void)state;
    struct qn_instance in;
    qn_instance_init(&in, true);
    play(&in, QN_INST_WANT, LO, QN_FX_SPAWN);
    play(&in, QN_INST_CHILD_READY, RE, 0);
    play(&in, QN_INST_UNHEALTHY, DR, QN_FX_KILL);
    play(&in, QN_INST_STOP, DR, 0);
    play(&in, QN_INST_EXITED, ST, 0);
    assert_int_equal(in.backoff_ms, 0);
}

/* It died while it loaded, and no lease waits for it. */
static struct qn_instance pinned_in_back_off(void)
{
    struct qn_instance in;
    qn_instance_init(&in, true);
    play(&in, QN_INST_WANT, LO, QN_FX_SPAWN);
    play(&in, QN_INST_UNWANT, LO, 0);
    play(&in, QN_INST_EXITED, BA, QN_FX_BACKOFF);
    return in;
}

static void a_pinned_one_backs_off_without_waiters(void **state)
{
    (void)state;
    struct qn_instance in = pinned_in_back_off();
    play(&in, QN_INST_UNWANT, BA, 0);
}

static void unpinned_while_it_backs_off_it_rests(void **state)
{
    (void)state;
    struct qn_instance in = pinned_in_back_off();
    in.pinned = false;
    play(&in, QN_INST_UNPINNED, ST, 0);
    assert_int_equal(in.crashes, 1); /* which is remembered */
    play(&in, QN_INST_WANT, BA, QN_FX_BACKOFF);
    play(&in, QN_INST_UNPINNED, BA, 0); /* a lease waits */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cell),
        cmocka_unit_test(three_failed_loads_fail_until_asked_again),
        cmocka_unit_test(a_refused_load_is_not_tried_again),
        cmocka_unit_test(back_off_doubles_to_its_limit_and_health_resets_it),
        cmocka_unit_test(a_crash_without_waiters_rests_but_is_remembered),
        cmocka_unit_test(wanted_while_draining_starts_anew_at_its_end),
        cmocka_unit_test(a_failed_load_that_does_not_end_is_killed),
        cmocka_unit_test(a_stop_overrides_a_restart),
        cmocka_unit_test(a_pinned_one_backs_off_without_waiters),
        cmocka_unit_test(unpinned_while_it_backs_off_it_rests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
