/* router/models/child_process.c and spawn.c with real processes: loading, stopping, crashes, limits
 * and logs. The processes are those of child_world.h; jobs are tested in test_upstream.c. */
#include "child_world.h"

static void load_run_stop(void **state)
{
    (void)state;
    make("good");
    assert_int_equal(qn_child_status(child).state, QN_INST_STOPPED);
    qn_child_load(child);
    assert_int_equal(n_told, 0); /* not from within the call */
    until(QN_INST_READY);
    struct qn_child_status s = qn_child_status(child);
    assert_int_equal(s.context, 128);
    assert_int_equal(s.memory_bytes, 1000);
    assert_int_equal(s.slots, 1);
    assert_int_equal(s.threads, 2);
    assert_true(s.pid > 0);
    assert_int_equal(getpgid(s.pid), s.pid);
    assert_int_equal(strncmp(s.url, "http://127.0.0.1:", 17), 0);
    for (int i = 0; i < 3; i++) {
        struct answer a = {0};
        ask(&a, "words");
        assert_int_equal(qn_child_status(child).jobs, 1);
        finish(&a);
        assert_int_equal(a.last.kind, QN_EV_END);
        assert_string_equal(qn_buf_cstr(&a.text), "word word word ");
        assert_int_equal(qn_child_status(child).jobs, 0);
        qn_buf_deinit(&a.text);
    }
    assert_true(told_jobs > 0);
    qn_child_stop(child, 1000);
    until(QN_INST_STOPPED);
    run_for(5);
    assert_int_equal(qn_child_status(child).error->code, QN_OK);
    assert_int_equal(qn_child_status(child).pid, 0);
    assert_string_equal(qn_child_status(child).url, "");
    assert_int_equal(told[n_told - 1], QN_INST_STOPPED);
}

static void the_child_sees_a_clean_world(void **state)
{
    (void)state;
    char path[64], text[8192] = "";
    setenv("QUINCE_API_KEY", "secret", 1);
    make("good");
    qn_child_load(child);
    until(QN_INST_READY);
    pid_t pid = qn_child_status(child).pid;
    snprintf(path, sizeof path, "/proc/%d/environ", pid);
    FILE *f = fopen(path, "r");
    size_t n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    for (size_t i = 0; i < n; i++)
        if (!text[i])
            text[i] = '\n';
    assert_null(strstr(text, "QUINCE_API_KEY"));
    assert_non_null(strstr(text, "PATH="));
    snprintf(path, sizeof path, "/proc/%d/cmdline", pid);
    f = fopen(path, "r");
    n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    assert_int_equal(n, strlen(self_path) + 1 + sizeof "--name" + sizeof "good");
}

static void progress_is_told(void **state)
{
    (void)state;
    make("slow");
    qn_child_load(child);
    int64_t began = qn_now_ms();
    until_progress(4);
    int64_t lasted = qn_now_ms() - began;
    assert_in_range(qn_child_status(child).load_ms, lasted, FOR_EVER_MS);
    notes->loaded = true;
    until(QN_INST_READY);
    assert_in_range(qn_child_status(child).load_ms, lasted, FOR_EVER_MS);
}

static void a_stop_breaks_loading_off(void **state)
{
    (void)state;
    make("slow");
    qn_child_load(child);
    until_progress(1);
    qn_child_stop(child, FOR_EVER_MS);
    until(QN_INST_STOPPED); /* by itself: nothing else would end this load */
    assert_int_equal(qn_child_status(child).error->code, QN_OK);
}

static void a_refusal_is_final_and_keeps_its_words(void **state)
{
    (void)state;
    make("refuse");
    qn_child_load(child);
    until(QN_INST_FAILED);
    assert_int_equal(qn_child_status(child).error->code, QN_EFORMAT);
    assert_string_equal(qn_child_status(child).error->message, "/models/a.gguf is no model");
}

static void crashes_while_loading_back_off_then_fail(void **state)
{
    (void)state;
    make("crash-loading");
    int64_t began = qn_now_ms();
    qn_child_load(child);
    until(QN_INST_FAILED);
    int64_t took = qn_now_ms() - began;
    assert_true(took >= 1500); /* 0.5 s and 1 s between the three */
    const struct qn_error *e = qn_child_status(child).error;
    assert_int_equal(e->code, QN_ECHILD);
    assert_non_null(strstr(e->message, "signal 9"));
    struct qn_child_status s = qn_child_status(child);
    assert_non_null(s.crash_report);
    assert_int_equal(s.crash_report->signal, SIGKILL);
    assert_int_equal(s.crash_report->exit_code, -1);
    assert_false(s.crash_report->by_us);
    assert_non_null(strstr(s.crash_report->log, "last words of a child"));
    assert_true(qn_crash_report_of(s.crash_report, e));
    assert_int_equal(s.crashes, 3);
    assert_true(s.crash_loop);
    qn_child_stop(child, 0); /* asked for: nothing to tell any more */
    assert_null(qn_child_status(child).crash_report);
}

/* A child that says why it cannot load leaves by itself, with its own status. */
static void a_refusal_leaves_its_exit_status(void **state)
{
    (void)state;
    make("refuse");
    qn_child_load(child);
    until(QN_INST_FAILED);
    struct qn_child_status s = qn_child_status(child);
    assert_int_equal(s.error->code, QN_EFORMAT);
    assert_non_null(s.crash_report);
    assert_int_equal(s.crash_report->exit_code, 1);
    assert_int_equal(s.crash_report->signal, 0);
    assert_non_null(strstr(s.crash_report->log, "is no model"));
    assert_int_equal(s.crashes, 0);
}

/* Killed for its silence: the server says that the signal was its own. */
static void a_hanging_load_is_killed_by_the_server(void **state)
{
    (void)state;
    make("raw-still");
    qn_child_set_limits(child, &(struct qn_child_limits){.ping_ms = 20, .progress_ms = 100});
    int64_t began = qn_now_ms();
    qn_child_load(child);
    until(QN_INST_BACKOFF);
    struct qn_child_status s = qn_child_status(child);
    assert_int_equal(s.crash_report->signal, SIGKILL);
    assert_true(s.crash_report->by_us);
    assert_non_null(strstr(s.crash_report->error.message, "no progress"));
    assert_true(s.restart_ms >= QN_INST_BACKOFF_FIRST_MS - (qn_now_ms() - began));
    assert_true(s.restart_ms <= QN_INST_BACKOFF_FIRST_MS);
    assert_false(s.crash_loop);
}

static void a_missing_program_is_final(void **state)
{
    (void)state;
    static const char *const files[] = {"/a"};
    const struct qn_child_events ev = {on_state, NULL, NULL};
    const struct qn_child_spec spec = {.type = "llm",
                                       .program = "/nonexistent/quince-llm",
                                       .name = "x",
                                       .files = files,
                                       .n_files = 1};
    assert_int_equal(qn_child_new(loop, client, &spec, &ev, NULL, &child, NULL), QN_OK);
    qn_child_load(child);
    until(QN_INST_FAILED);
    run_for(5);
    assert_int_equal(qn_child_status(child).error->code, QN_ENOTFOUND);
    assert_non_null(strstr(qn_child_status(child).error->message, "/nonexistent/quince-llm"));
}

static void expect_failed_loads(const char *name, const struct qn_child_limits *limits,
                                const char *words)
{
    make(name);
    if (limits)
        qn_child_set_limits(child, limits);
    qn_child_load(child);
    until(QN_INST_BACKOFF);
    if (!strstr(qn_child_status(child).error->message, words))
        print_error("%s: %s\n", name, qn_child_status(child).error->message);
    assert_non_null(strstr(qn_child_status(child).error->message, words));
    assert_int_equal(qn_child_status(child).error->code, QN_ECHILD);
    qn_child_free(child);
    child = NULL;
}

static void children_that_break_the_contract(void **state)
{
    (void)state;
    const struct qn_child_limits still = {.ping_ms = 20, .progress_ms = 200};
    expect_failed_loads("raw-garbage", NULL, "broke the control protocol");
    expect_failed_loads("raw-unknown", NULL, "only the server may send");
    expect_failed_loads("raw-endless", NULL, "without an end");
    expect_failed_loads("raw-eof", NULL, "closed its control socket");
    expect_failed_loads("raw-quit", NULL, "exited with status 7");
    expect_failed_loads("raw-still", &still, "no progress");
}

static void no_pong_kills(void **state)
{
    (void)state;
    make("raw-silent");
    qn_child_set_limits(child, &(struct qn_child_limits){.ping_ms = 50});
    qn_child_load(child);
    until(QN_INST_READY); /* however long a process takes to start */
    qn_child_set_limits(child, &(struct qn_child_limits){.pong_ms = 200});
    until(QN_INST_STOPPED); /* no lease waits: no restart */
    assert_non_null(strstr(qn_child_status(child).error->message, "did not respond"));
    qn_child_load(child);
    assert_int_equal(qn_child_status(child).state, QN_INST_BACKOFF); /* not at once */
}

static void a_deaf_child_is_killed_in_the_end(void **state)
{
    (void)state;
    make("raw-deaf");
    qn_child_load(child);
    until(QN_INST_READY);
    int64_t began = qn_now_ms();
    qn_child_stop(child, 100);
    until(QN_INST_STOPPED); /* it would stay for ever */
    assert_true(qn_now_ms() - began >= 2000);
}

static void grandchildren_go_with_the_group(void **state)
{
    (void)state;
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    make("raw-family");
    qn_child_load(child);
    until(QN_INST_READY);
    pid_t group = qn_child_status(child).pid;
    assert_int_equal(kill(group, SIGKILL), 0); /* the leader alone */
    until(QN_INST_STOPPED);
    /* We are its parent now: it can be waited for, so it has ended. */
    int status = 0;
    assert_true(waitpid(-group, &status, 0) > 0);
    assert_true(WIFSIGNALED(status));
}

static void a_flooded_log_is_cut(void **state)
{
    (void)state;
    make("flood");
    qn_child_load(child);
    until(QN_INST_READY);
    kill(qn_child_status(child).pid, SIGKILL);
    until(QN_INST_STOPPED);
    const struct qn_crash_report *left = qn_child_status(child).crash_report;
    int lines = 0;
    for (const char *p = left->log; *p; p++)
        lines += *p == '\n';
    assert_int_equal(lines, 20);
    assert_int_equal(left->signal, SIGKILL);
    assert_non_null(strstr(left->log, "line 19999"));
}

/* The pipe rests after a lot was read, and its end comes in the middle of that: what is left has to
 * be read without a second rest, whose timer would be lost (the leak sanitizer sees that). */
static void a_flood_that_ends_leaves_nothing_behind(void **state)
{
    (void)state;
    make("raw-flood");
    qn_child_load(child);
    until(QN_INST_READY);
    run_for(50);
    assert_int_equal(qn_child_status(child).state, QN_INST_READY);
}

static void many_lives_leak_nothing(void **state)
{
    (void)state;
    int before = 0;
    make("good");
    for (int i = 0; i < 20; i++) {
        if (i == 2) { /* the first job has made the client's own descriptors */
            run_for(5);
            before = count_descriptors();
        }
        qn_child_load(child);
        until(QN_INST_READY);
        if (i % 2) {
            struct answer a = {0};
            ask(&a, "for-ever");
            run_for(2);
            qn_upstream_cancel(a.up);
            qn_buf_deinit(&a.text);
        }
        qn_child_stop(child, 1000);
        until(QN_INST_STOPPED);
    }
    while (count_descriptors() > before)
        run_for(5);
}

int main(int argc, char **argv)
{
    int status = child_world_begin(argc, argv);
    if (status >= 0)
        return status;
    const struct CMUnitTest tests[] = {
        CHILD_TEST(load_run_stop),
        CHILD_TEST(the_child_sees_a_clean_world),
        CHILD_TEST(progress_is_told),
        CHILD_TEST(a_stop_breaks_loading_off),
        CHILD_TEST(a_refusal_is_final_and_keeps_its_words),
        CHILD_TEST(crashes_while_loading_back_off_then_fail),
        CHILD_TEST(a_refusal_leaves_its_exit_status),
        CHILD_TEST(a_hanging_load_is_killed_by_the_server),
        CHILD_TEST(a_missing_program_is_final),
        CHILD_TEST(children_that_break_the_contract),
        CHILD_TEST(no_pong_kills),
        CHILD_TEST(a_deaf_child_is_killed_in_the_end),
        CHILD_TEST(grandchildren_go_with_the_group),
        CHILD_TEST(a_flooded_log_is_cut),
        CHILD_TEST(a_flood_that_ends_leaves_nothing_behind),
        CHILD_TEST(many_lives_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
