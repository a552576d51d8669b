/* router/models/upstream.c with real processes (child_world.h): how a job is refused, ends, is
 * paused, cancelled or cut off, and what is reported when its process crashes or hangs. */
#include "child_world.h"

static void a_job_is_refused_in_the_childs_words(void **state)
{
    (void)state;
    ready("good");
    struct answer a = {0};
    ask(&a, "refuse");
    finish(&a);
    assert_int_equal(a.error.code, QN_EINVAL);
    assert_string_equal(a.error.param, "prompt");
    qn_buf_deinit(&a.text);
}

static void a_crash_mid_answer_says_so(void **state)
{
    (void)state;
    make("good");
    /* The answer ends with the process: waiting for a time-out would last for ever. */
    qn_child_set_limits(child, &(struct qn_child_limits){.last_words_ms = FOR_EVER_MS});
    qn_child_load(child);
    until(QN_INST_READY);
    struct answer a = {0};
    ask(&a, "hang");
    until_events(&a, 2);
    kill(qn_child_status(child).pid, SIGKILL);
    finish(&a);
    assert_int_equal(a.error.code, QN_ECHILD);
    assert_non_null(strstr(a.error.message, "killed by signal 9"));
    assert_string_equal(qn_buf_cstr(&a.text), "word word "); /* what came before is not lost */
    qn_buf_deinit(&a.text);
    until(QN_INST_STOPPED);
    struct qn_job job;
    struct qn_upstream *up;
    struct qn_error e;
    qn_job_init(&job);
    job.task = QN_TASK_COMPLETE;
    assert_int_equal(qn_upstream_start(child, &job, on_event, &a, &up, &e), QN_EBUSY);
    qn_child_load(child); /* and it comes back */
    until(QN_INST_READY);
}

static void a_step_that_hangs_is_killed(void **state)
{
    (void)state;
    make("good");
    qn_child_set_limits(child, &(struct qn_child_limits){.ping_ms = 50, .stall_ms = 300});
    qn_child_load(child);
    until(QN_INST_READY);
    struct answer a = {0};
    ask(&a, "hang");
    finish(&a);
    assert_non_null(strstr(a.error.message, "no step"));
    qn_buf_deinit(&a.text);
}

/* The machine, or the server alone, stands still for an hour: no child is killed for it. */
static void an_hour_in_which_nothing_happened(void **state)
{
    (void)state;
    enum { HOUR_MS = 3600 * 1000 };
    make("slow");
    qn_child_set_limits(child, &(struct qn_child_limits){.ping_ms = 20});
    qn_child_load(child);
    until_progress(1);
    skipped_ms += HOUR_MS;
    until_progress(told_progress + 3);
    assert_int_equal(qn_child_status(child).state, QN_INST_LOADING);
    notes->loaded = true;
    until(QN_INST_READY);
    struct answer a = {0};
    ask(&a, "for-ever");
    until_events(&a, 1);
    skipped_ms += HOUR_MS;
    until_events(&a, a.events + 20);
    assert_int_equal(a.terminals, 0);
    assert_int_equal(qn_child_status(child).state, QN_INST_READY);
    qn_upstream_cancel(a.up);
    qn_buf_deinit(&a.text);
}

static void garbage_events_are_errors(void **state)
{
    (void)state;
    static const struct {
        const char *name, *prompt, *words;
    } rows[] = {
        {"good", "garbage", "broken frame"},
        {"raw-frames", "x", "broken frame"},
        {"raw-early", "x", "too early"},
        {"raw-500", "x", "status 500"},
        {"raw-break", "x", "connection to the model's process broke"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ready(rows[i].name);
        struct answer a = {0};
        ask(&a, rows[i].prompt);
        finish(&a);
        if (!strstr(a.error.message, rows[i].words))
            print_error("%s: %s\n", rows[i].name, a.error.message);
        assert_non_null(strstr(a.error.message, rows[i].words));
        assert_int_equal(a.error.code, QN_ECHILD);
        assert_int_equal(qn_child_status(child).jobs, 0);
        qn_buf_deinit(&a.text);
        qn_child_free(child);
        child = NULL;
    }
}

static void a_paused_job_stands_still_and_is_no_stall(void **state)
{
    (void)state;
    make("good");
    qn_child_set_limits(child, &(struct qn_child_limits){.ping_ms = 20});
    qn_child_load(child);
    until(QN_INST_READY);
    struct answer a = {.pause_at_first = true};
    ask(&a, "big");
    while (a.pause_at_first)
        qn_loop_run(loop);
    int seen = a.events;
    /* The shortest patience, but only while it is paused. */
    qn_child_set_limits(child, &(struct qn_child_limits){.stall_ms = 1});
    run_for(600);
    assert_int_equal(a.events, seen);
    assert_int_equal(qn_child_status(child).state, QN_INST_READY);
    qn_child_set_limits(child, &(struct qn_child_limits){.stall_ms = FOR_EVER_MS});
    qn_upstream_pause(a.up, false);
    assert_int_equal(a.events, seen); /* not from within the call */
    finish(&a);
    assert_int_equal(a.last.kind, QN_EV_END);
    assert_int_equal(a.text.len, 200 * (64 * 1024 - 1));
    qn_buf_deinit(&a.text);
}

static void a_cancelled_job_frees_its_place(void **state)
{
    (void)state;
    ready("good");
    struct answer a = {0}, b = {0};
    ask(&a, "for-ever");
    until_events(&a, 3);
    ask(&b, "words"); /* one slot only: waits in the child */
    run_for(50);
    assert_int_equal(b.events, 0);
    qn_upstream_cancel(a.up);
    assert_int_equal(qn_child_status(child).jobs, 1);
    finish(&b);
    assert_int_equal(b.last.kind, QN_EV_END);
    assert_int_equal(a.terminals, 0);
    qn_buf_deinit(&a.text);
    qn_buf_deinit(&b.text);
}

static void a_stop_lets_the_running_job_finish(void **state)
{
    (void)state;
    ready("good");
    struct answer a = {0};
    ask(&a, "big");
    until_events(&a, 1); /* what it has not heard of yet it would refuse */
    qn_child_stop(child, FOR_EVER_MS);
    assert_int_equal(qn_child_status(child).state, QN_INST_DRAINING);
    finish(&a);
    assert_int_equal(a.last.kind, QN_EV_END);
    until(QN_INST_STOPPED);
    qn_buf_deinit(&a.text);
}

static void a_job_cut_off_by_the_grace_gets_an_error(void **state)
{
    (void)state;
    ready("good");
    struct answer a = {0};
    ask(&a, "for-ever");
    until_events(&a, 1);
    qn_child_stop(child, 200);
    finish(&a);
    assert_int_equal(a.last.kind, QN_EV_ERROR);
    until(QN_INST_STOPPED);
    qn_buf_deinit(&a.text);
}

static void freeing_a_child_ends_its_jobs(void **state)
{
    (void)state;
    ready("good");
    struct answer a = {0};
    ask(&a, "for-ever");
    until_events(&a, 1);
    qn_child_free(child);
    child = NULL;
    assert_int_equal(a.terminals, 0); /* later, by the loop */
    finish(&a);
    assert_int_equal(a.error.code, QN_ECHILD);
    qn_buf_deinit(&a.text);
}

int main(int argc, char **argv)
{
    int status = child_world_begin(argc, argv);
    if (status >= 0)
        return status;
    const struct CMUnitTest tests[] = {
        CHILD_TEST(a_job_is_refused_in_the_childs_words),
        CHILD_TEST(a_crash_mid_answer_says_so),
        CHILD_TEST(a_step_that_hangs_is_killed),
        CHILD_TEST(an_hour_in_which_nothing_happened),
        CHILD_TEST(garbage_events_are_errors),
        CHILD_TEST(a_paused_job_stands_still_and_is_no_stall),
        CHILD_TEST(a_cancelled_job_frees_its_place),
        CHILD_TEST(a_stop_lets_the_running_job_finish),
        CHILD_TEST(a_job_cut_off_by_the_grace_gets_an_error),
        CHILD_TEST(freeing_a_child_ends_its_jobs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
