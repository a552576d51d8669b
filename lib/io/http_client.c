/* libcurl's multi interface in our loop: curl names sockets and one timer, we watch them.
 *
 * Invariants: curl's functions are never entered from within one of its callbacks; what a callback
 * of ours asks for meanwhile (start, resume, cancel) is noted and done by a timer of no delay. That
 * also keeps the promise that no callback of a post runs within a qn_http_* call. Connections are
 * not reused: on the loopback a new one costs microseconds, and a stale one costs a failed job. */
#include "io/http_client.h"

#include "base/buf.h"
#include "base/log.h"

#include <assert.h>
#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

enum {
    REPLY_MAX = 64 * 1024, /* of a reply that is not 200 */
    READ_BYTES = 2048,     /* at once; each stream has as much memory */
    CONNECT_MS = 10 * 1000,
    HEADER_MAX = 16 * 1024
};

struct qn_post {
    struct qn_http_client *client;
    struct qn_post *prev, *next;
    struct qn_post_events ev;
    void *ctx;
    CURL *easy;
    struct curl_slist *headers;
    struct sock *sock;   /* NULL: curl watches none for it */
    struct qn_buf reply; /* of a reply that is not 200 */
    bool started;        /* curl has it */
    bool headed;         /* the head has been told */
    bool ended;          /* its end callback is running */
    bool want_paused, paused;
    bool cancelled;
    char why[CURL_ERROR_SIZE];
};

struct qn_http_client {
    struct qn_loop *loop;
    CURLM *multi;
    struct qn_timer *timer;  /* curl's */
    struct qn_timer *chores; /* notes to be carried out */
    int depth;               /* > 0: inside curl */
    struct qn_post *posts;
};

struct sock {
    struct qn_http_client *client;
    struct qn_post *post; /* every request has a connection of its own */
    curl_socket_t fd;
    struct qn_watch *watch; /* NULL: the request is being given up */
};

static void post_free(struct qn_post *p)
{
    struct qn_http_client *c = p->client;
    /* A socket that is still being connected curl closes first and says afterwards that it needs no
     * watch. */
    if (p->sock) {
        qn_watch_remove(p->sock->watch);
        p->sock->watch = NULL;
    }
    if (p->started)
        curl_multi_remove_handle(c->multi, p->easy);
    curl_easy_cleanup(p->easy);
    curl_slist_free_all(p->headers);
    qn_buf_deinit(&p->reply);
    if (p->prev)
        p->prev->next = p->next;
    else
        c->posts = p->next;
    if (p->next)
        p->next->prev = p->prev;
    free(p);
}

/* Where the owner wants to know: once, as soon as the head has come. */
static void tell_head(struct qn_post *p, long status)
{
    const char *type = NULL;
    if (!p->ev.head || p->headed || p->cancelled)
        return;
    p->headed = true;
    curl_easy_getinfo(p->easy, CURLINFO_CONTENT_TYPE, &type);
    p->ev.head(p->ctx, (int)status, type ? type : "");
}

static void finish(struct qn_post *p, CURLcode code)
{
    struct qn_error e = {0};
    long status = 0;
    if (code == CURLE_OK)
        curl_easy_getinfo(p->easy, CURLINFO_RESPONSE_CODE, &status);
    else
        qn_fail(&e, QN_EIO, "%s", p->why[0] ? p->why : curl_easy_strerror(code));
    p->ended = true;
    if (code == CURLE_OK)
        tell_head(p, status);
    if (!p->cancelled)
        p->ev.end(p->ctx, (int)status, qn_buf_cstr(&p->reply), p->reply.len, &e);
    post_free(p);
}

static void on_chores(void *ctx);

static void need_chores(struct qn_http_client *c)
{
    if (!c->chores)
        c->chores = qn_timer_start(c->loop, 0, 0, on_chores, c);
}

/* After every call into curl: the posts that have come to their end. */
static void reap(struct qn_http_client *c)
{
    int left;
    CURLMsg *m;
    while ((m = curl_multi_info_read(c->multi, &left))) {
        if (m->msg != CURLMSG_DONE)
            continue;
        struct qn_post *p;
        CURLcode code = m->data.result;
        curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &p);
        finish(p, code);
    }
}

static void enter(struct qn_http_client *c, curl_socket_t fd, int events)
{
    int running;
    assert(c->depth == 0);
    c->depth++;
    CURLMcode m = curl_multi_socket_action(c->multi, fd, events, &running);
    c->depth--;
    if (m != CURLM_OK)
        qn_error_log("client", "libcurl: %s", curl_multi_strerror(m));
    reap(c);
}

static void on_chores(void *ctx)
{
    struct qn_http_client *c = ctx;
    qn_timer_stop(c->chores);
    c->chores = NULL;
    /* A callback may free any post, so the walk begins anew after each chore. */
    for (struct qn_post *p = c->posts; p;) {
        if (p->cancelled) {
            post_free(p);
        } else if (!p->started) {
            p->started = true;
            CURLMcode m = curl_multi_add_handle(c->multi, p->easy);
            if (m != CURLM_OK) {
                p->started = false;
                qn_error_log("client", "libcurl: %s", curl_multi_strerror(m));
                finish(p, CURLE_FAILED_INIT);
            }
        } else if (p->paused && !p->want_paused) {
            p->paused = false;
            c->depth++;
            curl_easy_pause(p->easy, CURLPAUSE_CONT); /* may deliver what it had kept */
            c->depth--;
            reap(c);
        } else {
            p = p->next;
            continue;
        }
        p = c->posts;
    }
}

/* ---- curl's callbacks ---- */

static size_t on_body(char *data, size_t size, size_t count, void *ctx)
{
    struct qn_post *p = ctx;
    size_t n = size * count;
    long status = 0;
    if (p->cancelled)
        return CURL_WRITEFUNC_ERROR;
    if (p->want_paused) {
        p->paused = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    curl_easy_getinfo(p->easy, CURLINFO_RESPONSE_CODE, &status);
    tell_head(p, status);
    if (status == 200 || p->ev.head) {
        if (p->cancelled)
            return CURL_WRITEFUNC_ERROR;
        p->ev.data(p->ctx, data, n);
        return p->cancelled ? CURL_WRITEFUNC_ERROR : n;
    }
    size_t room = REPLY_MAX - p->reply.len;
    qn_buf_add(&p->reply, data, n < room ? n : room); /* the rest of an error page is not needed */
    return n;
}

static void on_ready(void *ctx, uint32_t events)
{
    struct sock *s = ctx;
    int what = 0;
    if (events & (EPOLLIN | EPOLLHUP))
        what |= CURL_CSELECT_IN;
    if (events & EPOLLOUT)
        what |= CURL_CSELECT_OUT;
    if (events & EPOLLERR)
        what |= CURL_CSELECT_ERR;
    enter(s->client, s->fd, what); /* may free s */
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *ctx, void *mark)
{
    struct qn_http_client *c = ctx;
    struct sock *s = mark;
    if (what == CURL_POLL_REMOVE) {
        if (s) {
            s->post->sock = NULL;
            qn_watch_remove(s->watch);
            free(s);
        }
        return 0;
    }
    uint32_t events = (what & CURL_POLL_IN ? EPOLLIN : 0u) | (what & CURL_POLL_OUT ? EPOLLOUT : 0u);
    if (s) {
        if (s->watch)
            qn_watch_set(s->watch, events);
        return 0;
    }
    s = qn_xcalloc(1, sizeof *s);
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &s->post);
    s->client = c;
    s->fd = fd;
    struct qn_error e;
    if (qn_watch_add(c->loop, fd, events, on_ready, s, &s->watch, &e)) {
        qn_error_log("client", "%s", e.message);
        free(s);
        return -1;
    }
    s->post->sock = s;
    curl_multi_assign(c->multi, fd, s);
    return 0;
}

static void on_timer(void *ctx)
{
    struct qn_http_client *c = ctx;
    qn_timer_stop(c->timer);
    c->timer = NULL;
    enter(c, CURL_SOCKET_TIMEOUT, 0);
}

static int on_timeout(CURLM *multi, long ms, void *ctx)
{
    (void)multi;
    struct qn_http_client *c = ctx;
    qn_timer_stop(c->timer);
    c->timer = ms < 0 ? NULL : qn_timer_start(c->loop, ms, 0, on_timer, c);
    return 0;
}

/* ---- the owner's side ---- */

void qn_http_client_new(struct qn_loop *l, struct qn_http_client **out)
{
    struct qn_http_client *c = qn_xcalloc(1, sizeof *c);
    c->loop = l;
    *out = c;
}

/* libcurl with its TLS takes 2 MiB and milliseconds, which a server without a model does not need.
 */
static qn_err open_multi(struct qn_http_client *c, struct qn_error *e)
{
    if (c->multi)
        return QN_OK;
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return qn_fail(e, QN_EIO, "libcurl could not start");
    c->multi = curl_multi_init();
    if (!c->multi) {
        curl_global_cleanup();
        return qn_fail(e, QN_EIO, "libcurl could not start");
    }
    curl_multi_setopt(c->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl_multi_setopt(c->multi, CURLMOPT_SOCKETDATA, c);
    curl_multi_setopt(c->multi, CURLMOPT_TIMERFUNCTION, on_timeout);
    curl_multi_setopt(c->multi, CURLMOPT_TIMERDATA, c);
    return QN_OK;
}

void qn_http_client_free(struct qn_http_client *c)
{
    if (!c)
        return;
    while (c->posts) { /* cancelled ones whose chore has not come yet */
        assert(c->posts->cancelled);
        post_free(c->posts);
    }
    if (c->multi) {
        curl_multi_cleanup(c->multi);
        curl_global_cleanup();
    }
    qn_timer_stop(c->timer);
    qn_timer_stop(c->chores);
    free(c);
}

static bool add_header(struct qn_post *p, const char *name, const char *value)
{
    struct qn_buf line;
    if (!value)
        return true;
    qn_buf_init(&line, HEADER_MAX);
    qn_buf_fmt(&line, "%s%s", name, value);
    struct curl_slist *longer =
        line.overflow ? NULL : curl_slist_append(p->headers, qn_buf_cstr(&line));
    qn_buf_deinit(&line);
    if (longer)
        p->headers = longer;
    return longer != NULL;
}

static bool has_body(const char *method)
{
    return strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0 &&
           strcmp(method, "DELETE") != 0;
}

static bool set_options(struct qn_post *p, const struct qn_ask *ask)
{
    if (!add_header(p, "Authorization: Bearer ", ask->bearer) ||
        !add_header(p, "Content-Type: ", ask->type) || !add_header(p, "Accept: ", ask->accept) ||
        !add_header(p, "Expect:", ""))
        return false;
    CURLcode bad = CURLE_OK;
#define SET(option, value) bad = bad ? bad : curl_easy_setopt(p->easy, option, value)
    SET(CURLOPT_URL, ask->url);
    SET(CURLOPT_PROTOCOLS_STR, "http");
    SET(CURLOPT_PROXY, "");
    SET(CURLOPT_FOLLOWLOCATION, 0L);
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    SET(CURLOPT_FRESH_CONNECT, 1L);
    SET(CURLOPT_FORBID_REUSE, 1L);
    SET(CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    SET(CURLOPT_HTTPHEADER, p->headers);
    SET(CURLOPT_BUFFERSIZE, (long)READ_BYTES);
    if (has_body(ask->method)) {
        SET(CURLOPT_POST, 1L);
        SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)ask->n);
        SET(CURLOPT_COPYPOSTFIELDS, ask->n ? (const char *)ask->body : "");
    } else {
        SET(CURLOPT_NOBODY, strcmp(ask->method, "HEAD") == 0 ? 1L : 0L);
    }
    SET(CURLOPT_CUSTOMREQUEST, ask->method);
    SET(CURLOPT_ERRORBUFFER, p->why);
    SET(CURLOPT_WRITEFUNCTION, on_body);
    SET(CURLOPT_WRITEDATA, p);
    SET(CURLOPT_PRIVATE, p);
#undef SET
    return bad == CURLE_OK;
}

qn_err qn_http_ask(struct qn_http_client *c, const struct qn_ask *ask,
                   const struct qn_post_events *ev, void *ctx, struct qn_post **out,
                   struct qn_error *e)
{
    qn_err err = open_multi(c, e);
    if (err)
        return err;
    struct qn_post *p = qn_xcalloc(1, sizeof *p);
    p->client = c;
    p->ev = *ev;
    p->ctx = ctx;
    qn_buf_init(&p->reply, REPLY_MAX);
    p->next = c->posts;
    if (c->posts)
        c->posts->prev = p;
    c->posts = p;
    p->easy = curl_easy_init();
    if (!p->easy || !set_options(p, ask)) {
        post_free(p);
        return qn_fail(e, QN_EINTERNAL, "libcurl refused a request to %s", ask->url);
    }
    need_chores(c);
    *out = p;
    return QN_OK;
}

qn_err qn_http_post(struct qn_http_client *c, const char *url, const char *bearer, const void *body,
                    size_t n, const struct qn_post_events *ev, void *ctx, struct qn_post **out,
                    struct qn_error *e)
{
    const struct qn_ask ask = {.method = "POST",
                               .url = url,
                               .bearer = bearer,
                               .type = "application/x-ndjson",
                               .body = body,
                               .n = n};
    return qn_http_ask(c, &ask, ev, ctx, out, e);
}

void qn_http_post_pause(struct qn_post *p, bool paused)
{
    if (p->ended)
        return;
    p->want_paused = paused;
    if (!paused && p->paused)
        need_chores(p->client);
    else if (paused && p->started && !p->paused && p->client->depth == 0) {
        p->paused = true;
        curl_easy_pause(p->easy, CURLPAUSE_RECV);
    } /* else the next piece of body meets want_paused */
}

void qn_http_post_cancel(struct qn_post *p)
{
    if (p->ended)
        return; /* freed when its end callback returns */
    p->cancelled = true;
    if (p->client->depth == 0)
        post_free(p);
    else
        need_chores(p->client);
}
