/* The table of a child's life cycle. Each cell is a small function; an event without a cell arrives
 * too late or has no meaning in that state, and changes nothing. */
#include "models/instance.h"

#include <stddef.h>

typedef unsigned (*cell_fn)(struct qn_instance *in);

void qn_instance_init(struct qn_instance *in, bool pinned)
{
    *in = (struct qn_instance){.state = QN_INST_STOPPED, .pinned = pinned};
}

/* ---- requests for the model ---- */

static unsigned spawn(struct qn_instance *in)
{
    in->state = QN_INST_LOADING;
    in->was_ready = false;
    return QN_FX_SPAWN;
}

static unsigned back_off(struct qn_instance *in)
{
    in->state = QN_INST_BACKOFF;
    return QN_FX_BACKOFF;
}

static unsigned want_stopped(struct qn_instance *in)
{
    in->wanted = true;
    return in->backoff_ms > 0 ? back_off(in) : spawn(in);
}

static unsigned want_later(struct qn_instance *in)
{
    in->wanted = true;
    return 0;
}

static unsigned want_failed(struct qn_instance *in)
{
    in->failed_loads = 0;
    in->backoff_ms = 0;
    in->wanted = true;
    return spawn(in);
}

static unsigned unwant(struct qn_instance *in)
{
    in->wanted = false;
    return 0;
}

/* Cancels the restart if no request waits and the model is not pinned. */
static unsigned rest_unless_wanted(struct qn_instance *in)
{
    if (!in->wanted && !in->pinned)
        in->state = QN_INST_STOPPED;
    return 0;
}

static unsigned unwant_backoff(struct qn_instance *in)
{
    in->wanted = false;
    return rest_unless_wanted(in);
}

/* ---- ending the process ---- */

static unsigned drain(struct qn_instance *in, enum qn_inst_end end, unsigned effect)
{
    in->was_ready = in->state == QN_INST_READY;
    in->state = QN_INST_DRAINING;
    in->end = end;
    return effect;
}

static unsigned stop_loading(struct qn_instance *in)
{
    in->wanted = false;
    return drain(in, QN_INST_END_ASKED, QN_FX_TERM); /* there is no job to finish */
}

static unsigned stop_ready(struct qn_instance *in)
{
    in->wanted = false;
    return drain(in, QN_INST_END_ASKED, QN_FX_STOP);
}

static unsigned stop_draining(struct qn_instance *in)
{
    in->wanted = false;
    in->end = QN_INST_END_ASKED; /* not to be restarted, whatever the reason of its end was */
    return 0;
}

static unsigned forget(struct qn_instance *in)
{
    in->state = QN_INST_STOPPED;
    in->wanted = false;
    in->failed_loads = in->crashes = 0;
    in->backoff_ms = 0;
    return 0;
}

/* A child that has sent `failed` ends by itself, so that the crash report shows its own exit
 * status. */
static unsigned load_failed(struct qn_instance *in)
{
    return drain(in, QN_INST_END_FAILED, QN_FX_LEAVE);
}

static unsigned load_refused(struct qn_instance *in)
{
    return drain(in, QN_INST_END_REFUSED, QN_FX_LEAVE);
}

static unsigned load_hangs(struct qn_instance *in)
{
    return drain(in, QN_INST_END_FAILED, QN_FX_KILL);
}

static unsigned crash_ready(struct qn_instance *in)
{
    return drain(in, QN_INST_END_CRASH, QN_FX_KILL);
}

/* The child gets no new job, but its running jobs may end well. */
static unsigned distrust(struct qn_instance *in)
{
    return drain(in, QN_INST_END_CRASH, QN_FX_STOP);
}

static unsigned term(struct qn_instance *in)
{
    (void)in;
    return QN_FX_TERM;
}

static unsigned kill_now(struct qn_instance *in)
{
    (void)in;
    return QN_FX_KILL;
}

/* ---- ready ---- */

static unsigned become_ready(struct qn_instance *in)
{
    in->state = QN_INST_READY;
    in->failed_loads = 0;
    in->wanted = false;
    return 0;
}

static unsigned healthy(struct qn_instance *in)
{
    in->backoff_ms = 0;
    in->crashes = 0;
    return 0;
}

/* ---- the process has ended ---- */

static unsigned fail(struct qn_instance *in)
{
    in->state = QN_INST_FAILED;
    in->wanted = false;
    return 0;
}

static unsigned restart_or_rest(struct qn_instance *in)
{
    int64_t twice = in->backoff_ms > 0 ? 2 * in->backoff_ms : QN_INST_BACKOFF_FIRST_MS;
    in->backoff_ms = twice < QN_INST_BACKOFF_MAX_MS ? twice : QN_INST_BACKOFF_MAX_MS;
    in->crashes++;
    if (in->wanted || in->pinned)
        return back_off(in);
    in->state = QN_INST_STOPPED;
    return 0;
}

static unsigned exited_loading(struct qn_instance *in)
{
    in->failed_loads++;
    if (in->failed_loads < QN_INST_FAILED_LOADS_MAX)
        return restart_or_rest(in);
    in->crashes++;
    return fail(in);
}

static unsigned exited_draining(struct qn_instance *in)
{
    switch (in->end) {
    case QN_INST_END_CRASH:
        return restart_or_rest(in);
    case QN_INST_END_FAILED:
        return exited_loading(in);
    case QN_INST_END_REFUSED:
        return fail(in);
    case QN_INST_END_ASKED:
        break;
    }
    bool again = in->wanted;
    forget(in);
    return again ? want_stopped(in) : 0;
}

/* clang-format off */
static const cell_fn table[QN_INST_STATE_COUNT][QN_INST_EVENT_COUNT] = {
    [QN_INST_STOPPED] = {
        [QN_INST_WANT] = want_stopped,
        [QN_INST_STOP] = forget,
    },
    [QN_INST_LOADING] = {
        [QN_INST_WANT] = want_later,
        [QN_INST_UNWANT] = unwant,
        [QN_INST_STOP] = stop_loading,
        [QN_INST_CHILD_READY] = become_ready,
        [QN_INST_CHILD_FAILED] = load_failed,
        [QN_INST_CHILD_REFUSED] = load_refused,
        [QN_INST_UNHEALTHY] = load_hangs,
        [QN_INST_EXITED] = exited_loading,
    },
    [QN_INST_READY] = {
        [QN_INST_STOP] = stop_ready,
        [QN_INST_CHILD_FAILED] = crash_ready,
        [QN_INST_CHILD_REFUSED] = crash_ready,
        [QN_INST_UNHEALTHY] = crash_ready,
        [QN_INST_BROKEN] = distrust,
        [QN_INST_EXITED] = restart_or_rest,
        [QN_INST_HEALTHY] = healthy,
    },
    [QN_INST_DRAINING] = {
        [QN_INST_WANT] = want_later,
        [QN_INST_UNWANT] = unwant,
        [QN_INST_STOP] = stop_draining,
        [QN_INST_UNHEALTHY] = kill_now,
        [QN_INST_EXITED] = exited_draining,
        [QN_INST_GRACE_OVER] = term,
        [QN_INST_TERM_OVER] = kill_now,
    },
    [QN_INST_BACKOFF] = {
        [QN_INST_WANT] = want_later,
        [QN_INST_UNWANT] = unwant_backoff,
        [QN_INST_UNPINNED] = rest_unless_wanted,
        [QN_INST_STOP] = forget,
        [QN_INST_BACKOFF_OVER] = spawn,
    },
    [QN_INST_FAILED] = {
        [QN_INST_WANT] = want_failed,
        [QN_INST_STOP] = forget,
    },
};
/* clang-format on */

unsigned qn_instance_step(struct qn_instance *in, enum qn_inst_event ev)
{
    cell_fn cell = table[in->state][ev];
    return cell ? cell(in) : 0;
}

const char *qn_inst_state_name(enum qn_inst_state s)
{
    static const char *const names[QN_INST_STATE_COUNT] = {"stopped",  "loading", "ready",
                                                           "draining", "backoff", "failed"};
    return names[s];
}

const char *qn_inst_event_name(enum qn_inst_event ev)
{
    static const char *const names[QN_INST_EVENT_COUNT] = {
        "want",         "unwant",        "unpinned",  "stop",   "child_ready",
        "child_failed", "child_refused", "unhealthy", "broken", "exited",
        "backoff_over", "grace_over",    "term_over", "healthy"};
    return names[ev];
}
