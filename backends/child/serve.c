/* The loop's thread of a child: control lines on descriptor 4, POST /run on descriptor 3, the end
 * of the process. */
#include "child/serve.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"
#include "child/job_body.h"
#include "child/jobs.h"
#include "child/own_peer.h"
#include "child/sandbox.h"
#include "contract/codec.h"
#include "contract/control.h"
#include "contract/frame.h"
#include "io/http_server.h"
#include "io/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    TERM_GRACE_MS = 1500, /* for a SIGTERM without a stop line; the router kills after 2 s */
    /* interval in which a stopping child checks whether its last bytes are sent */
    DRAIN_CHECK_MS = 20,
    ACCEPT_PAUSE_MS = 100, /* after running out of descriptors */
    ACCEPTS_PER_TURN = 64,
    JOB_ID_MAX = 63 /* bytes of a job's id in the log */
};

struct reply { /* one POST /run, from the first bytes of its body to the last bytes of its reply */
    struct reply *next;
    char id[JOB_ID_MAX + 1]; /* the router logs the same id */
    int64_t began_ms;
    struct child *child;
    struct qn_http *http;
    struct qn_job_body body;
    struct qn_stream *stream; /* NULL: the job is not queued yet */
    struct qn_run *run;       /* NULL: the job is not queued yet */
};

struct child {
    const struct qn_backend *backend;
    char *name;
    struct qn_loop *loop;
    struct qn_watch *control_watch, *listen_watch, *signal_watch;
    struct qn_timer *drain_timer, *limit_timer, *accept_timer;
    struct qn_frame_reader control_in;
    struct qn_buf control_out;
    struct qn_http_server *http;
    struct qn_jobs *jobs; /* NULL until the load line */
    struct reply *replies;
    char secret[QN_SECRET_HEX + 1];
    /* The warning last sent to the router, borrowed from the backend; or NULL. */
    const char *template_warning;
    int threads;
    int signal_fd;
    int peer_fd; /* for queries about a connection's owner; -1: the kernel answers none */
    bool ready;
    bool stopping;
    bool failed; /* loading failed: exit with 1 after the router has been told */
};

/* Ends the process without freeing anything. Used when the router is gone or its grace period is
 * over: no client can read the rest, and the compute thread may be in a long step. */
static _Noreturn void leave_at_once(int status)
{
    _exit(status);
}

static void flush_control(struct child *c)
{
    while (c->control_out.len > 0) {
        ssize_t n = send(QN_FD_CONTROL, c->control_out.data, c->control_out.len,
                         MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            break;
        if (n < 0)
            leave_at_once(0);
        qn_buf_drop(&c->control_out, (size_t)n);
    }
    qn_watch_set(c->control_watch, c->control_out.len ? EPOLLIN | EPOLLOUT : EPOLLIN);
    if (c->failed && c->control_out.len == 0)
        qn_loop_stop(c->loop);
}

static void tell(struct child *c, const struct qn_control *message)
{
    if (qn_control_encode(message, &c->control_out)) {
        qn_error_log("child", "control=full bytes=%zu: the router does not read its control lines",
                     c->control_out.len);
        leave_at_once(1);
    }
    flush_control(c);
}

static void tell_failed(struct child *c, const struct qn_error *failure)
{
    struct qn_control m;
    qn_control_init(&m, QN_CTL_FAILED);
    m.error = *failure;
    qn_error_log("child", "model=%s state=failed code=%s message=\"%s\"", c->name,
                 qn_err_name(failure->code), failure->message);
    c->failed = true;
    tell(c, &m);
}

/* ---- Replies ---- */

static void reply_remove(struct reply *r, const char *how)
{
    if (r->run)
        qn_info("child", "id=%s job=%s ms=%lld", r->id, how,
                (long long)(qn_now_ms() - r->began_ms));
    struct reply **at = &r->child->replies;
    while (*at != r)
        at = &(*at)->next;
    *at = r->next;
    if (r->run)
        qn_run_release(r->run);
    qn_job_body_deinit(&r->body);
    free(r);
}

/* Detaches a finished reply from its request; the caller then writes the rest of the reply. */
static void reply_end(struct reply *r, const char *how)
{
    qn_http_on_gone(r->http, NULL, NULL);
    qn_http_body_read(r->http, NULL, NULL);
    reply_remove(r, how);
}

static void on_gone(void *ctx)
{
    reply_remove(ctx, "cancelled");
}

/* Sends the job's pending output while the client keeps reading, and resumes reading of inputs if
 * there is room. */
static void pump(struct reply *r)
{
    if (!r->run)
        return; /* the body is incomplete */
    if (!qn_run_inputs_full(r->run))
        qn_http_body_pause(r->http, false);
    if (qn_stream_full(r->stream))
        return; /* on_drained calls pump again */
    struct qn_buf bytes;
    qn_buf_init(&bytes, SIZE_MAX / 2);
    bool ended = qn_run_take(r->run, &bytes);
    struct qn_stream *stream = r->stream;
    if (ended)
        reply_end(r, "ended");
    if (bytes.len)
        qn_stream_write(stream, bytes.data, bytes.len);
    if (ended)
        qn_stream_end(stream);
    qn_buf_deinit(&bytes);
}

/* Sends a new warning to the router. Called before a reply's bytes are sent, so that the router has
 * the warning by the time a client has its reply. */
static void tell_template_warning(struct child *c)
{
    const char *warning = c->ready ? qn_jobs_template_warning(c->jobs) : NULL;
    if (!warning || warning == c->template_warning)
        return;
    struct qn_control m;
    qn_control_init(&m, QN_CTL_WARNING);
    m.template_warning = c->template_warning = warning;
    tell(c, &m);
}

static void on_output(void *ctx, void *owner)
{
    tell_template_warning(ctx);
    pump(owner);
}

static void pump_all(void *ctx)
{
    struct child *c = ctx;
    for (struct reply *r = c->replies, *next; r; r = next) {
        next = r->next;
        pump(r);
    }
}

/* A stream's callback must not call functions of the stream, and a stream may outlive its reply
 * while bytes are unsent. The context is therefore the child, and the work is posted to the next
 * turn of the loop. */
static void on_drained(void *ctx)
{
    struct child *c = ctx;
    qn_loop_post(c->loop, pump_all, c);
}

/* Every reply with another status than 200 has one ERROR frame as its body. */
static void write_refusal(struct qn_buf *body, const struct qn_error *e)
{
    struct qn_event ev;
    qn_event_init(&ev, QN_EV_ERROR);
    ev.error = *e;
    qn_event_frame(&ev, body);
}

static void refuse(struct qn_http *h, int status, const struct qn_error *e)
{
    struct qn_buf body;
    qn_buf_init(&body, 64 * 1024);
    write_refusal(&body, e);
    qn_http_reply(h, status, "application/x-ndjson", body.data, body.len);
    qn_buf_deinit(&body);
}

static void refuse_with(struct qn_http *h, int status, qn_err code, const char *message)
{
    struct qn_error e = {0};
    qn_fail(&e, code, "%s", message);
    refuse(h, status, &e);
}

static void on_refuse(void *ctx, const struct qn_http_refusal *r, struct qn_buf *body)
{
    (void)ctx;
    int status = r->status;
    bool large = status == 413 || status == 431;
    struct qn_error e = {0};
    qn_fail(&e, large ? QN_ELIMIT : QN_EINVAL, "%s",
            large ? "the request is too large for this child" : "not a request for this child");
    write_refusal(body, &e);
}

static bool authorised(const struct child *c, const struct qn_http *h)
{
    static const char scheme[] = "Bearer ";
    const char *value = qn_http_header(h, "Authorization");
    return value && qn_str_starts(value, scheme) && qn_secret_eq(value + strlen(scheme), c->secret);
}

/* Queues the job for the compute thread and begins the HTTP reply. */
static qn_err begin_job(struct reply *r, struct qn_error *e)
{
    struct child *c = r->child;
    struct qn_arena *arena = r->body.arena;
    snprintf(r->id, sizeof r->id, "%s", r->body.job.id);
    /* logged before the job starts, in case it crashes the process */
    qn_info("child", "id=%s job=begun task=%s bytes=%zu", r->id, qn_task_name(r->body.job.task),
            r->body.bytes);
    r->body.arena = NULL;
    qn_err err = qn_jobs_add(c->jobs, &r->body.job, arena, r, &r->run, e);
    if (!err)
        r->stream = qn_http_stream(r->http, 200, "application/x-ndjson", on_drained, c);
    return err;
}

/* Ends the reply with an error, before or after its HTTP headers have been sent. */
static void fail_reply(struct reply *r, int status, const struct qn_error *e)
{
    struct qn_http *http = r->http;
    struct qn_stream *stream = r->stream;
    reply_end(r, "failed");
    if (!stream) {
        refuse(http, status, e);
        return;
    }
    struct qn_buf body;
    qn_buf_init(&body, 64 * 1024);
    write_refusal(&body, e);
    qn_stream_write(stream, body.data, body.len);
    qn_stream_end(stream);
    qn_buf_deinit(&body);
}

/* Receives the next bytes of a body (p NULL: its end). Inputs go to the compute thread as they
 * arrive; reading pauses while enough of them wait. */
static void on_body(void *ctx, const char *p, size_t n)
{
    struct reply *r = ctx;
    struct qn_error e = {0};
    struct qn_input_batch *batch;
    qn_err err = p ? qn_job_body_add(&r->body, p, n, &e) : qn_job_body_end(&r->body, &e);
    if (err) {
        fail_reply(r, 400, &e);
        return;
    }
    if (!r->run && qn_job_body_is_ready(&r->body) && begin_job(r, &e)) {
        fail_reply(r, 503, &e);
        return;
    }
    while ((batch = qn_job_body_take_inputs(&r->body)) != NULL)
        qn_run_add_inputs(r->run, batch);
    if (r->run && qn_run_inputs_full(r->run))
        qn_http_body_pause(r->http, true);
}

static bool has_open_body(void *ctx, const struct qn_http *h)
{
    (void)ctx;
    (void)h;
    return true;
}

static void on_request(void *ctx, struct qn_http *h)
{
    struct child *c = ctx;
    if (!authorised(c, h)) {
        refuse_with(h, 401, QN_EINVAL, "wrong or missing secret");
        return;
    }
    if (!qn_str_eq(qn_http_path(h), "/run")) {
        refuse_with(h, 404, QN_ENOTFOUND, "only /run exists here");
        return;
    }
    if (!qn_str_eq(qn_http_method(h), "POST")) {
        refuse_with(h, 405, QN_EINVAL, "/run takes POST");
        return;
    }
    if (c->stopping) {
        refuse_with(h, 503, QN_EBUSY, "the model is being unloaded");
        return;
    }
    struct reply *r = qn_xcalloc(1, sizeof *r);
    r->child = c;
    r->http = h;
    r->began_ms = qn_now_ms();
    qn_job_body_init(&r->body);
    r->next = c->replies;
    c->replies = r;
    qn_http_on_gone(h, on_gone, r);
    qn_http_body_read(h, on_body, r);
}

static void on_accept_again(void *ctx)
{
    struct child *c = ctx;
    qn_timer_stop(c->accept_timer);
    c->accept_timer = NULL;
    qn_watch_set(c->listen_watch, EPOLLIN);
}

static void on_connection(void *ctx, uint32_t events)
{
    (void)events;
    struct child *c = ctx;
    for (int i = 0; i < ACCEPTS_PER_TURN; i++) {
        struct sockaddr_storage addr;
        socklen_t len = sizeof addr;
        int fd =
            accept4(QN_FD_LISTEN, (struct sockaddr *)&addr, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)) {
            qn_error_log("child", "accept=\"%s\"", strerror(errno));
            qn_watch_set(c->listen_watch, 0);
            c->accept_timer = qn_timer_start(c->loop, ACCEPT_PAUSE_MS, 0, on_accept_again, c);
            return;
        }
        if (fd < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (fd < 0)
            continue; /* the client closed the connection before accept4 */
        if (!qn_own_peer_is(c->peer_fd, fd, &addr)) {
            close(fd);
            continue;
        }
        int on = 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        qn_http_server_add(c->http, fd, &addr, len, 0);
    }
}

/* ---- Loading ---- */

static void on_loading(void *ctx, double fraction)
{
    struct child *c = ctx;
    struct qn_control m;
    qn_control_init(&m, QN_CTL_LOADING);
    m.progress = fraction;
    if (!c->ready && !c->failed)
        tell(c, &m);
}

static void on_loaded(void *ctx, const struct qn_ready *ready, const struct qn_error *failure)
{
    struct child *c = ctx;
    if (c->stopping) {
        qn_loop_stop(c->loop);
        return;
    }
    if (failure) {
        tell_failed(c, failure);
        return;
    }
    struct qn_error e = {0};
    static const struct qn_http_events events = {
        .request = on_request, .refuse = on_refuse, .open_body = has_open_body};
    qn_err err = qn_http_server_new(c->loop, &events, c, 0, &c->http, &e);
    if (!err)
        err = qn_watch_add(c->loop, QN_FD_LISTEN, EPOLLIN, on_connection, c, &c->listen_watch, &e);
    if (err) {
        tell_failed(c, &e);
        return;
    }
    c->ready = true;
    struct qn_control m;
    qn_control_init(&m, QN_CTL_READY);
    m.context = ready->context;
    m.memory_bytes = ready->memory_bytes;
    m.gpu_bytes = ready->gpu_bytes;
    m.slots = ready->slots;
    m.upstream = ready->upstream;
    m.upstream_key = ready->upstream_key;
    m.ends_reasoning = c->backend->end_reasoning != NULL;
    m.threads = c->threads;
    qn_info("child", "model=%s state=ready context=%lld slots=%lld", c->name,
            (long long)ready->context, (long long)ready->slots);
    tell(c, &m);
    tell_template_warning(c);
}

static void start_loading(struct child *c, const struct qn_control *m)
{
    struct qn_error e = {0};
    if (c->jobs) {
        qn_fail(&e, QN_ECONFLICT, "a second load line");
        tell_failed(c, &e);
        return;
    }
    size_t secret = strlen(m->secret);
    if (secret != QN_SECRET_HEX) {
        qn_fail(&e, QN_EINVAL, "the secret has %zu characters, not %d", secret, (int)QN_SECRET_HEX);
        tell_failed(c, &e);
        return;
    }
    memcpy(c->secret, m->secret, sizeof c->secret);
    enum qn_log_level level;
    if (m->log_level && qn_log_level_parse(m->log_level, &level))
        qn_log_set_level(level);
    c->threads = (int)m->threads;
    static const struct qn_jobs_events events = {
        .loading = on_loading, .loaded = on_loaded, .output = on_output};
    qn_err err = c->backend->confine ? c->backend->confine(m, &e)
                                     : qn_child_sandbox(c->backend->type, m, NULL, &e);
    if (!err)
        err = qn_jobs_new(c->loop, c->backend, m, &events, c, &c->jobs, &e);
    if (err)
        tell_failed(c, &e);
}

/* ---- The end ---- */

static void on_limit(void *ctx)
{
    struct child *c = ctx;
    qn_warn("child", "model=%s stop=limit jobs=%zu: aborting the jobs that still run", c->name,
            c->jobs ? qn_jobs_count(c->jobs) : 0);
    leave_at_once(0);
}

/* The HTTP server does not report the end of a reply, so a stopping child polls. */
static void on_drain_check(void *ctx)
{
    struct child *c = ctx;
    if (qn_jobs_count(c->jobs) == 0 && qn_http_server_active(c->http) == 0)
        qn_loop_stop(c->loop);
}

static void stop(struct child *c, int64_t grace_ms)
{
    if (c->stopping) { /* the second request to stop takes effect at once */
        on_limit(c);
        return;
    }
    qn_info("child", "model=%s state=stopping grace_ms=%lld", c->name, (long long)grace_ms);
    c->stopping = true;
    c->limit_timer = qn_timer_start(c->loop, grace_ms, 0, on_limit, c);
    if (c->ready)
        c->drain_timer = qn_timer_start(c->loop, 0, DRAIN_CHECK_MS, on_drain_check, c);
    else if (c->jobs)
        qn_jobs_give_up_loading(c->jobs); /* on_loaded then stops the loop */
    else
        qn_loop_stop(c->loop);
}

static void on_signal(void *ctx, uint32_t events)
{
    (void)events;
    struct child *c = ctx;
    struct signalfd_siginfo info;
    if (read(c->signal_fd, &info, sizeof info) == (ssize_t)sizeof info)
        stop(c, TERM_GRACE_MS);
}

/* ---- Control lines ---- */

static void end_reasoning(struct child *c, const char *job)
{
    for (struct reply *r = c->replies; r; r = r->next)
        if (r->run && qn_str_eq(r->id, job))
            qn_run_end_reasoning(r->run);
}

static void obey(struct child *c, const struct qn_control *m)
{
    struct qn_control pong;
    switch (m->kind) {
    case QN_CTL_LOAD:
        start_loading(c, m);
        return;
    case QN_CTL_PING:
        qn_control_init(&pong, QN_CTL_PONG);
        pong.seq = m->seq;
        pong.jobs = c->ready ? (int64_t)qn_jobs_count(c->jobs) : 0;
        pong.step_age_ms = c->ready ? qn_jobs_step_age_ms(c->jobs) : 0;
        tell(c, &pong);
        return;
    case QN_CTL_THREADS:
        c->threads = (int)m->threads;
        if (c->jobs)
            qn_jobs_set_threads(c->jobs, c->threads);
        return;
    case QN_CTL_STOP:
        stop(c, m->grace_ms);
        return;
    case QN_CTL_END_REASONING:
        end_reasoning(c, m->job);
        return;
    default:
        qn_warn("child", "control=unexpected kind=%d", (int)m->kind);
        return;
    }
}

/* Executes one control line; false if the router violated the protocol. */
static bool obey_line(struct child *c, const struct qn_json *line)
{
    struct qn_error e = {0};
    struct qn_arena *arena = qn_arena_new(2 * (size_t)QN_CONTROL_LINE_MAX);
    struct qn_jref root = qn_json_root(line);
    struct qn_control m;
    bool ok = qn_control_decode(&root, &m, arena, &e) == QN_OK;
    if (ok)
        obey(c, &m);
    else
        qn_error_log("child", "control=bad message=\"%s\"", e.message);
    qn_arena_free(arena);
    return ok;
}

static void on_control(void *ctx, uint32_t events)
{
    struct child *c = ctx;
    if (events & EPOLLOUT)
        flush_control(c);
    if (!(events & (EPOLLIN | EPOLLHUP | EPOLLERR)))
        return;
    char bytes[65536];
    ssize_t n = recv(QN_FD_CONTROL, bytes, sizeof bytes, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        return;
    if (n <= 0)
        leave_at_once(0);
    struct qn_error e = {0};
    struct qn_frame frame;
    qn_err err = qn_frame_feed(&c->control_in, bytes, (size_t)n);
    while (!err && (err = qn_frame_next(&c->control_in, &frame, &e)) == QN_OK) {
        if (!obey_line(c, frame.json))
            err = QN_EFORMAT;
        qn_json_free(frame.json);
    }
    if (err != QN_EBUSY) {
        qn_error_log("child", "control=broken message=\"%s\"", e.message);
        leave_at_once(1);
    }
}

/* ---- The process ---- */

/* SIGBUS: a page of a mapped file could not be read, which is the only way in which a loaded model
 * fails because of its file. The first thread to get here prints the message and restores the
 * default action; on return the access is repeated and ends the process. Other threads that get
 * here meanwhile repeat their access until then. */
static void on_bus(int signal_number)
{
    static const char text[] = "bus error: a model file became shorter or unreadable while the "
                               "model is loaded; restore the file and load the model again\n";
    static atomic_flag said = ATOMIC_FLAG_INIT;
    if (atomic_flag_test_and_set(&said))
        return;
    ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
    (void)written; /* a failure cannot be reported here; the parent sees the signal */
    signal(signal_number, SIG_DFL);
}

/* SIGTERM becomes an event of the loop. Ctrl-C in the router's terminal is handled by the router,
 * so SIGINT is ignored. SIGPIPE is ignored because writes to closed sockets return an error. Call
 * it before any thread starts, so that all threads inherit the mask. */
static qn_err take_signals(struct child *c, struct qn_error *e)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    if (pthread_sigmask(SIG_BLOCK, &set, NULL) != 0)
        return qn_fail(e, QN_EIO, "SIGTERM cannot be blocked");
    signal(SIGINT, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGBUS, on_bus);
    c->signal_fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    if (c->signal_fd < 0)
        return qn_fail_errno(e, "signalfd");
    return qn_watch_add(c->loop, c->signal_fd, EPOLLIN, on_signal, c, &c->signal_watch, e);
}

static qn_err open_child(struct child *c, struct qn_error *e)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
        return qn_fail_errno(e, "prctl PR_SET_PDEATHSIG");
    int flags = fcntl(QN_FD_LISTEN, F_GETFL);
    if (flags < 0 || fcntl(QN_FD_LISTEN, F_SETFL, flags | O_NONBLOCK) < 0)
        return qn_fail_errno(
            e, "descriptor %d should be a listening socket: this program is started by quinced",
            (int)QN_FD_LISTEN);
    int type;
    socklen_t len = sizeof type;
    if (getsockopt(QN_FD_CONTROL, SOL_SOCKET, SO_TYPE, &type, &len) != 0)
        return qn_fail_errno(e,
                             "descriptor %d should be a socket: this program is started by quinced",
                             (int)QN_FD_CONTROL);
    qn_err err = qn_loop_new(&c->loop, e);
    if (!err)
        err = take_signals(c, e);
    if (!err)
        err = qn_watch_add(c->loop, QN_FD_CONTROL, EPOLLIN, on_control, c, &c->control_watch, e);
    return err;
}

static void close_child(struct child *c)
{
    qn_timer_stop(c->drain_timer);
    qn_timer_stop(c->limit_timer);
    qn_timer_stop(c->accept_timer);
    qn_watch_remove(c->listen_watch);
    qn_watch_remove(c->control_watch);
    qn_watch_remove(c->signal_watch);
    if (c->http)
        qn_http_server_free(c->http);
    if (c->jobs)
        qn_jobs_stop(c->jobs);
    if (c->loop)
        qn_loop_free(c->loop);
    if (c->jobs)
        qn_jobs_free(c->jobs);
    if (c->signal_fd >= 0)
        close(c->signal_fd);
    if (c->peer_fd >= 0)
        close(c->peer_fd);
    qn_frame_reader_deinit(&c->control_in);
    qn_buf_deinit(&c->control_out);
}

int qn_child_main(int argc, char **argv, const struct qn_backend *backend)
{
    if (argc != 3 || !qn_str_eq(argv[1], "--name")) {
        qn_fatal("child", "usage: quince-%s --name NAME (started by quinced, not by hand)",
                 backend->type);
        return 2;
    }
    struct child c = {.backend = backend, .name = argv[2], .signal_fd = -1};
    c.peer_fd = qn_own_peer_open(); /* before the sandbox, which forbids new sockets */
    qn_frame_reader_init(&c.control_in, QN_CONTROL_LINE_MAX);
    qn_buf_init(&c.control_out, QN_CONTROL_LINE_MAX);
    struct qn_error e = {0};
    qn_err err = open_child(&c, &e);
    if (err)
        qn_fatal("child", "state=failed message=\"%s\"", e.message);
    else
        qn_loop_run(c.loop);
    close_child(&c);
    return err || c.failed ? 1 : 0;
}
