/* One request: receiving, delivery to its handler, end.
 *
 * A request is finished once its handler must not be called any more: after a whole reply, the end
 * of its stream, abort, or gone. */
#include "io/http_server_private.h"

#include "base/clock.h"
#include "base/log.h"
#include "io/http_target.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    REQUEST_ARENA_MAX = 512 * 1024 * 1024,
    UPGRADE_ARENA_MAX = 64 * QN_HTTP_HEAD_MAX /* a head's fields, each looked up a few times */
};

bool qn_request_finished(const struct qn_http *h)
{
    return h->done || (h->stream && qn_stream_closed(h->stream));
}

void qn_request_tell_gone(struct qn_http *h)
{
    if (qn_request_finished(h))
        return;
    h->done = true;
    if (h->gone)
        h->gone(h->gone_ctx);
}

/* ---- the head ---- */

/* Splits the arena's copy of a valid head into names and values. */
static void read_fields(struct qn_http *h, char *p, size_t n, size_t fields)
{
    char *end = p + n, *nl;
    bool first = true;
    h->fields = qn_arena_alloc(h->arena, (fields + 1) * sizeof *h->fields);
    for (; p < end && (nl = memchr(p, '\n', (size_t)(end - p))) != NULL; p = nl + 1) {
        char *last = nl;
        while (last > p && (last[-1] == '\r' || last[-1] == ' ' || last[-1] == '\t'))
            last--;
        char *colon = memchr(p, ':', (size_t)(last - p));
        if (last == p)
            continue; /* empty lines before the request line, and the final one */
        if (first) {
            first = false;
            continue;
        }
        assert(colon && h->n_fields < fields);
        *colon = *last = '\0';
        h->fields[h->n_fields++] =
            (struct qn_http_field){.name = p, .value = colon + 1 + strspn(colon + 1, " \t")};
    }
}

/* Offers a request that asks for another protocol to ev.upgrade; true: the callback has taken the
 * socket. */
static bool upgraded(struct qn_link *l)
{
    struct qn_http_server *s = l->server;
    const struct qn_head *head = &l->in.head;
    if (!head->framing.upgrade || l->narrow || !s->ev.upgrade || !qn_reader_has_end(&l->in))
        return false;
    struct qn_arena *arena = qn_arena_new(UPGRADE_ARENA_MAX);
    struct qn_http_upgrade u = {.protocol =
                                    qn_head_field(l->in.bytes.data, head->len, "Upgrade", arena),
                                .method = head->method,
                                .head = l->in.bytes.data,
                                .head_len = head->len,
                                .tag = l->tag,
                                .arena = arena,
                                .link = l};
    char *path, *query;
    bool taken = false;
    if (qn_target_split(head->target, head->target_len, arena, &path, &query)) {
        u.path = path;
        u.query = query;
        taken = s->ev.upgrade(s->ctx, &u);
        assert(taken == (l->fd < 0));
    }
    qn_arena_free(arena);
    return taken;
}

int qn_http_upgrade_take(struct qn_http_upgrade *u, struct qn_buf *behind)
{
    struct qn_link *l = u->link;
    int fd = l->fd;
    qn_watch_remove(l->watch);
    l->watch = NULL;
    l->fd = -1;
    qn_buf_add(behind, l->input, l->input_len);
    return fd;
}

const char *qn_http_upgrade_header(const struct qn_http_upgrade *u, const char *name)
{
    return qn_head_field(u->head, u->head_len, name, u->arena);
}

static struct qn_http *request_new(struct qn_link *l)
{
    const struct qn_head *head = &l->in.head;
    struct qn_http *h = qn_xcalloc(1, sizeof *h);
    h->server = l->server;
    h->link = l;
    h->arena = qn_arena_new(REQUEST_ARENA_MAX);
    h->headers_end = &h->headers;
    h->method = qn_arena_strdup(h->arena, head->method);
    h->minor = head->minor;
    h->keep_alive =
        head->minor > 0 ? !head->framing.close : head->framing.keep_alive && !head->framing.close;
    h->head_only = strcmp(h->method, "HEAD") == 0;
    h->body = qn_xcalloc(1, sizeof *h->body);
    qn_body_init(h->body, l->server->body_max);
    return h;
}

/* Delivers the request to its handler. */
static enum qn_next deliver(struct qn_http *h)
{
    struct qn_http_server *s = h->server;
    h->delivered = true;
    h->link->pace.rule = NULL;
    h->next = s->requests;
    if (s->requests)
        s->requests->prev = h;
    s->requests = h;
    s->active++;
    s->ev.request(s->ctx, h);
    return QN_GO_ON;
}

bool qn_request_listens(const struct qn_http *h)
{
    return h->open && !h->complete && h->piece && !h->held_back && !h->aborted &&
           !qn_request_finished(h);
}

/* Refuses a body that is too long, with the limit if it is not the setting. */
static enum qn_next refuse_length(struct qn_http *h)
{
    char why[80];
    if (!h->body->dir)
        return qn_link_refuse(h->link, 413, NULL);
    snprintf(why, sizeof why, "at most %zu bytes are possible here", h->body->max);
    return qn_link_refuse(h->link, 413, why);
}

/* Decides from the head where the body goes, and refuses it if it is too large. */
static enum qn_next look_at_body(struct qn_http *h, const struct qn_framing *f)
{
    struct qn_http_server *s = h->server;
    struct qn_link *l = h->link;
    struct qn_body *b = h->body;
    const char *why;
    h->open = s->ev.open_body && s->ev.open_body(s->ctx, h);
    if (h->open)
        return deliver(h);
    size_t max = 0;
    if (s->ev.large_body)
        b->dir = s->ev.large_body(s->ctx, h, &max, &b->reserve_bytes);
    if (b->dir)
        b->max = max > 0 ? max : SIZE_MAX / 2;
    if (f->has_length && (uint64_t)f->length > b->max)
        return refuse_length(h);
    if (qn_reader_has_end(&l->in))
        return QN_GO_ON;
    h->unwanted = s->ev.unwanted_body && s->ev.unwanted_body(s->ctx, h);
    if (!h->unwanted && b->dir && !qn_request_may_upload(h))
        return qn_link_refuse(l, 429, "too many uploads of this owner are in progress");
    b->announced = f->has_length ? (size_t)f->length : 0;
    if (!h->unwanted && b->dir && !qn_request_may_keep(h, &why))
        return qn_link_refuse(l, 507, why);
    if (!h->unwanted && !b->dir && f->has_length && !qn_request_grant(h, (int64_t)f->length))
        return qn_link_refuse(l, 429, NULL);
    qn_pace_begin(&l->pace, b->dir ? &qn_http_large_rule : &qn_http_body_rule, qn_now_ms());
    static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
    if (f->expects_continue && h->minor > 0 && l->input_len == 0)
        qn_link_send(l, go_on, sizeof go_on - 1, NULL, 0);
    return QN_GO_ON;
}

enum qn_next qn_request_begin(struct qn_link *l)
{
    const struct qn_head *head = &l->in.head;
    if (upgraded(l))
        return QN_OVER;
    struct qn_http *h = l->http = request_new(l);
    if (!qn_target_split(head->target, head->target_len, h->arena, &h->path, &h->query)) {
        h->path = NULL;
        return qn_link_refuse(l, 400,
                              "the request's target has a malformed escape or is not UTF-8");
    }
    read_fields(h, qn_arena_strndup(h->arena, l->in.bytes.data, head->len), head->len,
                head->fields);
    const struct qn_framing framing = head->framing;
    qn_reader_drop_head(&l->in);
    if (l->narrow) {
        if (!l->server->ev.vital || !l->server->ev.vital(l->server->ctx, h))
            return qn_link_refuse(l, 503, NULL);
        h->keep_alive = false;
    }
    return look_at_body(h, &framing);
}

/* ---- the body ---- */

static void store(void *ctx)
{
    struct storing *w = ctx;
    (void)qn_body_store(w->body, &w->error); /* stored() checks w->error */
}

static void body_free(struct qn_body *b)
{
    qn_body_deinit(b);
    free(b);
}

static void stored(void *ctx)
{
    struct storing *w = ctx;
    struct qn_http *h = w->http;
    if (!h) {
        body_free(w->body);
        free(w);
        return;
    }
    h->storing = NULL;
    qn_pace_pardon(&h->link->pace, qn_now_ms() - w->began_ms);
    if (w->error.code) {
        qn_warn("http", "path=%s refused: %s", h->path, w->error.message);
        h->store_failed = w->error.code == QN_ELIMIT ? 507 : 500;
    }
    free(w);
    qn_server_wake(h->link);
}

/* Has a worker move the body's memory to the file; the connection waits for it. */
void qn_request_store(struct qn_http *h)
{
    struct storing *w = qn_xcalloc(1, sizeof *w);
    w->http = h;
    w->body = h->body;
    w->began_ms = qn_now_ms();
    h->storing = w;
    qn_loop_work(h->server->loop, store, stored, w);
}

/* True when the last n bytes took a body without Content-Length across a megabyte boundary. */
static bool is_at_megabyte(const struct qn_http *h, size_t n)
{
    const struct qn_body *b = h->body;
    return b->dir && !b->announced && (b->len ^ (b->len - n)) >> 20;
}

enum qn_next qn_request_data(struct qn_http *h, const char *p, size_t n)
{
    struct qn_error e;
    const char *why;
    if (h->open) {
        h->piece(h->piece_ctx, p, n);
        return QN_GO_ON;
    }
    qn_pace_move(&h->link->pace, n, qn_now_ms());
    if (h->unwanted && n <= h->body->max - h->thrown) {
        h->thrown += n;
        return QN_GO_ON;
    }
    if (!h->unwanted && !h->body->dir && !qn_request_grant_on(h, (int64_t)(h->body->len + n)))
        return qn_link_refuse(h->link, 429, NULL);
    if (h->unwanted || qn_body_add(h->body, p, n, &e))
        return refuse_length(h);
    if (is_at_megabyte(h, n) && !qn_request_may_keep(h, &why))
        return qn_link_refuse(h->link, 507, why);
    return QN_GO_ON;
}

enum qn_next qn_request_end(struct qn_http *h)
{
    struct qn_error e;
    h->complete = true;
    if (h->open) {
        h->piece(h->piece_ctx, NULL, 0);
        return QN_GO_ON;
    }
    if (qn_body_unstored(h->body)) {
        qn_request_store(h);
        return QN_WAIT;
    }
    if (qn_body_finish(h->body, &h->body_data, &h->body_len, &e)) {
        qn_error_log("http", "%s", e.message);
        return qn_link_refuse(h->link, 500, NULL);
    }
    return deliver(h);
}

void qn_request_free(struct qn_http *h)
{
    struct qn_http_server *s = h->server;
    if (h->delivered) {
        if (h->prev)
            h->prev->next = h->next;
        else
            s->requests = h->next;
        if (h->next)
            h->next->prev = h->prev;
        s->active--;
    }
    qn_stream_free(h->stream);
    if (h->storing)
        h->storing->http = NULL;
    else
        body_free(h->body);
    qn_arena_free(h->arena);
    free(h);
}

/* ---- the public functions ---- */

const char *qn_http_method(const struct qn_http *h)
{
    return h->method;
}

const char *qn_http_path(const struct qn_http *h)
{
    return h->path;
}

const char *qn_http_raw_query(const struct qn_http *h)
{
    return h->query;
}

const char *qn_http_query(const struct qn_http *h, const char *name)
{
    return qn_query_find(h->query, name, h->arena);
}

/* Joins the next field of the same name to field i; false: there is none. */
static bool join(const struct qn_http *h, size_t i)
{
    for (size_t k = i + 1; k < h->n_fields; k++) {
        struct qn_http_field *f = &h->fields[k];
        if (!f->name || strcasecmp(f->name, h->fields[i].name) != 0)
            continue;
        h->fields[i].value = qn_arena_fmt(h->arena, "%s, %s", h->fields[i].value, f->value);
        f->name = NULL;
        return true;
    }
    return false;
}

const char *qn_http_header(const struct qn_http *h, const char *name)
{
    for (size_t i = 0; i < h->n_fields; i++) {
        if (!h->fields[i].name || strcasecmp(h->fields[i].name, name) != 0)
            continue;
        while (join(h, i))
            ;
        return h->fields[i].value;
    }
    return NULL;
}

int qn_http_tag(const struct qn_http *h)
{
    return h->link->tag;
}

bool qn_http_ends(const struct qn_http *h, struct qn_http_ends *out)
{
    return qn_link_ends(h->link, out);
}

bool qn_http_upgrade_ends(const struct qn_http_upgrade *u, struct qn_http_ends *out)
{
    return qn_link_ends(u->link, out);
}

void qn_http_set_about(struct qn_http *h, const void *about)
{
    h->about = about;
}

const void *qn_http_about(const struct qn_http *h)
{
    return h->about;
}

qn_err qn_http_body_keep(struct qn_http *h, const char *path, struct qn_error *e)
{
    if (h->body->fd < 0)
        return qn_fail(e, QN_EBUSY, "the request's body was not stored: try again");
    return qn_body_keep(h->body, path, e);
}

const char *qn_http_body(const struct qn_http *h, size_t *n)
{
    *n = h->body_len;
    return h->body_data;
}

struct qn_body *qn_http_body_take(struct qn_http *h, const char **data, size_t *n)
{
    struct qn_body *taken = h->body;
    *data = h->body_data;
    *n = h->body_len;
    h->body = qn_xcalloc(1, sizeof *h->body);
    qn_body_init(h->body, h->server->body_max);
    h->body_data = "";
    h->body_len = 0;
    return taken;
}

void qn_http_body_read(struct qn_http *h, qn_http_body_fn fn, void *ctx)
{
    h->piece = fn;
    h->piece_ctx = ctx;
    qn_server_wake(h->link);
}

void qn_http_body_pause(struct qn_http *h, bool paused)
{
    if (h->held_back == paused)
        return;
    h->held_back = paused;
    if (!paused)
        qn_server_wake(h->link);
}

bool qn_http_body_thrown(const struct qn_http *h)
{
    return h->unwanted;
}

struct qn_arena *qn_http_arena(struct qn_http *h)
{
    return h->arena;
}

void qn_http_on_gone(struct qn_http *h, void (*gone)(void *ctx), void *ctx)
{
    h->gone = gone;
    h->gone_ctx = ctx;
}
