/* Signals to the server: stop when running requests have ended, or read the settings again. */
#include "router/program.h"

#include "answering/answering.h"
#include "api/chats_events.h"
#include "base/clock.h"
#include "base/log.h"
#include "downloads/pack_jobs.h"
#include "http/ws.h"
#include "io/http_server.h"
#include "telemetry/logs.h"
#include "telemetry/metrics.h"
#include "telemetry/notify.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum {
    DRAIN_CHECK_MS = 20,
    ANSWERS_LIMIT_MS = 2000, /* for storing the ends of answers */
    CHILDREN_LIMIT_MS = 13000
};

static void children_gone(void *ctx)
{
    struct qn_program *p = ctx;
    qn_loop_stop(p->loop);
}

/* Polls during the shutdown, because the HTTP server does not report the end of its last request.
 * After that end the children are told to stop; the loop stops when they have ended. */
static void on_drain(void *ctx)
{
    struct qn_program *p = ctx;
    bool late = qn_now_ms() >= p->drain_until_ms;
    if (p->children_told) {
        if (late)
            qn_loop_stop(p->loop);
        return;
    }
    if (late)
        qn_answering_stop(p->answering);
    else
        qn_answering_drain(p->answering);
    bool runs = qn_http_server_active(p->server) > 0 || qn_live_busy(p->live);
    bool answers = qn_answering_active(p->answering) > 0;
    if ((runs && !late) || (answers && qn_now_ms() < p->drain_until_ms + ANSWERS_LIMIT_MS))
        return;
    struct qn_error e;
    p->children_told = true;
    p->drain_until_ms = qn_now_ms() + CHILDREN_LIMIT_MS;
    if (qn_inventory_unload(p->inventory, NULL, children_gone, p, &e))
        qn_loop_stop(p->loop);
}

static void reloaded(void *ctx, const struct qn_error *e)
{
    struct qn_program *p = ctx;
    if (!p->serving.stopping)
        qn_notify_ready(p->notify, p->loop,
                        e ? "Settings could not be read again: see the log"
                          : "Settings read again");
    if (e)
        qn_error_log("main", "signal=%d settings=unchanged message=\"%s\"", SIGHUP, e->message);
    else
        qn_info("main", "signal=%d settings=read_again", SIGHUP);
    qn_metric_add(p->telemetry.metrics, QN_M_RELOADS, 1);
}

static void reload(struct qn_program *p)
{
    if (p->serving.stopping)
        return;
    qn_notify_reloading(p->notify);
    qn_live_reload(p->live, reloaded, p);
}

static void on_signal(void *ctx, uint32_t events)
{
    struct qn_program *p = ctx;
    struct signalfd_siginfo info;
    (void)events;
    if (read(p->signal_fd, &info, sizeof info) != (ssize_t)sizeof info)
        return;
    if (info.ssi_signo == SIGHUP) {
        reload(p);
        return;
    }
    if (p->serving.stopping) {
        qn_warn("main", "signal=%u stopping=at_once", info.ssi_signo);
        qn_loop_stop(p->loop);
        return;
    }
    qn_info("main", "signal=%u stopping=when_idle running=%zu limit_s=%lld", info.ssi_signo,
            qn_http_server_active(p->server), (long long)p->settings.drain_s);
    p->serving.stopping = true;
    qn_notify_stopping(p->notify, p->settings.drain_s * 1000 + CHILDREN_LIMIT_MS,
                       "Finishing the running requests");
    qn_ws_stop(p->ws);
    qn_chats_events_stop(p->chats_events);
    qn_logs_wake(p->telemetry.logs); /* so that clients that follow the log get its last lines */
    qn_pulls_drain(p->puller.pulls);
    qn_pack_jobs_drain(p->pack_jobs);
    qn_live_drain(p->live);
    p->drain_until_ms = qn_now_ms() + p->settings.drain_s * 1000;
    p->drain = qn_timer_start(p->loop, 0, DRAIN_CHECK_MS, on_drain, p);
}

/* All threads inherit the signal mask. */
qn_err qn_program_take_signals(struct qn_program *p, struct qn_error *e)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    signal(SIGPIPE, SIG_IGN);
    /* if SIGCHLD were ignored, the exit status of a model's process would be lost */
    signal(SIGCHLD, SIG_DFL);
    if (pthread_sigmask(SIG_BLOCK, &set, NULL))
        return qn_fail(e, QN_EIO, "cannot block signals");
    p->signal_fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    return p->signal_fd < 0 ? qn_fail_errno(e, "signalfd") : QN_OK;
}

qn_err qn_program_watch_signals(struct qn_program *p, struct qn_error *e)
{
    return qn_watch_add(p->loop, p->signal_fd, EPOLLIN, on_signal, p, &p->signal_watch, e);
}
