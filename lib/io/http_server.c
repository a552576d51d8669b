/* libmicrohttpd inside our loop: its turns, its start and its end. A connection is http_conn.c's
 * until its first head is there, a request is http_request.c's. */
#include "io/http_server_private.h"

#include "base/log.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/epoll.h>

enum {
    /* The daemon's memory per connection, half of which it touches at once: a head, its parse, one
     * chunk each way. */
    POOL_BYTES = 24 * 1024,
    RUNS_MAX = 16 /* turns of the daemon per wake-up */
};

static void on_again(void *ctx)
{
    qn_http_server_run(ctx);
}

void qn_http_server_run(struct qn_http_server *s)
{
    if (s->running)
        return;
    s->running = true;
    MHD_UNSIGNED_LONG_LONG wait = 1;
    int turns = 0;
    do {
        s->resumed = false;
        if (MHD_run(s->daemon) != MHD_YES)
            qn_error_log("http", "libmicrohttpd could not run");
        if (MHD_get_timeout(s->daemon, &wait) != MHD_YES)
            wait = 1;
    } while ((s->resumed || wait == 0) && ++turns < RUNS_MAX);
    qn_timer_stop(s->again);
    s->again = NULL;
    if (turns == RUNS_MAX)
        s->again = qn_timer_start(s->loop, 0, 0, on_again, s);
    s->running = false;
}

static void on_daemon(void *ctx, uint32_t events)
{
    (void)events;
    qn_http_server_run(ctx);
}

void qn_http_server_wake(struct qn_http_server *s)
{
    s->resumed = true;
    if (!s->running && !s->again)
        s->again = qn_timer_start(s->loop, 0, 0, on_again, s);
}

static void on_connection(void *ctx, struct MHD_Connection *mhd, void **socket_context,
                          enum MHD_ConnectionNotificationCode code)
{
    (void)mhd;
    struct qn_http_server *s = ctx;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        *socket_context = s->adding;
        s->adding = NULL;
    } else {
        qn_conn_free(*socket_context);
    }
}

static void on_log(void *ctx, const char *fmt, va_list ap)
{
    (void)ctx;
    if (qn_log_get_level() < QN_LOG_DEBUG)
        return;
    struct qn_buf line;
    qn_buf_init(&line, 4096);
    qn_buf_vfmt(&line, fmt, ap);
    while (line.len && line.data[line.len - 1] == '\n')
        line.data[--line.len] = 0;
    qn_debug("http", "libmicrohttpd: %s", qn_buf_cstr(&line));
    qn_buf_deinit(&line);
}

/* ---- life ---- */

qn_err qn_http_server_new(struct qn_loop *l, const struct qn_http_events *ev, void *ctx,
                          size_t body_max, struct qn_http_server **out, struct qn_error *e)
{
    struct qn_http_server *s = qn_xcalloc(1, sizeof *s);
    s->loop = l;
    s->ev = *ev;
    s->ctx = ctx;
    s->body_max = body_max;
    s->daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0,
        NULL, NULL, qn_http_on_access, s, MHD_OPTION_EXTERNAL_LOGGER, on_log, NULL,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)QN_HTTP_CONNECTIONS_MAX,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)POOL_BYTES, MHD_OPTION_CONNECTION_TIMEOUT, 0U,
        MHD_OPTION_URI_LOG_CALLBACK, qn_http_on_uri, s, MHD_OPTION_NOTIFY_COMPLETED,
        qn_http_on_completed, s, MHD_OPTION_NOTIFY_CONNECTION, on_connection, s, MHD_OPTION_END);
    if (!s->daemon) {
        free(s);
        return qn_fail(e, QN_EIO, "libmicrohttpd could not start");
    }
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    qn_err err = qn_watch_add(l, info->epoll_fd, EPOLLIN, on_daemon, s, &s->watch, e);
    if (err) {
        MHD_stop_daemon(s->daemon);
        free(s);
        return err;
    }
    *out = s;
    return QN_OK;
}

size_t qn_http_server_active(const struct qn_http_server *s)
{
    return s->active;
}

void qn_http_server_free(struct qn_http_server *s)
{
    if (!s)
        return;
    assert(!s->running);
    for (struct qn_http *h = s->requests; h; h = h->next) {
        qn_http_tell_gone(h);
        h->aborted = true;
        qn_http_resume(h);
    }
    for (struct storing *w = s->storing; w; w = w->next) {
        w->http->aborted = true;
        qn_http_resume(w->http);
    }
    qn_watch_remove(s->watch);
    qn_timer_stop(s->again);
    s->running = true; /* no turn of the daemon may start from within its end */
    MHD_stop_daemon(s->daemon);
    while (s->conns)
        qn_conn_free(s->conns);
    qn_timer_stop(s->sweep);
    free(s);
}
