/* router/downloads/pull_state.c: every cell of the table, then the stories that cross several
 * cells. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "downloads/pull_state.h"

struct cell {
    enum qn_pull_state next;
    unsigned effects;
};

#define RS QN_PULL_RESOLVING
#define WA QN_PULL_WAITING
#define FE QN_PULL_FETCHING
#define FI QN_PULL_FINISHING
#define PG QN_PULL_PAUSING
#define YI QN_PULL_YIELDING
#define CG QN_PULL_CANCELLING
#define RM QN_PULL_REMOVING
#define PD QN_PULL_PAUSED
#define CO QN_PULL_COMPLETED
#define CA QN_PULL_CANCELLED
#define FA QN_PULL_FAILED
#define GO QN_PULL_GONE
/* The effects: step, stop, discard, save, tell, free, refuse. */
#define r QN_PULL_FX_RESOLVE
#define f QN_PULL_FX_FETCH
#define n QN_PULL_FX_FINISH
#define X QN_PULL_FX_STOP
#define D QN_PULL_FX_DISCARD
#define S QN_PULL_FX_SAVE
#define T QN_PULL_FX_TELL
#define F QN_PULL_FX_FREE
#define R QN_PULL_FX_REFUSE

/* clang-format off */
/* For a job whose files are not known yet; in WAITING, FETCHING and FINISHING they are. */
static const struct cell expected[QN_PULL_STATE_COUNT][QN_PULL_EVENT_COUNT] = {
    /*         DONE           PART          BAD           STOPPED       TURN     YIELD        PAUSE        RESUME       AGAIN        CANCEL         REMOVE */
    /* RS */ {{WA, S},       {RS, 0},      {FA, S|T},    {FA, S|T},    {RS, 0}, {RS, 0},     {PG, X|S},   {RS, 0},     {RS, 0},     {CG, X|S},     {RM, X|S}},
    /* WA */ {{FI, n},       {WA, 0},      {FA, S|T},    {WA, 0},      {FE, f}, {WA, 0},     {PD, S|T},   {WA, 0},     {WA, 0},     {CA, D|S|T},   {GO, D|T|F}},
    /* FE */ {{FI, n},       {WA, 0},      {FA, S|T},    {FA, S|T},    {FE, 0}, {YI, X|S},   {PG, X|S},   {FE, 0},     {FE, 0},     {CG, X|S},     {RM, X|S}},
    /* FI */ {{CO, S|T},     {FI, 0},      {FA, S|T},    {FA, S|T},    {FI, 0}, {FI, 0},     {FI, R},     {FI, 0},     {FI, 0},     {FI, R},       {FI, R}},
    /* PG */ {{PD, S|T},     {PD, S|T},    {PD, S|T},    {PD, S|T},    {PG, 0}, {PG, 0},     {PG, 0},     {YI, X|S},   {YI, X|S},   {CG, X|S},     {RM, X|S}},
    /* YI */ {{RS, S|r},     {RS, S|r},    {FA, S|T},    {RS, S|r},    {YI, 0}, {YI, 0},     {PG, X|S},   {YI, 0},     {YI, 0},     {CG, X|S},     {RM, X|S}},
    /* CG */ {{CA, D|S|T},   {CA, D|S|T},  {CA, D|S|T},  {CA, D|S|T},  {CG, 0}, {CG, 0},     {CG, R},     {YI, X|S},   {YI, X|S},   {CG, 0},       {RM, X|S}},
    /* RM */ {{GO, D|T|F},   {GO, D|T|F},  {GO, D|T|F},  {GO, D|T|F},  {RM, 0}, {RM, 0},     {RM, R},     {YI, X|S},   {YI, X|S},   {RM, 0},       {RM, 0}},
    /* PD */ {{PD, 0},       {PD, 0},      {PD, 0},      {PD, 0},      {PD, 0}, {PD, 0},     {PD, 0},     {RS, S|r},   {RS, S|r},   {CA, D|S|T},   {GO, D|T|F}},
    /* CO */ {{CO, 0},       {CO, 0},      {CO, 0},      {CO, 0},      {CO, 0}, {CO, 0},     {CO, R},     {CO, R},     {RS, S|r},   {CO, R},       {GO, F}},
    /* CA */ {{CA, 0},       {CA, 0},      {CA, 0},      {CA, 0},      {CA, 0}, {CA, 0},     {CA, R},     {RS, S|r},   {RS, S|r},   {CA, 0},       {GO, F}},
    /* FA */ {{FA, 0},       {FA, 0},      {FA, 0},      {FA, 0},      {FA, 0}, {FA, 0},     {FA, R},     {RS, S|r},   {RS, S|r},   {CA, D|S|T},   {GO, D|T|F}},
    /* GO */ {{GO, 0},       {GO, 0},      {GO, 0},      {GO, 0},      {GO, 0}, {GO, 0},     {GO, 0},     {GO, 0},     {GO, 0},     {GO, 0},       {GO, 0}},
};
/* clang-format on */

static void every_cell(void **state)
{
    (void)state;
    for (int s = 0; s < QN_PULL_STATE_COUNT; s++)
        for (int ev = 0; ev < QN_PULL_EVENT_COUNT; ev++) {
            struct qn_pull_machine m = {.state = (enum qn_pull_state)s};
            unsigned fx = qn_pull_step(&m, (enum qn_pull_event)ev);
            const struct cell *want = &expected[s][ev];
            if (m.state != want->next || fx != want->effects)
                print_error("in %s, %s led to %s with effects %u\n",
                            qn_pull_state_name((enum qn_pull_state)s),
                            qn_pull_event_name((enum qn_pull_event)ev), qn_pull_state_name(m.state),
                            fx);
            assert_int_equal(m.state, want->next);
            assert_int_equal(fx, want->effects);
        }
}

static void play(struct qn_pull_machine *m, enum qn_pull_event ev, enum qn_pull_state next,
                 unsigned fx)
{
    assert_int_equal(qn_pull_step(m, ev), fx);
    assert_int_equal(m->state, next);
}

static void a_job_from_end_to_end(void **state)
{
    (void)state;
    struct qn_pull_machine m = {0};
    assert_int_equal(qn_pull_begin(&m), S | r);
    play(&m, QN_PULL_DONE, WA, S);
    assert_true(m.planned);
    play(&m, QN_PULL_TURN, FE, f);
    play(&m, QN_PULL_PART, WA, 0);
    play(&m, QN_PULL_DONE, FI, n);
    play(&m, QN_PULL_DONE, CO, S | T);
}

/* What is known of the files stays known over a pause, a failure and a restart; a new request for a
 * job that is over asks the hub again. */
static void plans_are_kept(void **state)
{
    (void)state;
    struct qn_pull_machine m = {.planned = true};
    assert_int_equal(qn_pull_begin(&m), S);
    assert_int_equal(m.state, WA);
    play(&m, QN_PULL_TURN, FE, f);
    play(&m, QN_PULL_PAUSE, PG, X | S);
    play(&m, QN_PULL_STOPPED, PD, S | T);
    play(&m, QN_PULL_AGAIN, WA, S);
    play(&m, QN_PULL_TURN, FE, f);
    play(&m, QN_PULL_YIELD, YI, X | S);
    play(&m, QN_PULL_STOPPED, WA, S);
    play(&m, QN_PULL_TURN, FE, f);
    play(&m, QN_PULL_BAD, FA, S | T);
    play(&m, QN_PULL_RESUME, WA, S);
    play(&m, QN_PULL_TURN, FE, f);
    play(&m, QN_PULL_BAD, FA, S | T);
    play(&m, QN_PULL_AGAIN, RS, S | r);
    assert_false(m.planned);
}

/* A download that is told to stop and then to go on goes on and loses nothing. */
static void minds_are_changed(void **state)
{
    (void)state;
    struct qn_pull_machine m = {.state = FE, .planned = true};
    play(&m, QN_PULL_CANCEL, CG, X | S);
    play(&m, QN_PULL_AGAIN, YI, X | S);
    play(&m, QN_PULL_STOPPED, WA, S);
    play(&m, QN_PULL_PAUSE, PD, S | T);
    play(&m, QN_PULL_CANCEL, CA, D | S | T);
}

static void words_for_clients_and_the_catalog(void **state)
{
    (void)state;
    static const char *const words[QN_PULL_STATE_COUNT] = {
        [RS] = "downloading", [WA] = "downloading", [FE] = "downloading", [FI] = "downloading",
        [PG] = "paused",      [YI] = "downloading", [CG] = "cancelled",   [RM] = "cancelled",
        [PD] = "paused",      [CO] = "completed",   [CA] = "cancelled",   [FA] = "error",
        [GO] = "cancelled"};
    for (int s = 0; s < QN_PULL_STATE_COUNT; s++) {
        assert_string_equal(qn_pull_status((enum qn_pull_state)s), words[s]);
        assert_int_equal(qn_pull_is_at_work((enum qn_pull_state)s),
                         s != WA && s != PD && s != CO && s != CA && s != FA && s != GO);
        assert_int_equal(qn_pull_is_over((enum qn_pull_state)s),
                         s == CO || s == CA || s == FA || s == GO);
    }
    assert_int_equal(qn_pull_status_parse("downloading"), WA);
    assert_int_equal(qn_pull_status_parse("paused"), PD);
    assert_int_equal(qn_pull_status_parse("completed"), CO);
    assert_int_equal(qn_pull_status_parse("cancelled"), CA);
    assert_int_equal(qn_pull_status_parse("error"), FA);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cell),
        cmocka_unit_test(a_job_from_end_to_end),
        cmocka_unit_test(plans_are_kept),
        cmocka_unit_test(minds_are_changed),
        cmocka_unit_test(words_for_clients_and_the_catalog),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
