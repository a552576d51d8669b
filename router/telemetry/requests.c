/* See requests.h. */
#include "telemetry/requests.h"

#include "base/buf.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

enum { MINUTE_MS = 60 * 1000 };

/* Captured texts of one request. round: of the switch; texts of an earlier round are dropped. */
struct qn_capture {
    unsigned round;
    bool has_body;
    struct qn_buf body, reply;
    int64_t body_bytes, reply_bytes; /* of the whole texts */
};

struct entry {
    struct qn_request_facts facts;
    struct qn_capture *texts; /* NULL: none */
    char strings[];           /* of facts */
};

struct qn_requests {
    struct entry *ring[QN_REQUESTS_KEPT];
    int64_t last;    /* number of the newest entry */
    int64_t dropped; /* entries up to this number have no texts */
    bool on;
    unsigned round;
    int64_t limit, used; /* bytes of all texts */
    int64_t until_ms;    /* when capturing ends, by qn_now_ms */
};

const char *qn_request_end_name(enum qn_request_end end)
{
    static const char *const names[] = {"completed", "failed", "cancelled"};
    return names[end];
}

struct qn_requests *qn_requests_new(void)
{
    return qn_xcalloc(1, sizeof(struct qn_requests));
}

static void capture_free(struct qn_requests *r, struct qn_capture *c)
{
    if (!c)
        return;
    r->used -= (int64_t)(c->body.len + c->reply.len);
    qn_buf_deinit(&c->body);
    qn_buf_deinit(&c->reply);
    free(c);
}

static struct entry **place(struct qn_requests *r, int64_t seq)
{
    return &r->ring[seq % QN_REQUESTS_KEPT];
}

/* The number of the oldest entry in the ring. */
static int64_t first(const struct qn_requests *r)
{
    return r->last > QN_REQUESTS_KEPT ? r->last - QN_REQUESTS_KEPT + 1 : 1;
}

static void drop_texts(struct qn_requests *r, int64_t seq)
{
    struct entry *x = *place(r, seq);
    capture_free(r, x->texts);
    x->texts = NULL;
    r->dropped = seq;
}

static void drop_all_texts(struct qn_requests *r)
{
    for (int64_t seq = r->dropped + 1 > first(r) ? r->dropped + 1 : first(r); seq <= r->last; seq++)
        drop_texts(r, seq);
}

void qn_requests_free(struct qn_requests *r)
{
    if (!r)
        return;
    drop_all_texts(r);
    for (size_t i = 0; i < QN_REQUESTS_KEPT; i++)
        free(r->ring[i]);
    free(r);
}

void qn_requests_capture_on(struct qn_requests *r, int64_t bytes, int64_t minutes, int64_t now_ms)
{
    r->on = true;
    r->limit = bytes;
    r->until_ms = now_ms + minutes * MINUTE_MS;
    while (r->used > r->limit && r->dropped < r->last)
        drop_texts(r, r->dropped + 1 > first(r) ? r->dropped + 1 : first(r));
}

void qn_requests_capture_off(struct qn_requests *r)
{
    r->on = false;
    r->until_ms = 0;
    r->round++; /* texts of requests that are running are dropped at their end */
    drop_all_texts(r);
}

/* Applies the end of the time for which capturing was switched on, and of the time for which texts
 * stay. */
static void keep_time(struct qn_requests *r, int64_t now_ms)
{
    if (r->on && now_ms >= r->until_ms)
        r->on = false;
    if (r->until_ms && now_ms >= r->until_ms + QN_REQUESTS_STAY_MINUTES * MINUTE_MS)
        qn_requests_capture_off(r);
}

struct qn_capture_state qn_requests_capture_state(struct qn_requests *r, int64_t now_ms)
{
    keep_time(r, now_ms);
    int64_t stay_ms = r->until_ms + QN_REQUESTS_STAY_MINUTES * MINUTE_MS;
    return (struct qn_capture_state){.on = r->on,
                                     .limit = r->limit,
                                     .used = r->used,
                                     .left_ms = r->on ? r->until_ms - now_ms : 0,
                                     .stays_ms = r->until_ms ? stay_ms - now_ms : 0};
}

/* Drops the oldest texts until n more bytes fit; returns how many bytes fit, at most n. */
static size_t make_room(struct qn_requests *r, size_t n)
{
    while (r->used + (int64_t)n > r->limit && r->dropped < r->last)
        drop_texts(r, r->dropped + 1 > first(r) ? r->dropped + 1 : first(r));
    int64_t room = r->limit - r->used;
    return room <= 0 ? 0 : room < (int64_t)n ? (size_t)room : n;
}

static void take(struct qn_requests *r, struct qn_buf *text, const char *bytes, size_t n)
{
    size_t left = text->limit - text->len;
    n = make_room(r, n < left ? n : left);
    if (n == 0 || qn_buf_add(text, bytes, n))
        return;
    r->used += (int64_t)n;
}

struct qn_capture *qn_requests_capture(struct qn_requests *r, const char *text, size_t n,
                                       int64_t now_ms)
{
    if (!r)
        return NULL;
    keep_time(r, now_ms);
    if (!r->on)
        return NULL;
    struct qn_capture *c = qn_xcalloc(1, sizeof *c);
    c->round = r->round;
    qn_buf_init(&c->body, QN_REQUESTS_TEXT_MAX);
    qn_buf_init(&c->reply, QN_REQUESTS_TEXT_MAX);
    c->body_bytes = (int64_t)n;
    c->has_body = text != NULL;
    if (text)
        take(r, &c->body, text, n);
    if (c->body.len)
        qn_requests_hide_secrets(c->body.data, c->body.len);
    return c;
}

void qn_requests_capture_reply(struct qn_requests *r, struct qn_capture *c, const char *bytes,
                               size_t n)
{
    if (!c || !n)
        return;
    /* nothing after a gap: what is captured is the beginning */
    if (c->round == r->round && c->reply_bytes == (int64_t)c->reply.len)
        take(r, &c->reply, bytes, n);
    c->reply_bytes += (int64_t)n;
}

/* Copies a string to *at, and moves *at behind it. */
static const char *put(char **at, const char *s)
{
    size_t n = strlen(s) + 1;
    char *to = memcpy(*at, s, n);
    *at += n;
    return to;
}

void qn_requests_add(struct qn_requests *r, const struct qn_request_facts *facts,
                     struct qn_capture *c)
{
    if (!r)
        return;
    if (c && c->round != r->round) {
        capture_free(r, c);
        c = NULL;
    }
    const struct qn_request_facts *f = facts;
    size_t n = strlen(f->id) + strlen(f->owner) + strlen(f->client) + strlen(f->path) +
               strlen(f->task) + strlen(f->model) + strlen(f->error) + 7;
    struct entry *x = qn_xcalloc(1, sizeof *x + n), **at;
    char *text = x->strings;
    x->facts = *f;
    x->texts = c;
    x->facts.id = put(&text, f->id);
    x->facts.owner = put(&text, f->owner);
    x->facts.client = put(&text, f->client);
    x->facts.path = put(&text, f->path);
    x->facts.task = put(&text, f->task);
    x->facts.model = put(&text, f->model);
    x->facts.error = put(&text, f->error);
    if (r->last >= QN_REQUESTS_KEPT && r->dropped < first(r))
        drop_texts(r, first(r));
    x->facts.seq = ++r->last;
    at = place(r, r->last);
    free(*at);
    *at = x;
}

int64_t qn_requests_last(const struct qn_requests *r)
{
    return r->last;
}

static void give(const struct qn_buf *text, int64_t bytes, struct qn_captured *out)
{
    out->text = text->data ? text->data : "";
    out->n = text->len;
    out->bytes = bytes;
}

const struct qn_request_facts *qn_requests_at(struct qn_requests *r, int64_t seq, const char *owner,
                                              struct qn_captured *body, struct qn_captured *reply,
                                              int64_t now_ms)
{
    keep_time(r, now_ms);
    if (body)
        *body = (struct qn_captured){0};
    if (reply)
        *reply = (struct qn_captured){0};
    if (seq < first(r) || seq > r->last)
        return NULL;
    const struct entry *x = *place(r, seq);
    if (owner && !qn_str_eq(x->facts.owner, owner))
        return NULL;
    if (x->texts && body) {
        give(&x->texts->body, x->texts->body_bytes, body);
        if (!x->texts->has_body)
            body->text = NULL;
    }
    if (x->texts && reply)
        give(&x->texts->reply, x->texts->reply_bytes, reply);
    return &x->facts;
}

int64_t qn_requests_find(const struct qn_requests *r, const char *id)
{
    for (int64_t seq = r->last; seq >= first(r); seq--)
        if (qn_str_eq(r->ring[seq % QN_REQUESTS_KEPT]->facts.id, id))
            return seq;
    return 0;
}
