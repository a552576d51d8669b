/* The list of connections: accepting, limits, timeouts, and the scheduling of turns. http_link.c
 * handles a single connection. */
#include "io/http_server_private.h"

#include "base/clock.h"
#include "base/log.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

enum {
    SWEEP_MS = 1000,
    LOST_SWEEPS = 10,    /* from one check of all connections by qn_link_is_lost to the next */
    IDLE_MS = 75 * 1000, /* between requests */
    LINGER_MS = 10 * 1000,
    BODY_STALL_MS = 60 * 1000,
    BODY_GRACE_MS = 60 * 1000,
    BODY_TOTAL_MS = 60 * 60 * 1000,
    LARGE_TOTAL_MS = 7 * 24 * 60 * 60 * 1000, /* for a kept body: a model over a slow connection */
    SEND_STALL_MS = 300 * 1000,
    SEND_GRACE_MS = 300 * 1000,
    NARROW_MS = 5 * 1000, /* for the first head on a connection beyond the limits */
    ROOM_WAIT_MS = 2000,  /* time without progress after which a connection may be replaced */
    CROWD_FROM = 64       /* clients are not told apart while there are fewer connections */
};

const struct qn_pace_rule qn_http_head_rule = {.total_ms = QN_HTTP_HEAD_TIMEOUT_S * 1000};
const struct qn_pace_rule qn_http_idle_rule = {.total_ms = IDLE_MS};
const struct qn_pace_rule qn_http_body_rule = {
    .stall_ms = BODY_STALL_MS, .grace_ms = BODY_GRACE_MS, .total_ms = BODY_TOTAL_MS};
const struct qn_pace_rule qn_http_large_rule = {
    .stall_ms = BODY_STALL_MS, .grace_ms = BODY_GRACE_MS, .total_ms = LARGE_TOTAL_MS};
const struct qn_pace_rule qn_http_send_rule = {.stall_ms = SEND_STALL_MS,
                                               .grace_ms = SEND_GRACE_MS};
const struct qn_pace_rule qn_http_narrow_rule = {.total_ms = NARROW_MS};
const struct qn_pace_rule qn_http_linger_rule = {.total_ms = LINGER_MS};

/* ---- turns ---- */

static void unready(struct qn_link *l)
{
    struct qn_http_server *s = l->server;
    if (!l->ready)
        return;
    if (l->ready_prev)
        l->ready_prev->ready_next = l->ready_next;
    else
        s->ready = l->ready_next;
    if (l->ready_next)
        l->ready_next->ready_prev = l->ready_prev;
    else
        s->ready_last = l->ready_prev;
    l->ready_prev = l->ready_next = NULL;
    l->ready = false;
    s->n_ready--;
}

static void on_turns(void *ctx);

static void start_turns(struct qn_http_server *s)
{
    if (s->ready && !s->turns)
        s->turns = qn_timer_start(s->loop, 0, 0, on_turns, s);
}

/* Runs the links that are ready now; links that become ready meanwhile wait for the loop's next
 * turn. */
static void on_turns(void *ctx)
{
    struct qn_http_server *s = ctx;
    qn_timer_stop(s->turns);
    s->turns = NULL;
    for (size_t i = s->n_ready; i > 0 && s->ready; i--) {
        struct qn_link *l = s->ready;
        unready(l);
        qn_link_turn(l, false);
    }
    start_turns(s);
}

void qn_server_wake(struct qn_link *l)
{
    struct qn_http_server *s = l->server;
    if (l->ready)
        return;
    l->ready = true;
    l->ready_prev = s->ready_last;
    if (s->ready_last)
        s->ready_last->ready_next = l;
    else
        s->ready = l;
    s->ready_last = l;
    s->n_ready++;
    start_turns(s);
}

void qn_server_forget(struct qn_link *l)
{
    struct qn_http_server *s = l->server;
    unready(l);
    if (l->prev)
        l->prev->next = l->next;
    else
        s->links = l->next;
    if (l->next)
        l->next->prev = l->prev;
    s->n_links--;
    s->n_lingering -= l->lingering;
    s->n_narrow -= l->narrow;
}

void qn_server_widen(struct qn_link *l)
{
    l->server->n_narrow -= l->narrow;
    l->narrow = false;
}

const char *qn_server_date(struct qn_http_server *s)
{
    static const char days[] = "SunMonTueWedThuFriSat",
                      months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    time_t now = (time_t)(qn_wall_ms() / 1000);
    struct tm t;
    if (now == s->date_s || !gmtime_r(&now, &t))
        return s->date;
    s->date_s = now;
    strftime(s->date, sizeof s->date, "xxx, %d xxx %Y %H:%M:%S GMT", &t);
    memcpy(s->date, &days[3 * t.tm_wday], 3); /* English, whatever the locale */
    memcpy(s->date + 8, &months[3 * t.tm_mon], 3);
    return s->date;
}

/* ---- limits ---- */

static void on_sweep(void *ctx)
{
    struct qn_http_server *s = ctx;
    int64_t now = qn_now_ms();
    bool looks = ++s->sweeps >= LOST_SWEEPS;
    if (looks)
        s->sweeps = 0;
    for (struct qn_link *l = s->links, *next; l; l = next) {
        next = l->next;
        bool late = qn_pace_is_late(&l->pace, now);
        if ((l->http && l->http->storing) || !(late || (looks && qn_link_is_lost(l))))
            continue;
        qn_debug("http", "connection closed: its client %s",
                 late ? "is too slow" : "does not answer any more");
        qn_link_free(l);
    }
    qn_server_relieve(s, now);
    if (s->n_links < CROWD_FROM)
        s->warned = false;
    if (!s->links) {
        qn_timer_stop(s->sweep);
        s->sweep = NULL;
    }
}

/* Refused and narrow connections are not counted, so that any number of them does not keep others
 * out. */
static bool is_full(const struct qn_http_server *s)
{
    return s->n_links - s->n_lingering - s->n_narrow > QN_HTTP_CONNECTIONS_MAX;
}

static bool is_crowded(const struct qn_http_server *s, uint64_t crowd)
{
    size_t n = 0;
    for (const struct qn_link *l = s->links; crowd && l; l = l->next)
        n += l->crowd == crowd && !l->lingering && !l->narrow;
    return n > QN_HTTP_CROWD_MAX;
}

/* True when a connection may be replaced: at once if it is idle between two requests, since RFC
 * 9112, 9.3 lets a server close it at any time; otherwise if its client has something to do and has
 * made no progress for ROOM_WAIT_MS. */
static bool may_go(const struct qn_link *l, int64_t now)
{
    if (l->lingering || l->narrow || !l->pace.rule || (l->http && l->http->storing))
        return false;
    return l->pace.rule == &qn_http_idle_rule ? !l->ready
                                              : now - l->pace.progress_ms >= ROOM_WAIT_MS;
}

/* The connection that may be replaced and has made no progress for longest: of the client `crowd`,
 * or of all clients if it is 0; NULL: there is none. Newer links come first in the list. */
static struct qn_link *longest_waiting(const struct qn_http_server *s, uint64_t crowd, int64_t now)
{
    struct qn_link *oldest = NULL;
    for (struct qn_link *l = s->links; l; l = l->next)
        if ((!crowd || l->crowd == crowd) && may_go(l, now) &&
            (!oldest || l->pace.progress_ms <= oldest->pace.progress_ms))
            oldest = l;
    return oldest;
}

/* Closes the connection that may be replaced and has made no progress for longest. False: there is
 * none. */
static bool make_room(struct qn_http_server *s, uint64_t crowd)
{
    struct qn_link *l;
    int64_t now = qn_now_ms();
    char byte;
    while ((l = longest_waiting(s, crowd, now)) != NULL) {
        if (l->pace.rule != &qn_http_idle_rule ||
            recv(l->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) <= 0) {
            qn_link_free(l);
            return true;
        }
        /* The connection is not idle: its next request has just arrived. */
        qn_pace_begin(&l->pace, &qn_http_head_rule, now);
    }
    return false;
}

/* Closes the oldest narrow connection whose head is not complete, for a newer one. */
static bool make_narrow_room(struct qn_http_server *s)
{
    struct qn_link *oldest = NULL;
    for (struct qn_link *l = s->links; l; l = l->next)
        if (l->narrow && l->pace.rule == &qn_http_narrow_rule)
            oldest = l;
    if (oldest)
        qn_link_free(oldest);
    return oldest != NULL;
}

/* Accepts a new connection, as narrow if the limits are reached, or refuses it, which MAY free it.
 */
static void place(struct qn_http_server *s, struct qn_link *l)
{
    struct qn_http_ends ends;
    if (s->ev.crowd && s->n_links > CROWD_FROM && qn_link_ends(l, &ends))
        l->crowd = s->ev.crowd(s->ctx, &ends);
    bool fits = !is_crowded(s, l->crowd) || make_room(s, l->crowd);
    if (fits && (!is_full(s) || make_room(s, 0)))
        return;
    if (!s->warned)
        qn_warn("http", "too many connections limit=%d of_one_client=%d", QN_HTTP_CONNECTIONS_MAX,
                QN_HTTP_CROWD_MAX);
    s->warned = true; /* until there are few connections again */
    bool free_place = s->n_narrow < QN_HTTP_VITAL_MAX || make_narrow_room(s);
    l->narrow = free_place;
    s->n_narrow += free_place;
    qn_pace_begin(&l->pace, &qn_http_narrow_rule, qn_now_ms());
    if (!free_place && qn_link_refuse(l, 503, NULL) == QN_OVER)
        qn_link_free(l);
}

void qn_http_server_add(struct qn_http_server *s, int fd, const void *addr, unsigned addr_len,
                        int tag)
{
    assert(addr_len <= sizeof(struct sockaddr_storage));
    struct qn_link *l = qn_xcalloc(1, sizeof *l);
    *l = (struct qn_link){.server = s, .fd = fd, .addr_len = addr_len, .tag = tag};
    memcpy(&l->addr, addr, addr_len);
    l->next = s->links;
    if (s->links)
        s->links->prev = l;
    s->links = l;
    s->n_links++;
    if (!s->sweep)
        s->sweep = qn_timer_start(s->loop, SWEEP_MS, SWEEP_MS, on_sweep, s);
    struct qn_error e;
    if (qn_link_open(l, &e)) {
        qn_error_log("http", "%s", e.message);
        qn_link_free(l);
        return;
    }
    place(s, l);
}

/* ---- creation and end ---- */

qn_err qn_http_server_new(struct qn_loop *l, const struct qn_http_events *ev, void *ctx,
                          size_t body_max, struct qn_http_server **out, struct qn_error *e)
{
    (void)e;
    struct qn_http_server *s = qn_xcalloc(1, sizeof *s);
    s->loop = l;
    s->ev = *ev;
    s->ctx = ctx;
    s->body_max = body_max;
    s->held_max = QN_HTTP_HELD_BYTES;
    s->unread_ms = QN_HTTP_UNREAD_MS;
    if (body_max > (size_t)s->held_max / QN_HTTP_HELD_BODIES)
        s->held_max = (int64_t)body_max * QN_HTTP_HELD_BODIES;
    *out = s;
    return QN_OK;
}

void qn_http_server_set_budget(struct qn_http_server *s, int64_t bytes, int64_t unread_ms)
{
    s->held_max = bytes;
    s->unread_ms = unread_ms;
}

size_t qn_http_server_active(const struct qn_http_server *s)
{
    return s->active;
}

void qn_http_server_free(struct qn_http_server *s)
{
    if (!s)
        return;
    while (s->links)
        qn_link_free(s->links);
    qn_timer_stop(s->turns);
    qn_timer_stop(s->sweep);
    free(s);
}
