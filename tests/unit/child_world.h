/* A model's process and the router's side of it, for the tests of router/models/child_process.c and
 * upstream.c: the test's program starts itself as the child. The model's name says how the child
 * behaves; names that begin with "raw-" speak the contract by hand, to break it.
 *
 * No time that passes is judged: what must not be waited for would take longer than HANG_MS, and
 * the router's clock (__wrap_qn_now_ms, by the linker in the place of qn_now_ms) may jump. */
#ifndef QN_TEST_CHILD_WORLD_H
#define QN_TEST_CHILD_WORLD_H

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

static inline struct notes *map_notes(int fd)
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

static const char *mode; /* the model's name */

static inline qn_err tiny_load(const struct qn_load *opts, struct qn_progress *p, void **self,
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

static inline qn_err tiny_start(void *self, const struct qn_job *job, void *prepared,
                                struct qn_sink *out, struct qn_error *e)
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

static inline void tiny_say(struct tiny *t, const char *text, const char *logprobs)
{
    struct qn_event ev;
    qn_event_init(&ev, QN_EV_TEXT);
    ev.text = text;
    ev.logprobs = logprobs;
    qn_sink_send(t->out, &ev);
}

static inline void tiny_end(struct tiny *t)
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

static inline bool tiny_step(void *self)
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

static inline void tiny_cancel(void *self, const struct qn_job *job)
{
    struct tiny *t = self;
    if (t->job == job)
        t->job = NULL;
}

static inline void tiny_unload(void *self)
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

static inline void raw_say(const char *text)
{
    (void)!write(QN_FD_CONTROL, text, strlen(text));
}

/* The whole request is read first: closing a socket with bytes unread would destroy the answer. */
static inline void raw_answer(int fd, const char *text)
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

static inline int raw_child(void)
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

static inline void on_state(void *ctx, struct qn_child *c)
{
    (void)ctx;
    if (n_told < 32)
        told[n_told++] = qn_child_status(c).state;
    qn_loop_stop(loop);
}

static inline void on_progress(void *ctx, struct qn_child *c)
{
    (void)ctx;
    (void)c;
    told_progress++;
}

static inline void on_jobs(void *ctx, struct qn_child *c)
{
    (void)ctx;
    (void)c;
    told_jobs++;
}

static inline void make(const char *name)
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

static inline void give_up(void *ctx)
{
    (void)ctx;
    fprintf(stderr, "the child is still %s\n", qn_inst_state_name(qn_child_status(child).state));
    abort();
}

static inline void until(enum qn_inst_state s)
{
    struct qn_timer *t = qn_timer_start(loop, HANG_MS, 0, give_up, NULL);
    while (qn_child_status(child).state != s)
        qn_loop_run(loop);
    qn_timer_stop(t);
}

static inline void stop_loop(void *ctx)
{
    (void)ctx;
    qn_loop_stop(loop);
}

static inline void run_for(int64_t ms)
{
    int64_t end = qn_now_ms() + ms;
    while (qn_now_ms() < end) {
        struct qn_timer *t = qn_timer_start(loop, end - qn_now_ms(), 0, stop_loop, NULL);
        qn_loop_run(loop);
        qn_timer_stop(t);
    }
}

static inline void until_progress(int n)
{
    struct qn_timer *t = qn_timer_start(loop, HANG_MS, 0, give_up, NULL);
    while (told_progress < n)
        run_for(5);
    qn_timer_stop(t);
}

static inline int count_descriptors(void)
{
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

static int descriptors_before;

static inline int set_up(void **state)
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

static inline int tear_down(void **state)
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

static inline void on_event(void *ctx, const struct qn_event *ev)
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

static inline void ask(struct answer *a, const char *prompt)
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

static inline void finish(struct answer *a)
{
    struct qn_timer *t = qn_timer_start(loop, HANG_MS, 0, give_up, NULL);
    while (!a->terminals)
        qn_loop_run(loop);
    qn_timer_stop(t);
}

/* Until the child has begun to answer. */
static inline void until_events(const struct answer *a, int n)
{
    struct qn_timer *t = qn_timer_start(loop, HANG_MS, 0, give_up, NULL);
    while (a->events < n)
        run_for(5);
    qn_timer_stop(t);
}

static inline void ready(const char *name)
{
    make(name);
    qn_child_load(child);
    until(QN_INST_READY);
}

/* As the child: its exit status. As the test: prepares the memory in common; -1. */
static inline int child_world_begin(int argc, char **argv)
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
    return -1;
}

#define CHILD_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

#endif
