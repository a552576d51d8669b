/* router/models/child_process.c, spawn.c and upstream.c with real processes: this program starts
 * itself as the child. The model's name says how the child behaves; names that begin with "raw-"
 * speak the contract by hand, to break it.
 *
 * No time that passes is judged: what must not be waited for would take longer than HANG_MS, and
 * the router's clock (__wrap_qn_now_ms, by the linker in the place of qn_now_ms) may jump. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"
#include "child/serve.h"
#include "contract/control.h"
#include "models/child_process.h"
#include "models/upstream.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    HANG_MS = 120000, /* a test that takes so long hangs */
    FOR_EVER_MS = 1000 * HANG_MS,
    NOTES_FD = 500 /* in the test's process, where its child finds it in /proc */
};

/* Memory that the test has in common with its children. */
struct notes {
    volatile bool loaded; /* set by the test: a "slow" load may end */
};
static struct notes *notes;

static struct notes *map_notes(int fd)
{
    void *p = mmap(NULL, sizeof *notes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return p == MAP_FAILED ? NULL : p;
}

/* ---- the child: an honest backend ---- */

struct tiny {
    const struct qn_job *job;
    struct qn_sink *out;
    int n;
};

static const char *mode;

static qn_err tiny_load(const struct qn_load *opts, struct qn_progress *p, void **self,
                        struct qn_ready *ready, struct qn_error *e)
{
    if (qn_str_eq(mode, "crash-loading")) {
        fprintf(stderr, "last words of a child\n");
        raise(SIGKILL);
    }
    if (qn_str_eq(mode, "refuse"))
        return qn_fail(e, QN_EFORMAT, "%s is no model", opts->files[0]);
    if (qn_str_eq(mode, "fail"))
        return qn_fail(e, QN_EIO, "the disk is tired");
    for (int i = 0; qn_str_eq(mode, "slow") && !notes->loaded && !qn_progress_cancelled(p); i++) {
        qn_progress_set(p, i / (i + 100.0));
        usleep(5000);
    }
    if (qn_str_eq(mode, "flood"))
        for (int i = 0; i < 20000; i++)
            fprintf(stderr, "line %d\n", i);
    *self = calloc(1, sizeof(struct tiny));
    *ready = (struct qn_ready){.context = 128, .memory_bytes = 1000, .slots = 1};
    return QN_OK;
}

static qn_err tiny_start(void *self, const struct qn_job *job, void *prepared, struct qn_sink *out,
                         struct qn_error *e)
{
    (void)prepared;
    struct tiny *t = self;
    if (t->job)
        return QN_EBUSY;
    if (qn_str_eq(job->complete.prompt, "refuse"))
        return qn_fail_param(e, QN_EINVAL, "prompt", "not this one");
    *t = (struct tiny){job, out, 0};
    return QN_OK;
}

static void tiny_say(struct tiny *t, const char *text, const char *logprobs)
{
    struct qn_event ev;
    qn_event_init(&ev, QN_EV_TEXT);
    ev.text = text;
    ev.logprobs = logprobs;
    qn_sink_send(t->out, &ev);
}

static void tiny_end(struct tiny *t)
{
    struct qn_event ev;
    qn_event_init(&ev, QN_EV_DONE);
    ev.finish = QN_FINISH_STOP;
    qn_sink_send(t->out, &ev);
    qn_event_init(&ev, QN_EV_USAGE);
    ev.usage.output = t->n;
    qn_sink_send(t->out, &ev);
    qn_event_init(&ev, QN_EV_END);
    qn_sink_send(t->out, &ev);
    t->job = NULL;
}

static bool tiny_step(void *self)
{
    struct tiny *t = self;
    if (!t->job || qn_sink_full(t->out))
        return false;
    const char *prompt = t->job->complete.prompt;
    static char big[64 * 1024];
    t->n++;
    if (qn_str_eq(prompt, "big")) {
        memset(big, 'b', sizeof big - 1);
        tiny_say(t, big, NULL);
        if (t->n == 200)
            tiny_end(t);
        return true;
    }
    if (qn_str_eq(prompt, "for-ever"))
        usleep(10000);
    tiny_say(t, "word ", NULL);
    if (qn_str_eq(prompt, "hang") && t->n == 2)
        for (;;)
            pause();
    if (qn_str_eq(prompt, "garbage") && t->n == 2)
        tiny_say(t, "x", "[not json");
    if (qn_str_eq(prompt, "words") && t->n == 3)
        tiny_end(t);
    return true;
}

static void tiny_cancel(void *self, const struct qn_job *job)
{
    struct tiny *t = self;
    if (t->job == job)
        t->job = NULL;
}

static void tiny_unload(void *self)
{
    free(self);
}

static const struct qn_backend tiny = {.type = "llm",
                                       .load = tiny_load,
                                       .start = tiny_start,
                                       .step = tiny_step,
                                       .cancel = tiny_cancel,
                                       .unload = tiny_unload};

/* ---- the child: rude ones ---- */

static void raw_say(const char *text)
{
    (void)!write(QN_FD_CONTROL, text, strlen(text));
}

/* The whole request is read first: closing a socket with bytes unread would destroy the answer. */
static void raw_answer(int fd, const char *text)
{
    char rq[65536];
    size_t n = 0, want = sizeof rq - 1;
    while (n < want) {
        ssize_t got = recv(fd, rq + n, want - n, 0);
        if (got <= 0)
            break;
        n += (size_t)got;
        rq[n] = 0;
        const char *body = strstr(rq, "\r\n\r\n"), *length = strstr(rq, "Content-Length: ");
        if (body && length)
            want = (size_t)(body + 4 - rq) + (size_t)atol(length + strlen("Content-Length: "));
    }
    (void)!send(fd, text, strlen(text), MSG_NOSIGNAL);
    close(fd);
}

static int raw_child(void)
{
    char line[65536];
    (void)!read(QN_FD_CONTROL, line, sizeof line);
    /* Before it is ready, which is when the test goes on. */
    if (qn_str_eq(mode, "raw-deaf"))
        signal(SIGTERM, SIG_IGN);
    if (qn_str_eq(mode, "raw-family") && fork() == 0)
        for (;;)
            pause(); /* a grandchild in the same group */
    if (qn_str_eq(mode, "raw-garbage")) {
        raw_say("what?\n");
    } else if (qn_str_eq(mode, "raw-unknown")) {
        raw_say("{\"msg\":\"ping\",\"seq\":1}\n");
    } else if (qn_str_eq(mode, "raw-endless")) {
        memset(line, 'x', sizeof line);
        for (int i = 0; i < 20; i++)
            (void)!write(QN_FD_CONTROL, line, sizeof line);
    } else if (qn_str_eq(mode, "raw-eof")) {
        close(QN_FD_CONTROL);
    } else if (qn_str_eq(mode, "raw-flood")) { /* and hangs up while the pipe is full */
        memset(line, '\n', sizeof line);
        for (int i = 0; i < 16; i++)
            (void)!write(STDERR_FILENO, line, sizeof line);
        close(STDOUT_FILENO);
        close(STDERR_FILENO);
        raw_say("{\"msg\":\"ready\",\"context\":8,\"memory_bytes\":1,\"slots\":1,\"threads\":1}\n");
    } else if (qn_str_eq(mode, "raw-quit")) {
        return 7;
    } else if (qn_str_eq(mode, "raw-still")) { /* answers pings, but never gets on */
        for (;;) {
            ssize_t n = read(QN_FD_CONTROL, line, sizeof line - 1);
            if (n <= 0)
                return 0;
            raw_say("{\"msg\":\"pong\",\"seq\":1,\"jobs\":0,\"step_age_ms\":0}\n");
        }
    } else {
        raw_say("{\"msg\":\"ready\",\"context\":8,\"memory_bytes\":1,\"slots\":1,\"threads\":1}\n");
    }
    const char *answer = NULL;
    if (qn_str_eq(mode, "raw-frames"))
        answer = "HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n{\"ev\":\"text\n\n";
    if (qn_str_eq(mode, "raw-early"))
        answer = "HTTP/1.1 200 OK\r\nContent-Length: 25\r\n\r\n{\"ev\":\"text\",\"text\":\"a\"} \n";
    if (qn_str_eq(mode, "raw-500"))
        answer = "HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\nno";
    if (qn_str_eq(mode, "raw-break"))
        answer = "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{\"ev\":\"text\",\"text\":\"a\"} \n";
    while (answer) {
        int fd = accept(QN_FD_LISTEN, NULL, NULL);
        if (fd >= 0)
            raw_answer(fd, answer);
        else
            usleep(2000); /* the socket comes non-blocking */
    }
    for (;;)
        pause();
}

/* ---- the router's side ---- */

static int64_t skipped_ms;

int64_t __wrap_qn_now_ms(void);
int64_t __wrap_qn_now_ms(void)
{
    return qn_now_us() / 1000 + skipped_ms;
}

static struct qn_loop *loop;
static struct qn_http_client *client;
static struct qn_child *child;
static char self_path[4096];
static int told_progress, told_jobs;
static enum qn_inst_state told[32];
static int n_told;

static void on_state(void *ctx, struct qn_child *c)
{
    (void)ctx;
    if (n_told < 32)
        told[n_told++] = qn_child_status(c).state;
    qn_loop_stop(loop);
}

static void on_progress(void *ctx, struct qn_child *c)
{
    (void)ctx;
    (void)c;
    told_progress++;
}

static void on_jobs(void *ctx, struct qn_child *c)
{
    (void)ctx;
    (void)c;
    told_jobs++;
}

static void make(const char *name)
{
    static const char *const files[] = {"/models/a.gguf"};
    const struct qn_child_events ev = {on_state, on_progress, on_jobs};
    const struct qn_child_spec spec = {.type = "llm",
                                       .program = self_path,
                                       .name = name,
                                       .files = files,
                                       .n_files = 1,
                                       .threads = 2};
    assert_int_equal(qn_child_new(loop, client, &spec, &ev, NULL, &child, NULL), QN_OK);
}

static void give_up(void *ctx)
{
    (void)ctx;
    fprintf(stderr, "the child is still %s\n", qn_inst_state_name(qn_child_status(child).state));
    abort();
}

static void until(enum qn_inst_state s)
{
    struct qn_timer *t = qn_timer_start(loop, HANG_MS, 0, give_up, NULL);
    while (qn_child_status(child).state != s)
        qn_loop_run(loop);
    qn_timer_stop(t);
}

static void stop_loop(void *ctx)
{
    (void)ctx;
    qn_loop_stop(loop);
}

static void run_for(int64_t ms)
{
    int64_t end = qn_now_ms() + ms;
    while (qn_now_ms() < end) {
        struct qn_timer *t = qn_timer_start(loop, end - qn_now_ms(), 0, stop_loop, NULL);
        qn_loop_run(loop);
        qn_timer_stop(t);
    }
}

static void until_progress(int n)
{
    struct qn_timer *t = qn_timer_start(loop, HANG_MS, 0, give_up, NULL);
    while (told_progress < n)
        run_for(5);
    qn_timer_stop(t);
}

static int count_descriptors(void)
{
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

static int descriptors_before;

static int set_up(void **state)
{
    (void)state;
    n_told = told_progress = told_jobs = 0;
    child = NULL;
    memset(notes, 0, sizeof *notes);
    assert_int_equal(qn_loop_new(&loop, NULL), QN_OK);
    descriptors_before = count_descriptors();
    qn_http_client_new(loop, &client);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    pid_t pid = child ? qn_child_status(child).pid : 0;
    qn_child_free(child);
    if (pid)
        assert_int_equal(kill(-pid, 0), -1); /* no process of the group is left */
    qn_http_client_free(client);             /* it has descriptors of its own since the first job */
    assert_int_equal(count_descriptors(), descriptors_before);
    qn_loop_free(loop);
    return 0;
}

/* ---- jobs ---- */

struct answer {
    struct qn_upstream *up;
    struct qn_buf text;
    int events, terminals;
    struct qn_event last;
    struct qn_error error;
    bool pause_at_first;
};

static void on_event(void *ctx, const struct qn_event *ev)
{
    struct answer *a = ctx;
    assert_int_equal(a->terminals, 0);
    a->events++;
    if (ev->kind == QN_EV_TEXT)
        qn_buf_str(&a->text, ev->text);
    if (ev->kind == QN_EV_END || ev->kind == QN_EV_ERROR) {
        a->terminals++;
        a->error = ev->error;
        a->last = *ev;
        a->up = NULL;
        qn_loop_stop(loop);
    }
    if (a->pause_at_first) {
        a->pause_at_first = false;
        qn_upstream_pause(a->up, true);
        qn_loop_stop(loop);
    }
}

static void ask(struct answer *a, const char *prompt)
{
    struct qn_job job;
    struct qn_error e = {0};
    qn_job_init(&job);
    job.task = QN_TASK_COMPLETE;
    job.id = "r1";
    job.complete.prompt = prompt;
    job.sampling.max_tokens = 3;
    qn_buf_init(&a->text, 64 * 1024 * 1024);
    qn_err err = qn_upstream_start(child, &job, on_event, a, &a->up, &e);
    if (err)
        print_error("%s\n", e.message);
    assert_int_equal(err, QN_OK);
    assert_int_equal(a->events, 0);
}

static void finish(struct answer *a)
{
    struct qn_timer *t = qn_timer_start(loop, HANG_MS, 0, give_up, NULL);
    while (!a->terminals)
        qn_loop_run(loop);
    qn_timer_stop(t);
}

/* Until the child has begun to answer. */
static void until_events(const struct answer *a, int n)
{
    struct qn_timer *t = qn_timer_start(loop, HANG_MS, 0, give_up, NULL);
    while (a->events < n)
        run_for(5);
    qn_timer_stop(t);
}

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

static void ready(const char *name)
{
    make(name);
    qn_child_load(child);
    until(QN_INST_READY);
}

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
    if (argc == 3 && strcmp(argv[1], "--name") == 0) {
        char path[64];
        snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getppid(), NOTES_FD);
        int fd = open(path, O_RDWR | O_CLOEXEC);
        notes = map_notes(fd);
        close(fd);
        if (!notes)
            return 1;
        mode = argv[2];
        return strncmp(mode, "raw-", 4) == 0 ? raw_child() : qn_child_main(argc, argv, &tiny);
    }
    int fd = memfd_create("notes", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, sizeof *notes) || dup3(fd, NOTES_FD, O_CLOEXEC) < 0 || close(fd) ||
        !(notes = map_notes(NOTES_FD)))
        return 1;
    if (readlink("/proc/self/exe", self_path, sizeof self_path - 1) < 0)
        return 1;
    qn_log_set_level(getenv("VERBOSE") ? QN_LOG_DEBUG : QN_LOG_ERROR);
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(load_run_stop),
        T(the_child_sees_a_clean_world),
        T(progress_is_told),
        T(a_stop_breaks_loading_off),
        T(a_refusal_is_final_and_keeps_its_words),
        T(crashes_while_loading_back_off_then_fail),
        T(a_refusal_leaves_its_exit_status),
        T(a_hanging_load_is_killed_by_the_server),
        T(a_missing_program_is_final),
        T(children_that_break_the_contract),
        T(no_pong_kills),
        T(a_deaf_child_is_killed_in_the_end),
        T(grandchildren_go_with_the_group),
        T(a_flooded_log_is_cut),
        T(a_flood_that_ends_leaves_nothing_behind),
        T(a_job_is_refused_in_the_childs_words),
        T(a_crash_mid_answer_says_so),
        T(a_step_that_hangs_is_killed),
        T(an_hour_in_which_nothing_happened),
        T(garbage_events_are_errors),
        T(a_paused_job_stands_still_and_is_no_stall),
        T(a_cancelled_job_frees_its_place),
        T(a_stop_lets_the_running_job_finish),
        T(a_job_cut_off_by_the_grace_gets_an_error),
        T(freeing_a_child_ends_its_jobs),
        T(many_lives_leak_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
