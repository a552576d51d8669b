/* A real child process over real descriptors 3 and 4, with a backend of a few lines: loading,
 * secret, events, queue, cancellation, slow readers, the ways to stop. The test plays the router.
 *
 * No time that passes is judged: what must not be waited for would take longer than HANG_MS. */
#include "child/serve.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/str.h"
#include "contract/codec.h"
#include "contract/control.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum {
    SLOTS = 2,
    FLOOD_BYTES = 32 * 1024,
    HANG_MS = 60000, /* a test that takes so long hangs */
    FOR_EVER_MS = 1000 * HANG_MS
};
static const char secret[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/* What the backend in the child tells the test, in shared memory. */
struct notes {
    volatile int started, cancelled, unloaded, threads, flooded;
    volatile bool load_slowly, load_badly; /* slowly: until this is taken back */
    volatile bool gate_open;               /* jobs that say "gate" begin to answer */
    volatile bool prepare_open;            /* jobs that say "slowly" are prepared */
    volatile int preparing, discarded;     /* of those */
    volatile int last_started;             /* max_tokens of the job */
};
static struct notes *notes;

/* ---- The backend: a job's prompt says what to do ---- */

struct tiny_job {
    const struct qn_job *job;
    struct qn_sink *out;
    int64_t left; /* texts to send; -1: as many as the reader takes */
};

struct tiny {
    struct tiny_job jobs[SLOTS];
};

static qn_err tiny_load(const struct qn_load *opts, struct qn_progress *p, void **self,
                        struct qn_ready *ready, struct qn_error *e)
{
    notes->threads = opts->threads;
    for (int i = 0; notes->load_slowly; i++) {
        qn_progress_set(p, i / (i + 200.0));
        if (qn_progress_cancelled(p))
            return qn_fail(e, QN_ECANCELLED, "given up");
        usleep(10000);
    }
    if (notes->load_badly)
        return qn_fail(e, QN_EFORMAT, "%s is not a model", opts->files[0]);
    *self = qn_xcalloc(1, sizeof(struct tiny));
    *ready = (struct qn_ready){.context = 128, .memory_bytes = 1000, .slots = SLOTS};
    return QN_OK;
}

static qn_err tiny_prepare(void *self, const struct qn_job *job, void **prepared,
                           struct qn_error *e)
{
    (void)self;
    if (strcmp(job->complete.prompt, "slowly") == 0) {
        __atomic_add_fetch(&notes->preparing, 1, __ATOMIC_SEQ_CST);
        while (!notes->prepare_open)
            usleep(1000);
    }
    if (strcmp(job->complete.prompt, "unready") == 0)
        return qn_fail_param(e, QN_ELIMIT, "prompt", "more than 7 steps");
    *prepared = qn_xstrdup(job->complete.prompt);
    return QN_OK;
}

static void tiny_discard(void *self, void *prepared)
{
    (void)self;
    if (strcmp(prepared, "slowly") == 0)
        notes->discarded++;
    free(prepared);
}

static qn_err tiny_start(void *self, const struct qn_job *job, void *prepared, struct qn_sink *out,
                         struct qn_error *e)
{
    struct tiny *t = self;
    if (strcmp(prepared, job->complete.prompt) != 0)
        return qn_fail(e, QN_EINTERNAL, "this was prepared for another job");
    if (strcmp(job->complete.prompt, "refuse") == 0)
        return qn_fail_param(e, QN_EINVAL, "prompt", "refused");
    for (int i = 0; i < SLOTS; i++) {
        if (t->jobs[i].job)
            continue;
        t->jobs[i] = (struct tiny_job){job, out, job->sampling.max_tokens};
        if (strcmp(job->complete.prompt, "flood") == 0)
            t->jobs[i].left = -1;
        notes->last_started = (int)job->sampling.max_tokens;
        notes->started++;
        free(prepared);
        return QN_OK;
    }
    return qn_fail(e, QN_EBUSY, "no slot");
}

static void tiny_advance(struct tiny_job *j)
{
    static char flood[FLOOD_BYTES + 1];
    memset(flood, 'f', FLOOD_BYTES);
    struct qn_event ev;
    if (strcmp(j->job->complete.prompt, "gate") == 0 && !notes->gate_open)
        return;
    if (j->left != 0) {
        qn_event_init(&ev, QN_EV_TEXT);
        ev.text = j->left < 0 ? flood : "x";
        if (j->left < 0)
            notes->flooded++;
        else
            j->left--;
        qn_sink_send(j->out, &ev);
        return;
    }
    struct qn_sink *out = j->out;
    j->job = NULL;
    qn_event_init(&ev, QN_EV_DONE);
    ev.finish = QN_FINISH_STOP;
    qn_sink_send(out, &ev);
    qn_event_init(&ev, QN_EV_USAGE);
    qn_sink_send(out, &ev);
    qn_event_init(&ev, QN_EV_END);
    qn_sink_send(out, &ev);
}

static bool tiny_step(void *self)
{
    struct tiny *t = self;
    bool any = false;
    for (int i = 0; i < SLOTS; i++) {
        struct tiny_job *j = &t->jobs[i];
        if (!j->job || qn_sink_full(j->out))
            continue;
        any = true;
        tiny_advance(j);
    }
    usleep(1000);
    return any;
}

static void tiny_cancel(void *self, const struct qn_job *job)
{
    struct tiny *t = self;
    for (int i = 0; i < SLOTS; i++)
        if (t->jobs[i].job == job)
            t->jobs[i].job = NULL;
    notes->cancelled++;
}

static void tiny_threads(void *self, int threads)
{
    (void)self;
    notes->threads = threads;
}

static void tiny_unload(void *self)
{
    notes->unloaded++;
    free(self);
}

static const struct qn_backend tiny = {
    .type = "tiny",
    .load = tiny_load,
    .prepare = tiny_prepare,
    .discard = tiny_discard,
    .start = tiny_start,
    .step = tiny_step,
    .cancel = tiny_cancel,
    .threads = tiny_threads,
    .unload = tiny_unload,
};

/* ---- The router's side ---- */

struct child {
    pid_t pid;
    int control;
    int port;
    FILE *lines;
};

static void child_start(struct child *c)
{
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    assert_int_equal(bind(listener, (struct sockaddr *)&a, len), 0);
    assert_int_equal(listen(listener, 64), 0);
    getsockname(listener, (struct sockaddr *)&a, &len);
    c->port = ntohs(a.sin_port);
    fflush(NULL);
    c->pid = fork();
    if (c->pid == 0) {
        int l = fcntl(listener, F_DUPFD, 100), ctl = fcntl(pair[1], F_DUPFD, 100);
        for (int fd = 3; fd < 100; fd++)
            close(fd);
        dup2(l, QN_FD_LISTEN);
        dup2(ctl, QN_FD_CONTROL);
        close(l);
        close(ctl);
        char *argv[] = {(char *)"quince-tiny", (char *)"--name", (char *)"test", NULL};
        exit(qn_child_main(3, argv, &tiny));
    }
    close(pair[1]);
    close(listener);
    c->control = pair[0];
    struct timeval limit = {.tv_sec = HANG_MS / 1000};
    setsockopt(c->control, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    c->lines = fdopen(dup(c->control), "r");
}

static void say(struct child *c, const struct qn_control *m)
{
    struct qn_buf b;
    qn_buf_init(&b, 65536);
    assert_int_equal(qn_control_encode(m, &b), QN_OK);
    assert_int_equal(send(c->control, b.data, b.len, MSG_NOSIGNAL), (ssize_t)b.len);
    qn_buf_deinit(&b);
}

/* The next line; its strings are leaked into the arena of the caller's choice, so only numbers and
 * the error are looked at. */
static struct qn_control hear(struct child *c)
{
    char line[65536];
    struct qn_control m;
    qn_control_init(&m, QN_CTL_NONE);
    if (!fgets(line, sizeof line, c->lines))
        return m;
    struct qn_json *doc;
    assert_int_equal(qn_json_parse(line, strlen(line) - 1, &doc, NULL), QN_OK);
    struct qn_arena *arena = qn_arena_new(65536);
    struct qn_jref root = qn_json_root(doc);
    assert_int_equal(qn_control_decode(&root, &m, arena, NULL), QN_OK);
    qn_arena_free(arena);
    qn_json_free(doc);
    return m;
}

static void say_load(struct child *c)
{
    struct qn_control m;
    qn_control_init(&m, QN_CTL_LOAD);
    const char *files[] = {"/model"};
    m.secret = secret;
    m.name = "test";
    m.files = (struct qn_strings){files, 1};
    m.threads = 3;
    say(c, &m);
}

/* What the child says of itself; it has obeyed all that was said before. */
static struct qn_control ping(struct child *c)
{
    static int64_t seq;
    struct qn_control m;
    qn_control_init(&m, QN_CTL_PING);
    m.seq = ++seq;
    say(c, &m);
    do
        m = hear(c);
    while (m.kind == QN_CTL_LOADING);
    assert_int_equal(m.kind, QN_CTL_PONG);
    assert_int_equal(m.seq, seq);
    return m;
}

static void wait_for_jobs(struct child *c, int64_t n)
{
    int64_t limit = qn_now_ms() + HANG_MS;
    while (ping(c).jobs != n) {
        if (qn_now_ms() > limit)
            fail_msg("waited in vain for %d jobs", (int)n);
        usleep(1000);
    }
}

static struct qn_control hear_after_loading(struct child *c)
{
    struct qn_control m;
    do
        m = hear(c);
    while (m.kind == QN_CTL_LOADING);
    return m;
}

static void child_ready(struct child *c)
{
    memset(notes, 0, sizeof *notes);
    child_start(c);
    say_load(c);
    struct qn_control m = hear_after_loading(c);
    assert_int_equal(m.kind, QN_CTL_READY);
    assert_int_equal(m.context, 128);
    assert_int_equal(m.slots, SLOTS);
    assert_int_equal(m.memory_bytes, 1000);
    assert_int_equal(m.threads, 3);
}

static void say_stop(struct child *c, int64_t grace_ms)
{
    struct qn_control m;
    qn_control_init(&m, QN_CTL_STOP);
    m.grace_ms = grace_ms;
    say(c, &m);
}

/* Waits for the end; returns the exit status, or 128 + the signal. */
static int child_end(struct child *c)
{
    int status = 0;
    int64_t limit = qn_now_ms() + HANG_MS;
    while (waitpid(c->pid, &status, WNOHANG) == 0) {
        if (qn_now_ms() > limit) {
            kill(c->pid, SIGKILL);
            waitpid(c->pid, &status, 0);
            fail_msg("the child did not end");
        }
        usleep(2000);
    }
    fclose(c->lines);
    if (c->control >= 0)
        close(c->control);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int dial(const struct child *c)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                            .sin_port = htons((uint16_t)c->port)};
    assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof a), 0);
    struct timeval limit = {.tv_sec = HANG_MS / 1000};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    return fd;
}

/* Sends a request and returns its connection. */
static int post(const struct child *c, const char *method, const char *path, const char *bearer,
                const char *body)
{
    int fd = dial(c);
    struct qn_buf b;
    qn_buf_init(&b, 1 << 20);
    qn_buf_fmt(&b, "%s %s HTTP/1.1\r\nHost: child\r\nConnection: close\r\n", method, path);
    if (bearer)
        qn_buf_fmt(&b, "Authorization: Bearer %s\r\n", bearer);
    qn_buf_fmt(&b, "Content-Length: %zu\r\n\r\n%s", strlen(body), body);
    assert_int_equal(send(fd, b.data, b.len, MSG_NOSIGNAL), (ssize_t)b.len);
    qn_buf_deinit(&b);
    return fd;
}

static int run_job(const struct child *c, const char *prompt, int64_t max_tokens)
{
    struct qn_job job;
    qn_job_init(&job);
    job.task = QN_TASK_COMPLETE;
    job.id = "r1";
    job.complete.prompt = prompt;
    job.sampling.max_tokens = max_tokens;
    struct qn_buf b;
    qn_buf_init(&b, 65536);
    assert_int_equal(qn_job_encode(&job, &b), QN_OK);
    qn_buf_char(&b, '\n');
    int fd = post(c, "POST", "/run", secret, qn_buf_cstr(&b));
    qn_buf_deinit(&b);
    return fd;
}

/* Reads the whole reply and closes; lent until the next call. */
static const char *reply(int fd)
{
    static struct qn_buf all;
    if (!all.limit)
        qn_buf_init(&all, 64 << 20);
    qn_buf_clear(&all);
    char bytes[65536];
    ssize_t n;
    while ((n = recv(fd, bytes, sizeof bytes, 0)) > 0)
        qn_buf_add(&all, bytes, (size_t)n);
    assert_int_equal(n, 0);
    close(fd);
    return qn_buf_cstr(&all);
}

static int count(const char *text, const char *what)
{
    int n = 0;
    for (const char *at = strstr(text, what); at; at = strstr(at + 1, what))
        n++;
    return n;
}

static void wait_for(volatile int *value, int at_least)
{
    int64_t limit = qn_now_ms() + HANG_MS;
    while (*value < at_least) {
        if (qn_now_ms() > limit)
            fail_msg("waited in vain for %d, it is %d", at_least, *value);
        usleep(1000);
    }
}

/* ---- The tests ---- */

static void a_job_runs_to_its_end(void **state)
{
    (void)state;
    struct child c;
    child_ready(&c);
    const char *r = reply(run_job(&c, "go", 3));
    assert_int_equal(strncmp(r, "HTTP/1.1 200", 12), 0);
    assert_int_equal(count(r, "\"ev\":\"text\""), 3);
    assert_int_equal(count(r, "\"ev\":\"end\""), 1);
    say_stop(&c, 2000);
    assert_int_equal(child_end(&c), 0);
    assert_int_equal(notes->unloaded, 1);
}

static void strangers_are_refused(void **state)
{
    (void)state;
    struct child c;
    child_ready(&c);
    assert_int_equal(strncmp(reply(post(&c, "POST", "/run", NULL, "{}")), "HTTP/1.1 401", 12), 0);
    assert_int_equal(strncmp(reply(post(&c, "POST", "/run", "0123", "{}")), "HTTP/1.1 401", 12), 0);
    assert_int_equal(strncmp(reply(post(&c, "POST", "/other", secret, "{}")), "HTTP/1.1 404", 12),
                     0);
    assert_int_equal(strncmp(reply(post(&c, "GET", "/run", secret, "")), "HTTP/1.1 405", 12), 0);
    const char *r = reply(post(&c, "POST", "/run", secret, "{\"task\":7}"));
    assert_int_equal(strncmp(r, "HTTP/1.1 400", 12), 0);
    assert_int_equal(count(r, "\"ev\":\"error\""), 1);
    assert_int_equal(
        strncmp(reply(post(&c, "POST", "/run", secret, "nonsense")), "HTTP/1.1 400", 12), 0);
    assert_int_equal(notes->started, 0);
    say_stop(&c, 2000);
    assert_int_equal(child_end(&c), 0);
}

static void a_refused_job_says_why(void **state)
{
    (void)state;
    struct child c;
    child_ready(&c);
    const char *r = reply(run_job(&c, "refuse", 1));
    assert_int_equal(count(r, "\"ev\":\"error\""), 1);
    assert_non_null(strstr(r, "refused"));
    assert_non_null(strstr(r, "\"param\":\"prompt\""));
    say_stop(&c, 2000);
    assert_int_equal(child_end(&c), 0);
}

static void more_jobs_than_slots_wait_their_turn(void **state)
{
    (void)state;
    struct child c;
    child_ready(&c);
    int fds[9];
    for (int i = 0; i < 9; i++)
        fds[i] = run_job(&c, "go", 5);
    for (int i = 0; i < 9; i++) {
        const char *r = reply(fds[i]);
        assert_int_equal(count(r, "\"ev\":\"text\""), 5);
        assert_int_equal(count(r, "\"ev\":\"end\""), 1);
    }
    say_stop(&c, 2000);
    assert_int_equal(child_end(&c), 0);
}

static void a_client_that_leaves_cancels(void **state)
{
    (void)state;
    struct child c;
    child_ready(&c);
    int running = run_job(&c, "go", 1000000), other = run_job(&c, "go", 1000000);
    wait_for(&notes->started, 2);
    int queued = run_job(&c, "go", 1000000);
    wait_for_jobs(&c, 3);
    close(queued); /* never started: nothing to cancel */
    wait_for_jobs(&c, 2);
    close(running);
    wait_for(&notes->cancelled, 1);
    wait_for_jobs(&c, 1);
    assert_int_equal(notes->started, 2);
    close(other);
    wait_for(&notes->cancelled, 2);
    wait_for_jobs(&c, 0);
    assert_int_equal(notes->started, 2);
    say_stop(&c, 2000);
    assert_int_equal(child_end(&c), 0);
}

static void a_slow_reader_delays_no_other(void **state)
{
    (void)state;
    struct child c;
    child_ready(&c);
    int slow = run_job(&c, "flood", 1);
    wait_for(&notes->flooded, 8);
    /* Until the sockets and the queues are full: other jobs get on, and this one does not. */
    int before;
    do {
        before = notes->flooded;
        assert_int_equal(count(reply(run_job(&c, "go", 20)), "\"ev\":\"end\""), 1);
    } while (notes->flooded != before);
    assert_true(before < 64 * 1024 * 1024 / FLOOD_BYTES);
    for (int i = 0; i < 5; i++)
        assert_int_equal(count(reply(run_job(&c, "go", 20)), "\"ev\":\"end\""), 1);
    assert_int_equal(notes->flooded, before);
    /* Pings are answered, and a job that waits for its reader is not a stalled one. */
    wait_for_jobs(&c, 1);
    while (ping(&c).step_age_ms != 0) /* the step in which the last one ended */
        usleep(1000);
    usleep(20000);
    assert_int_equal(ping(&c).step_age_ms, 0);
    /* It reads again, and the flood goes on. */
    char bytes[65536];
    for (int64_t got = 0; got < 8 * 1024 * 1024;) {
        ssize_t n = recv(slow, bytes, sizeof bytes, 0);
        assert_true(n > 0);
        got += n;
    }
    assert_true(notes->flooded > before);
    close(slow);
    wait_for(&notes->cancelled, 1);
    say_stop(&c, 2000);
    assert_int_equal(child_end(&c), 0);
}

/* A job that is slow to prepare holds up neither answers nor other jobs' preparation. */
static void slow_preparation_delays_only_its_job(void **state)
{
    (void)state;
    struct child c;
    child_ready(&c);
    int slow = run_job(&c, "slowly", 2);
    wait_for(&notes->preparing, 1);
    assert_int_equal(count(reply(run_job(&c, "go", 3)), "\"ev\":\"text\""), 3);
    const char *r = reply(run_job(&c, "unready", 3));
    assert_non_null(strstr(r, "more than 7 steps"));
    assert_int_equal(count(r, "\"ev\":\"error\""), 1);
    assert_int_equal(notes->started, 1);
    notes->prepare_open = true;
    assert_int_equal(count(reply(slow), "\"ev\":\"text\""), 2);
    say_stop(&c, 2000);
    assert_int_equal(child_end(&c), 0);
}

/* Also while it is prepared, and while it waits for that behind others. */
static void a_client_that_leaves_before_the_first_step_cancels(void **state)
{
    (void)state;
    struct child c;
    int slow[6];
    child_ready(&c);
    for (int i = 0; i < 6; i++)
        slow[i] = run_job(&c, "slowly", 2);
    wait_for(&notes->preparing, 4); /* threads; the others wait */
    wait_for_jobs(&c, 6);
    for (int i = 0; i < 5; i++)
        close(slow[i]);
    wait_for_jobs(&c, 5); /* at least one that no thread prepares yet ends at once */
    notes->prepare_open = true;
    assert_int_equal(count(reply(slow[5]), "\"ev\":\"text\""), 2);
    wait_for_jobs(&c, 0);
    assert_int_equal(notes->started, 1);
    assert_int_equal(notes->cancelled, 0);
    assert_true(notes->discarded >= 4);
    say_stop(&c, 2000);
    assert_int_equal(child_end(&c), 0);
}

/* A job that was prepared late still comes before those that came after it and wait for a slot. */
static void late_preparation_keeps_the_order(void **state)
{
    (void)state;
    struct child c;
    int running[SLOTS];
    child_ready(&c);
    for (int i = 0; i < SLOTS; i++)
        running[i] = run_job(&c, "gate", 1);
    wait_for(&notes->started, SLOTS);
    int first = run_job(&c, "slowly", 21);
    wait_for(&notes->preparing, 1);
    int second = run_job(&c, "go", 22);
    wait_for_jobs(&c, SLOTS + 2);
    notes->prepare_open = true;
    close(run_job(&c, "unready", 1)); /* and one more turn of the queue */
    wait_for_jobs(&c, SLOTS + 2);
    notes->gate_open = true;
    reply(first);
    reply(second);
    for (int i = 0; i < SLOTS; i++)
        reply(running[i]);
    assert_int_equal(notes->last_started, 22);
    say_stop(&c, 2000);
    assert_int_equal(child_end(&c), 0);
}

static void stop_finishes_what_runs(void **state)
{
    (void)state;
    struct child c;
    child_ready(&c);
    int fd = run_job(&c, "gate", 200);
    wait_for(&notes->started, 1);
    say_stop(&c, FOR_EVER_MS);
    (void)ping(&c);
    assert_int_equal(strncmp(reply(run_job(&c, "go", 1)), "HTTP/1.1 503", 12), 0);
    notes->gate_open = true;
    const char *r = reply(fd);
    assert_int_equal(count(r, "\"ev\":\"text\""), 200);
    assert_int_equal(count(r, "\"ev\":\"end\""), 1);
    assert_int_equal(child_end(&c), 0);
    assert_int_equal(notes->unloaded, 1);
}

static void stop_has_a_limit(void **state)
{
    (void)state;
    struct child c;
    child_ready(&c);
    int fd = run_job(&c, "go", 1000000);
    wait_for(&notes->started, 1);
    say_stop(&c, 100);
    assert_int_equal(child_end(&c), 0); /* the job would go on */
    close(fd);
}

static void sigterm_stops(void **state)
{
    (void)state;
    struct child c;
    child_ready(&c);
    int fd = run_job(&c, "go", 50);
    wait_for(&notes->started, 1);
    kill(c.pid, SIGTERM);
    assert_int_equal(count(reply(fd), "\"ev\":\"end\""), 1);
    assert_int_equal(child_end(&c), 0);
    /* A second one has no patience. */
    child_ready(&c);
    fd = run_job(&c, "go", 1000000);
    wait_for(&notes->started, 1);
    say_stop(&c, FOR_EVER_MS);
    (void)ping(&c);
    kill(c.pid, SIGTERM);
    assert_int_equal(child_end(&c), 0);
    close(fd);
}

static void an_orphan_leaves_at_once(void **state)
{
    (void)state;
    struct child c;
    child_ready(&c);
    int fd = run_job(&c, "go", 1000000);
    wait_for(&notes->started, 1);
    shutdown(c.control, SHUT_RDWR);
    assert_int_equal(child_end(&c), 0); /* whatever it was doing */
    close(fd);
}

static void loading_reports_and_can_be_stopped(void **state)
{
    (void)state;
    struct child c;
    memset(notes, 0, sizeof *notes);
    notes->load_slowly = true;
    child_start(&c);
    say_load(&c);
    struct qn_control m = hear(&c);
    assert_int_equal(m.kind, QN_CTL_LOADING);
    double first = m.progress;
    m = hear(&c);
    assert_int_equal(m.kind, QN_CTL_LOADING);
    assert_true(m.progress > first);
    (void)ping(&c);
    say_stop(&c, FOR_EVER_MS);
    assert_int_equal(child_end(&c), 0); /* the load would go on */
}

static void a_bad_model_is_reported(void **state)
{
    (void)state;
    struct child c;
    memset(notes, 0, sizeof *notes);
    notes->load_badly = true;
    child_start(&c);
    say_load(&c);
    struct qn_control m = hear_after_loading(&c);
    assert_int_equal(m.kind, QN_CTL_FAILED);
    assert_int_equal(m.error.code, QN_EFORMAT);
    assert_string_equal(m.error.message, "/model is not a model");
    assert_int_equal(child_end(&c), 1);
}

static void threads_reach_the_backend(void **state)
{
    (void)state;
    struct child c;
    child_ready(&c);
    struct qn_control m;
    qn_control_init(&m, QN_CTL_THREADS);
    m.threads = 7;
    say(&c, &m);
    wait_for(&notes->threads, 7);
    say_stop(&c, 2000);
    assert_int_equal(child_end(&c), 0);
}

static void a_broken_control_line_ends_the_child(void **state)
{
    (void)state;
    struct child c;
    child_ready(&c);
    assert_int_equal(send(c.control, "{\"msg\":\n", 8, MSG_NOSIGNAL), 8);
    assert_int_equal(child_end(&c), 1);
}

static int set_up(void **state)
{
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    notes = mmap(NULL, sizeof *notes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return notes == MAP_FAILED;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_runs_to_its_end),
        cmocka_unit_test(strangers_are_refused),
        cmocka_unit_test(a_refused_job_says_why),
        cmocka_unit_test(more_jobs_than_slots_wait_their_turn),
        cmocka_unit_test(a_client_that_leaves_cancels),
        cmocka_unit_test(a_slow_reader_delays_no_other),
        cmocka_unit_test(slow_preparation_delays_only_its_job),
        cmocka_unit_test(a_client_that_leaves_before_the_first_step_cancels),
        cmocka_unit_test(late_preparation_keeps_the_order),
        cmocka_unit_test(stop_finishes_what_runs),
        cmocka_unit_test(stop_has_a_limit),
        cmocka_unit_test(sigterm_stops),
        cmocka_unit_test(an_orphan_leaves_at_once),
        cmocka_unit_test(loading_reports_and_can_be_stopped),
        cmocka_unit_test(a_bad_model_is_reported),
        cmocka_unit_test(threads_reach_the_backend),
        cmocka_unit_test(a_broken_control_line_ends_the_child),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
