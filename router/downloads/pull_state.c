/* The table of a download job's life cycle. An empty cell means that the event has no effect in
 * that state. */
#include "downloads/pull_state.h"

#include "base/str.h"

#include <stddef.h>

typedef unsigned (*cell_fn)(struct qn_pull_machine *m);

enum { OVER = QN_PULL_FX_SAVE | QN_PULL_FX_TELL };

static unsigned go(struct qn_pull_machine *m, enum qn_pull_state next, unsigned effects)
{
    m->state = next;
    return effects;
}

unsigned qn_pull_begin(struct qn_pull_machine *m)
{
    return m->planned ? go(m, QN_PULL_WAITING, QN_PULL_FX_SAVE)
                      : go(m, QN_PULL_RESOLVING, QN_PULL_FX_SAVE | QN_PULL_FX_RESOLVE);
}

/* ---- steps that have ended ---- */

static unsigned planned(struct qn_pull_machine *m)
{
    m->planned = true;
    return go(m, QN_PULL_WAITING, QN_PULL_FX_SAVE);
}

static unsigned fetch(struct qn_pull_machine *m)
{
    return go(m, QN_PULL_FETCHING, QN_PULL_FX_FETCH);
}

static unsigned wait_for_others(struct qn_pull_machine *m)
{
    return go(m, QN_PULL_WAITING, 0);
}

static unsigned finish(struct qn_pull_machine *m)
{
    return go(m, QN_PULL_FINISHING, QN_PULL_FX_FINISH);
}

static unsigned complete(struct qn_pull_machine *m)
{
    return go(m, QN_PULL_COMPLETED, OVER);
}

static unsigned fail(struct qn_pull_machine *m)
{
    return go(m, QN_PULL_FAILED, OVER);
}

static unsigned paused(struct qn_pull_machine *m)
{
    return go(m, QN_PULL_PAUSED, OVER);
}

static unsigned cancelled(struct qn_pull_machine *m)
{
    return go(m, QN_PULL_CANCELLED, OVER | QN_PULL_FX_DISCARD);
}

static unsigned removed(struct qn_pull_machine *m)
{
    return go(m, QN_PULL_GONE, QN_PULL_FX_DISCARD | QN_PULL_FX_TELL | QN_PULL_FX_FREE);
}

/* ---- requests ---- */

static unsigned stop_to_pause(struct qn_pull_machine *m)
{
    return go(m, QN_PULL_PAUSING, QN_PULL_FX_STOP | QN_PULL_FX_SAVE);
}

static unsigned stop_to_yield(struct qn_pull_machine *m)
{
    return go(m, QN_PULL_YIELDING, QN_PULL_FX_STOP | QN_PULL_FX_SAVE);
}

static unsigned stop_to_cancel(struct qn_pull_machine *m)
{
    return go(m, QN_PULL_CANCELLING, QN_PULL_FX_STOP | QN_PULL_FX_SAVE);
}

static unsigned stop_to_remove(struct qn_pull_machine *m)
{
    return go(m, QN_PULL_REMOVING, QN_PULL_FX_STOP | QN_PULL_FX_SAVE);
}

/* Queries the hub again: the last result was for a job that is over. */
static unsigned anew(struct qn_pull_machine *m)
{
    m->planned = false;
    return qn_pull_begin(m);
}

/* The downloaded files are in use by now and stay. */
static unsigned forget(struct qn_pull_machine *m)
{
    return go(m, QN_PULL_GONE, QN_PULL_FX_FREE);
}

static unsigned refuse(struct qn_pull_machine *m)
{
    (void)m;
    return QN_PULL_FX_REFUSE;
}

/* clang-format off */
static const cell_fn table[QN_PULL_STATE_COUNT][QN_PULL_EVENT_COUNT] = {
    [QN_PULL_RESOLVING] = {
        [QN_PULL_DONE] = planned, [QN_PULL_BAD] = fail, [QN_PULL_STOPPED] = fail,
        [QN_PULL_PAUSE] = stop_to_pause, [QN_PULL_CANCEL] = stop_to_cancel, [QN_PULL_REMOVE] = stop_to_remove},
    [QN_PULL_WAITING] = {
        [QN_PULL_DONE] = finish, [QN_PULL_TURN] = fetch, [QN_PULL_BAD] = fail,
        [QN_PULL_PAUSE] = paused, [QN_PULL_CANCEL] = cancelled, [QN_PULL_REMOVE] = removed},
    [QN_PULL_FETCHING] = {
        [QN_PULL_DONE] = finish, [QN_PULL_PART] = wait_for_others, [QN_PULL_BAD] = fail, [QN_PULL_STOPPED] = fail,
        [QN_PULL_YIELD] = stop_to_yield, [QN_PULL_PAUSE] = stop_to_pause, [QN_PULL_CANCEL] = stop_to_cancel,
        [QN_PULL_REMOVE] = stop_to_remove},
    [QN_PULL_FINISHING] = {
        [QN_PULL_DONE] = complete, [QN_PULL_BAD] = fail, [QN_PULL_STOPPED] = fail,
        [QN_PULL_PAUSE] = refuse, [QN_PULL_CANCEL] = refuse, [QN_PULL_REMOVE] = refuse},
    [QN_PULL_PAUSING] = {
        [QN_PULL_DONE] = paused, [QN_PULL_PART] = paused, [QN_PULL_BAD] = paused, [QN_PULL_STOPPED] = paused,
        [QN_PULL_RESUME] = stop_to_yield, [QN_PULL_AGAIN] = stop_to_yield, [QN_PULL_CANCEL] = stop_to_cancel,
        [QN_PULL_REMOVE] = stop_to_remove},
    [QN_PULL_YIELDING] = {
        [QN_PULL_DONE] = qn_pull_begin, [QN_PULL_PART] = qn_pull_begin, [QN_PULL_BAD] = fail,
        [QN_PULL_STOPPED] = qn_pull_begin, [QN_PULL_PAUSE] = stop_to_pause, [QN_PULL_CANCEL] = stop_to_cancel,
        [QN_PULL_REMOVE] = stop_to_remove},
    [QN_PULL_CANCELLING] = {
        [QN_PULL_DONE] = cancelled, [QN_PULL_PART] = cancelled, [QN_PULL_BAD] = cancelled,
        [QN_PULL_STOPPED] = cancelled, [QN_PULL_PAUSE] = refuse, [QN_PULL_RESUME] = stop_to_yield,
        [QN_PULL_AGAIN] = stop_to_yield, [QN_PULL_REMOVE] = stop_to_remove},
    [QN_PULL_REMOVING] = {
        [QN_PULL_DONE] = removed, [QN_PULL_PART] = removed, [QN_PULL_BAD] = removed, [QN_PULL_STOPPED] = removed,
        [QN_PULL_PAUSE] = refuse, [QN_PULL_RESUME] = stop_to_yield, [QN_PULL_AGAIN] = stop_to_yield},
    [QN_PULL_PAUSED] = {
        [QN_PULL_RESUME] = qn_pull_begin, [QN_PULL_AGAIN] = qn_pull_begin, [QN_PULL_CANCEL] = cancelled,
        [QN_PULL_REMOVE] = removed},
    [QN_PULL_COMPLETED] = {
        [QN_PULL_PAUSE] = refuse, [QN_PULL_RESUME] = refuse, [QN_PULL_AGAIN] = anew, [QN_PULL_CANCEL] = refuse,
        [QN_PULL_REMOVE] = forget},
    [QN_PULL_CANCELLED] = {
        [QN_PULL_PAUSE] = refuse, [QN_PULL_RESUME] = qn_pull_begin, [QN_PULL_AGAIN] = anew,
        [QN_PULL_REMOVE] = forget},
    [QN_PULL_FAILED] = {
        [QN_PULL_PAUSE] = refuse, [QN_PULL_RESUME] = qn_pull_begin, [QN_PULL_AGAIN] = anew,
        [QN_PULL_CANCEL] = cancelled, [QN_PULL_REMOVE] = removed},
};

static const struct {
    const char *name, *status;
    bool at_work, over;
} states[QN_PULL_STATE_COUNT] = {
    [QN_PULL_RESOLVING]  = {"resolving",  "downloading", true,  false},
    [QN_PULL_WAITING]    = {"waiting",    "downloading", false, false},
    [QN_PULL_FETCHING]   = {"fetching",   "downloading", true,  false},
    [QN_PULL_FINISHING]  = {"finishing",  "downloading", true,  false},
    [QN_PULL_PAUSING]    = {"pausing",    "paused",      true,  false},
    [QN_PULL_YIELDING]   = {"yielding",   "downloading", true,  false},
    [QN_PULL_CANCELLING] = {"cancelling", "cancelled",   true,  false},
    [QN_PULL_REMOVING]   = {"removing",   "cancelled",   true,  false},
    [QN_PULL_PAUSED]     = {"paused",     "paused",      false, false},
    [QN_PULL_COMPLETED]  = {"completed",  "completed",   false, true},
    [QN_PULL_CANCELLED]  = {"cancelled",  "cancelled",   false, true},
    [QN_PULL_FAILED]     = {"failed",     "error",       false, true},
    [QN_PULL_GONE]       = {"gone",       "cancelled",   false, true},
};
/* clang-format on */

unsigned qn_pull_step(struct qn_pull_machine *m, enum qn_pull_event ev)
{
    cell_fn cell = table[m->state][ev];
    return cell ? cell(m) : 0;
}

const char *qn_pull_state_name(enum qn_pull_state s)
{
    return states[s].name;
}

const char *qn_pull_event_name(enum qn_pull_event ev)
{
    static const char *const names[QN_PULL_EVENT_COUNT] = {
        [QN_PULL_DONE] = "done",       [QN_PULL_PART] = "part",     [QN_PULL_BAD] = "bad",
        [QN_PULL_STOPPED] = "stopped", [QN_PULL_TURN] = "turn",     [QN_PULL_YIELD] = "yield",
        [QN_PULL_PAUSE] = "pause",     [QN_PULL_RESUME] = "resume", [QN_PULL_AGAIN] = "again",
        [QN_PULL_CANCEL] = "cancel",   [QN_PULL_REMOVE] = "remove"};
    return names[ev];
}

const char *qn_pull_status(enum qn_pull_state s)
{
    return states[s].status;
}

enum qn_pull_state qn_pull_status_parse(const char *status)
{
    for (int s = QN_PULL_PAUSED; s <= QN_PULL_FAILED; s++)
        if (qn_str_eq(states[s].status, status))
            return (enum qn_pull_state)s;
    return QN_PULL_WAITING;
}

bool qn_pull_is_over(enum qn_pull_state s)
{
    return states[s].over;
}

bool qn_pull_is_at_work(enum qn_pull_state s)
{
    return states[s].at_work;
}
