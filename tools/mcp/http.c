/* See http.h. The client sends each message as a POST; the reply is one JSON message or an event
 * stream. If the server supports it, a GET opens a stream of messages that the server sends
 * unasked. */
#include "mcp/http.h"

#include "base/clock.h"
#include "base/public_address.h"
#include "base/str.h"
#include "formats/sse.h"
#include "mcp/http_headers.h"
#include "mcp/router.h"
#include "mcp/session.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    CONNECT_MS = 10 * 1000,
    DELETE_MS = 2000,
    UNANSWERED_MS = 10 * 1000, /* time limit of a POST with a notification or response, which the
                                  server only acknowledges */
    POSTS_MAX = 64,
    LISTEN_AGAIN_MS = 5000, /* pause before the GET is sent again */
    HEADER_MAX = 16 * 1024  /* maximum bytes of a request header */
};

/* One HTTP request and its reply. */
struct post {
    struct post *next;
    struct talk *talk;
    CURL *easy; /* NULL: not started yet */
    struct curl_slist *headers;
    int64_t rpc;   /* id of the JSON-RPC request; 0: the message is a notification or a response */
    char *json;    /* the JSON-RPC message; NULL: this is the GET */
    char *session; /* the session id that was sent in the header; NULL: none */
    bool first;    /* no other request is started until this one has ended */
    bool streams;  /* the reply is an event stream */
    bool too_long;
    struct qn_buf body; /* the reply, unless it is an event stream */
    struct qn_sse sse;
    char why[CURL_ERROR_SIZE];
};

struct talk {
    const struct qn_mcp_target *config;
    CURLM *multi;
    struct post *posts; /* all HTTP requests, the newest first */
    struct qn_session *session;
    char id[QN_HTTP_ID_MAX + 1]; /* the session id that the server assigned; "": none */
    int64_t listen_at_ms;        /* when to send the GET; -1: the server does not support the GET */
    bool listening, router_gone, crowded;
};

static long status_of(const struct post *p)
{
    long status = 0;
    curl_easy_getinfo(p->easy, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

static void post_free(struct talk *t, struct post *p)
{
    for (struct post **at = &t->posts; *at; at = &(*at)->next)
        if (*at == p) {
            *at = p->next;
            break;
        }
    if (p->easy) {
        curl_multi_remove_handle(t->multi, p->easy);
        curl_easy_cleanup(p->easy);
    }
    if (!p->json)
        t->listening = false;
    curl_slist_free_all(p->headers);
    qn_buf_deinit(&p->body);
    qn_sse_deinit(&p->sse);
    free(p->session);
    free(p->json);
    free(p);
}

/* ---- replies ---- */

static void on_event(void *ctx, const char *event, const char *data, size_t n)
{
    struct post *p = ctx;
    if (qn_str_eq(event, "message") && n)
        qn_session_message(p->talk->session, data, n, qn_now_ms());
}

/* Returns true if the message is a notification or a response: the server does not answer these. */
static bool is_notice(const struct post *p)
{
    return p->json && !p->rpc;
}

static size_t on_data(char *bytes, size_t size, size_t n, void *ctx)
{
    struct post *p = ctx;
    (void)size;
    long status = status_of(p);
    if (status < 200 || status >= 300 || is_notice(p))
        return n; /* the body is ignored */
    bool bad = p->streams ? qn_sse_feed(&p->sse, bytes, n) != QN_OK
                          : qn_buf_add(&p->body, bytes, n) != QN_OK;
    p->too_long = p->too_long || bad;
    return bad ? 0 : n;
}

static size_t on_header(char *line, size_t size, size_t n, void *ctx)
{
    struct post *p = ctx;
    (void)size;
    if (!qn_http_header_type(line, n, &p->streams) && !p->session)
        (void)qn_http_header_id(line, n, p->talk->id);
    return n;
}

static void failed(struct post *p, CURLcode code, char *out, size_t n)
{
    long status = status_of(p);
    if (p->too_long)
        snprintf(out, n, "the server sent a message that is too long");
    else if (code != CURLE_OK)
        snprintf(out, n, "the server cannot be reached: %.300s",
                 *p->why ? p->why : curl_easy_strerror(code));
    else if (status == 401 || status == 403)
        snprintf(out, n, "The server rejected the token (HTTP status %ld).", status);
    else if (status < 200 || status >= 300)
        snprintf(out, n, "the server replied with HTTP status %ld", status);
    else
        snprintf(out, n, "the server's reply has no answer");
}

/* Handles the end of an HTTP request. */
static void finish(struct talk *t, struct post *p, CURLcode code)
{
    char why[QN_MCP_MESSAGE_TEXT_MAX];
    long status = status_of(p);
    int64_t now = qn_now_ms(), rpc = p->rpc;
    bool lost = code == CURLE_OK && status == 404 && p->session && p->json;
    if (code == CURLE_OK && status >= 200 && status < 300 && !p->streams && p->body.len)
        qn_session_message(t->session, p->body.data, p->body.len, now);
    failed(p, code, why, sizeof why);
    /* Only a request that got status 404 starts a new session, a notification does not. If a new
     * session has been started in the meantime, its id is kept. */
    if (lost && rpc && qn_str_eq(p->session, t->id))
        t->id[0] = '\0';
    if (!p->json)
        t->listen_at_ms =
            code == CURLE_OK && (status < 200 || status >= 300) ? -1 : now + LISTEN_AGAIN_MS;
    post_free(t, p);
    if (lost && rpc)
        qn_session_lost(t->session, rpc, now);
    else if (rpc)
        qn_session_unanswered(t->session, rpc, why);
}

/* ---- requests ---- */

static curl_socket_t open_socket(void *ctx, curlsocktype purpose, struct curl_sockaddr *a)
{
    const struct talk *t = ctx;
    (void)purpose;
    if (t->config->public_only && !qn_address_public(&a->addr))
        return CURL_SOCKET_BAD;
    return socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);
}

static void add_header(struct post *p, const char *name, const char *value)
{
    char line[HEADER_MAX];
    if (snprintf(line, sizeof line, "%s: %s", name, value) >= HEADER_MAX)
        return;
    struct curl_slist *more = curl_slist_append(p->headers, line);
    if (more)
        p->headers = more;
}

static void add_headers(struct talk *t, struct post *p)
{
    char bearer[HEADER_MAX - 64];
    const char *protocol = qn_session_protocol(t->session);
    add_header(p, "Accept", p->json ? "application/json, text/event-stream" : "text/event-stream");
    if (p->json) {
        add_header(p, "Content-Type", "application/json");
        p->headers = curl_slist_append(p->headers, "Expect:");
    }
    if (*t->config->token) {
        snprintf(bearer, sizeof bearer, "Bearer %s", t->config->token);
        add_header(p, "Authorization", bearer);
    }
    if (*t->id)
        add_header(p, "Mcp-Session-Id", t->id);
    if (*protocol)
        add_header(p, "MCP-Protocol-Version", protocol);
    p->session = *t->id ? qn_xstrdup(t->id) : NULL;
}

static void set_options(struct talk *t, struct post *p)
{
    CURL *c = p->easy;
    curl_easy_setopt(c, CURLOPT_URL, t->config->url);
    curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(c, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(c, CURLOPT_PROXY, "");
    curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(c, CURLOPT_USERAGENT, "quince/" QN_VERSION);
    curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    curl_easy_setopt(c, CURLOPT_HTTPHEADER, p->headers);
    curl_easy_setopt(c, CURLOPT_ERRORBUFFER, p->why);
    curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_data);
    curl_easy_setopt(c, CURLOPT_WRITEDATA, p);
    curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(c, CURLOPT_HEADERDATA, p);
    curl_easy_setopt(c, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(c, CURLOPT_OPENSOCKETDATA, t);
    curl_easy_setopt(c, CURLOPT_PRIVATE, p);
}

static bool begin(struct talk *t, struct post *p)
{
    p->easy = curl_easy_init();
    if (!p->easy)
        return false;
    add_headers(t, p);
    set_options(t, p);
    if (p->json) {
        curl_easy_setopt(p->easy, CURLOPT_POST, 1L);
        curl_easy_setopt(p->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(p->json));
        curl_easy_setopt(p->easy, CURLOPT_POSTFIELDS, p->json);
    }
    if (is_notice(p))
        curl_easy_setopt(p->easy, CURLOPT_TIMEOUT_MS, (long)UNANSWERED_MS);
    return curl_multi_add_handle(t->multi, p->easy) == CURLM_OK;
}

static struct post *add_post(struct talk *t, int64_t rpc, const char *json, size_t n)
{
    struct post *p = qn_xcalloc(1, sizeof *p);
    p->talk = t;
    p->rpc = rpc;
    p->json = json ? qn_xstrndup(json, n) : NULL;
    qn_buf_init(&p->body, QN_SESSION_MESSAGE_MAX);
    qn_sse_init(&p->sse, on_event, p);
    p->next = t->posts;
    t->posts = p;
    return p;
}

static size_t count_posts(const struct talk *t)
{
    size_t n = 0;
    for (const struct post *p = t->posts; p; p = p->next)
        n++;
    return n;
}

/* Queues the message: begin_all starts it later, because libcurl cannot start a transfer within its
 * callbacks. */
static void send_message(void *ctx, int64_t rpc, const char *json, size_t n)
{
    struct talk *t = ctx;
    t->crowded = t->crowded || count_posts(t) >= 2 * POSTS_MAX;
    if (t->crowded)
        return;
    struct post *p = add_post(t, rpc, json, n);
    p->first = strstr(p->json, "\"method\":\"notifications/initialized\"") && !rpc;
}

static void report(void *ctx, const struct qn_mcp_up *up)
{
    struct talk *t = ctx;
    t->router_gone = !qn_router_tell(up) || t->router_gone;
}

/* Returns the oldest request that has not been started; NULL: none. Order matters: the server must
 * receive notifications/initialized before any other message. */
static struct post *next_unbegun(struct talk *t)
{
    struct post *found = NULL;
    for (struct post *p = t->posts; p; p = p->next)
        if (!p->easy)
            found = p;
    return found;
}

static bool waits_for_first(const struct talk *t)
{
    for (const struct post *p = t->posts; p; p = p->next)
        if (p->first && p->easy)
            return true;
    return false;
}

static void begin_all(struct talk *t)
{
    struct post *p;
    while (!waits_for_first(t) && (p = next_unbegun(t))) {
        int64_t rpc = p->rpc;
        if (begin(t, p))
            continue;
        post_free(t, p);
        if (rpc)
            qn_session_unanswered(t->session, rpc, "libcurl takes no further request");
    }
}

/* Aborts HTTP requests whose JSON-RPC request has been answered or cancelled. */
static void end_unwanted(struct talk *t)
{
    for (struct post *p = t->posts, *next; p; p = next) {
        next = p->next;
        if (p->easy && p->rpc && !qn_session_is_pending(t->session, p->rpc))
            post_free(t, p);
    }
}

static void listen_if_due(struct talk *t, int64_t now)
{
    if (t->listening || t->listen_at_ms < 0 || now < t->listen_at_ms || !*t->id ||
        !*qn_session_protocol(t->session))
        return;
    t->listening = true;
    add_post(t, 0, NULL, 0);
}

/* ---- the event loop ---- */

static void turn(struct talk *t, struct qn_buf *in)
{
    int running = 0, left;
    CURLMsg *m;
    int64_t wait = qn_session_tick(t->session, qn_now_ms());
    struct curl_waitfd router = {.fd = QN_MCP_FD, .events = CURL_WAIT_POLLIN};
    listen_if_due(t, qn_now_ms());
    end_unwanted(t);
    if (t->crowded || count_posts(t) > POSTS_MAX)
        qn_session_break(t->session, "the server leaves too many requests without a reply");
    begin_all(t);
    if (qn_session_is_down(t->session))
        return;
    curl_multi_poll(t->multi, &router, 1, (int)(wait < LISTEN_AGAIN_MS ? wait : LISTEN_AGAIN_MS),
                    NULL);
    curl_multi_perform(t->multi, &running);
    while ((m = curl_multi_info_read(t->multi, &left))) {
        struct post *p = NULL;
        if (m->msg != CURLMSG_DONE)
            continue;
        CURLcode code = m->data.result;
        curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&p);
        finish(t, p, code);
    }
    if (router.revents)
        t->router_gone = !qn_router_take(in, true, t->session, qn_now_ms()) || t->router_gone;
}

static void end_session(struct talk *t)
{
    while (t->posts)
        post_free(t, t->posts);
    if (!*t->id)
        return;
    struct post *p = add_post(t, 0, "", 0);
    p->easy = curl_easy_init();
    if (p->easy) {
        add_headers(t, p);
        set_options(t, p);
        curl_easy_setopt(p->easy, CURLOPT_CUSTOMREQUEST, "DELETE");
        curl_easy_setopt(p->easy, CURLOPT_TIMEOUT_MS, (long)DELETE_MS);
        curl_easy_perform(p->easy);
    }
    post_free(t, p);
}

void qn_http_run(const struct qn_mcp_target *config, struct qn_buf *in)
{
    static const struct qn_session_events ev = {.send = send_message, .up = report};
    struct talk t = {.config = config};
    if (curl_global_init(CURL_GLOBAL_DEFAULT) || !(t.multi = curl_multi_init())) {
        qn_router_tell(
            &(struct qn_mcp_up){.kind = QN_MCP_UP_DOWN, .message = "libcurl cannot be used"});
        return;
    }
    t.session = qn_session_new(&ev, &t, config->start_ms, qn_now_ms());
    qn_router_take(in, false, t.session, qn_now_ms());
    while (!t.router_gone && !qn_session_is_down(t.session))
        turn(&t, in);
    end_session(&t);
    qn_session_free(t.session);
    curl_multi_cleanup(t.multi);
    curl_global_cleanup();
}
