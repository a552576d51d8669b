/* The memory and temporary files that requests hold: bodies that have arrived or are announced,
 * until the request ends, and unread replies. All requests together may hold QN_HTTP_HELD_BYTES. An
 * owner may hold as much as is left for all others, so a single owner gets half, two owners a third
 * each, and there is always space for one more owner. A small share (1/SURE_SHARE) is guaranteed to
 * every owner, whatever the others hold.
 *
 * Totals are computed from the connections when they are needed, so no counter has to be kept up to
 * date. */
#include "io/http_server_private.h"

#include "base/log.h"

enum {
    CALM_SHARE = 8, /* owners are not looked up while the total is below this part of the budget */
    SURE_SHARE = 16,
    STEP_BYTES = QN_BODY_MEMORY_MAX /* step of the reservation of a body without a length */
};

static int64_t held(const struct qn_link *l)
{
    const struct qn_http *h = l->http;
    int64_t n = qn_link_unsent(l);
    if (!h)
        return n;
    return n + h->granted + (h->stream ? (int64_t)qn_stream_len(h->stream) : 0);
}

static int64_t held_by_all(const struct qn_http_server *s)
{
    int64_t n = 0;
    for (const struct qn_link *l = s->links; l; l = l->next)
        n += held(l);
    return n;
}

static uint64_t owner_of(struct qn_http *h)
{
    struct qn_http_server *s = h->server;
    if (!h->owner_known)
        h->owner = s->ev.owner ? s->ev.owner(s->ctx, h) : 0;
    h->owner_known = true;
    return h->owner;
}

static int64_t held_by(const struct qn_http_server *s, uint64_t owner)
{
    int64_t n = 0, x;
    for (const struct qn_link *l = s->links; l; l = l->next)
        if (l->http && (x = held(l)) > 0 && owner_of(l->http) == owner)
            n += x;
    return n;
}

static bool may_hold(struct qn_http *h, int64_t more)
{
    const struct qn_http_server *s = h->server;
    int64_t all = held_by_all(s);
    if (all + more <= s->held_max / CALM_SHARE)
        return true;
    int64_t own = held_by(s, owner_of(h)) + more;
    return own <= s->held_max - all || own <= s->held_max / SURE_SHARE;
}

bool qn_request_grant(struct qn_http *h, int64_t body_bytes)
{
    int64_t more = body_bytes - h->granted;
    if (more <= 0)
        return true;
    if (body_bytes > QN_HTTP_SMALL_BODY && !may_hold(h, more))
        return false;
    h->granted = body_bytes;
    return true;
}

bool qn_request_grant_on(struct qn_http *h, int64_t body_bytes)
{
    if (body_bytes <= h->granted)
        return true;
    return qn_request_grant(h, body_bytes <= QN_HTTP_SMALL_BODY ? QN_HTTP_SMALL_BODY
                                                                : h->granted + STEP_BYTES);
}

bool qn_request_may_upload(struct qn_http *h)
{
    size_t n = 0;
    uint64_t owner = owner_of(h);
    for (const struct qn_link *l = h->server->links; l; l = l->next)
        n += l->http && l->http->body->dir && owner_of(l->http) == owner;
    return n <= QN_HTTP_UPLOADS_MAX; /* the count includes this request */
}

bool qn_request_may_keep(struct qn_http *h, const char **why)
{
    struct qn_http_server *s = h->server;
    uint64_t owner = owner_of(h);
    int64_t wanted = 0;
    *why = NULL;
    if (!s->ev.upload_left)
        return true;
    for (const struct qn_link *l = s->links; l; l = l->next) {
        const struct qn_body *b = l->http && !l->http->delivered ? l->http->body : NULL;
        if (!b || !b->dir || owner_of(l->http) != owner)
            continue;
        int64_t n = (int64_t)(b->announced > b->len ? b->announced : b->len);
        wanted = n > INT64_MAX - wanted ? INT64_MAX : wanted + n;
    }
    return wanted <= s->ev.upload_left(s->ctx, h, wanted, why);
}

/* True when the client has a reply to read and has read less than a kilobyte of it for too long. */
static bool is_unread(const struct qn_link *l, int64_t now_ms)
{
    return l->http && qn_link_owes(l) && l->pace.rule == &qn_http_send_rule &&
           now_ms - l->pace.progress_ms >= l->server->unread_ms;
}

void qn_server_relieve(struct qn_http_server *s, int64_t now_ms)
{
    int64_t all = held_by_all(s);
    for (struct qn_link *l = s->links, *next; l && all > s->held_max / CALM_SHARE; l = next) {
        next = l->next;
        if (!is_unread(l, now_ms) || held_by(s, owner_of(l->http)) <= s->held_max - all)
            continue;
        qn_info("http", "connection closed: its client holds too much memory and does not read");
        all -= held(l);
        qn_link_free(l);
    }
}
