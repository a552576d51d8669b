/* Fetches small documents from hubs: see web.h. */
#include "registry/web.h"

#include "base/clock.h"
#include "base/str.h"
#include "registry/curl.h"
#include "registry/reply_head.h"
#include "registry/web_way.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

enum { TICK_MS = 100, HEADERS_MAX = 256 * 1024 };

/* One hop in progress. */
struct hop {
    const struct qn_web *web;
    struct qn_way *way;
    struct qn_web_reply *out;
    struct qn_reply_head head;
    bool too_long;
    int64_t window_ms, window_bytes; /* for QN_WEB_STALL_RATE: begin, bytes since */
    char why[CURL_ERROR_SIZE];
};

static size_t take_body(char *data, size_t size, size_t n, void *ctx)
{
    struct hop *h = ctx;
    (void)size;
    h->window_bytes += (int64_t)n;
    if (qn_buf_add(&h->out->body, data, n)) {
        h->too_long = true;
        return 0;
    }
    return n;
}

static size_t take_header(char *data, size_t size, size_t n, void *ctx)
{
    struct hop *h = ctx;
    size_t line = n;
    (void)size;
    h->window_bytes += (int64_t)n;
    qn_reply_head_line(&h->head, data, n, qn_wall_ms());
    while (line && (data[line - 1] == '\r' || data[line - 1] == '\n'))
        line--;
    if (line >= 5 && memcmp(data, "HTTP/", 5) == 0) {
        qn_buf_clear(&h->out->headers);
    } else if (line &&
               (qn_buf_add(&h->out->headers, data, line) || qn_buf_char(&h->out->headers, '\n'))) {
        h->too_long = true;
        return 0;
    }
    return n;
}

static qn_err stopped(struct qn_error *e)
{
    return qn_fail(e, QN_ECANCELLED, "stopped");
}

/* Runs one hop to its end; *code is curl's result. QN_ECANCELLED. */
static qn_err perform(struct hop *h, CURLM *multi, CURL *easy, CURLcode *code, struct qn_error *e)
{
    int stall_s = h->web->stall_s > 0 ? h->web->stall_s : QN_WEB_STALL_S, running = 1;
    qn_err err = QN_OK;
    h->window_ms = qn_now_ms();
    h->window_bytes = 0;
    *code = CURLE_OK;
    qn_curl.multi_add_handle(multi, easy);
    while (running) {
        CURLMcode m = qn_curl.multi_perform(multi, &running);
        if (!m && running)
            m = qn_curl.multi_poll(multi, NULL, 0, TICK_MS, NULL);
        if (m) {
            err = qn_fail(e, QN_EINTERNAL, "libcurl: %s", qn_curl.multi_strerror(m));
            break;
        }
        if (qn_web_stopped(h->web)) {
            err = stopped(e);
            break;
        }
        if (qn_now_ms() - h->window_ms >= stall_s * 1000LL) {
            if (h->window_bytes < (int64_t)QN_WEB_STALL_RATE * stall_s) {
                *code = CURLE_OPERATION_TIMEDOUT;
                break;
            }
            h->window_ms = qn_now_ms();
            h->window_bytes = 0;
        }
    }
    int left;
    for (CURLMsg *msg; (msg = qn_curl.multi_info_read(multi, &left));)
        if (msg->msg == CURLMSG_DONE)
            *code = msg->data.result;
    qn_curl.multi_remove_handle(multi, easy);
    return err;
}

static void set_question(CURL *easy, const struct qn_web_ask *ask, struct curl_slist **headers)
{
    struct qn_buf line;
    qn_buf_init(&line, 1024);
    if (ask->accept && !qn_buf_fmt(&line, "Accept: %s", ask->accept))
        *headers = qn_curl.slist_append(*headers, line.data);
    qn_buf_deinit(&line);
    if (ask->method && strcmp(ask->method, "HEAD") == 0)
        qn_curl.easy_setopt(easy, CURLOPT_NOBODY, 1L);
    else if (ask->method)
        qn_curl.easy_setopt(easy, CURLOPT_CUSTOMREQUEST, ask->method);
    if (ask->body) {
        *headers = qn_curl.slist_append(*headers, "Content-Type: application/json");
        qn_curl.easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(ask->body));
        qn_curl.easy_setopt(easy, CURLOPT_POSTFIELDS, ask->body);
    }
    qn_curl.easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, ""); /* accept compressed documents */
}

/* One try, through all redirects. QN_OK: out holds a reply of any status. *again: the failure may
 * be temporary. */
static qn_err try_once(const struct qn_web *web, const struct qn_web_ask *ask, CURLM *multi,
                       struct qn_web_reply *out, struct qn_reply_head *head, bool *again,
                       struct qn_error *e)
{
    struct qn_way way = {.web = NULL};
    struct hop h = {.web = web, .way = &way, .out = out};
    *again = false;
    qn_err err = qn_way_begin(&way, web, ask->url, ask->token, e);
    while (!err) {
        CURL *easy = qn_curl.easy_init();
        struct curl_slist *headers = NULL;
        CURLcode code;
        if (!easy) {
            err = qn_fail(e, QN_ENOMEM, "libcurl has no memory");
            break;
        }
        h.head = (struct qn_reply_head){.status = 0};
        h.why[0] = '\0';
        qn_buf_clear(&out->body);
        qn_buf_clear(&out->headers);
        qn_way_prepare(&way, easy, &headers);
        set_question(easy, ask, &headers);
        qn_curl.easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
        qn_curl.easy_setopt(easy, CURLOPT_ERRORBUFFER, h.why);
        qn_curl.easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
        qn_curl.easy_setopt(easy, CURLOPT_WRITEDATA, &h);
        qn_curl.easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header);
        qn_curl.easy_setopt(easy, CURLOPT_HEADERDATA, &h);
        err = perform(&h, multi, easy, &code, e);
        qn_curl.easy_cleanup(easy);
        qn_curl.slist_free_all(headers);
        if (!err && h.too_long) {
            err = qn_fail(e, QN_ELIMIT, "%.200s: the reply is longer than %zu bytes", ask->url,
                          out->body.limit);
        } else if (!err && code != CURLE_OK) {
            *again = !qn_way_hopeless(&way, code);
            err = qn_way_fail(&way, code, h.why, e);
        }
        bool follow = h.head.status == 301 || h.head.status == 302 || h.head.status == 303 ||
                      h.head.status == 307 || h.head.status == 308;
        if (err || !follow || ask->stay)
            break;
        err = qn_way_redirect(&way, h.head.location, e);
    }
    *head = h.head;
    free(out->url);
    out->url = way.url;
    way.url = NULL;
    qn_way_deinit(&way);
    out->status = err ? 0 : h.head.status;
    return err;
}

/* Sleeps in short steps; false: the stop flag was set. */
static bool wait_ms(const struct qn_web *web, int64_t ms)
{
    for (int64_t until = qn_now_ms() + ms, left; (left = until - qn_now_ms()) > 0;) {
        if (qn_web_stopped(web))
            return false;
        int64_t tick = left < TICK_MS ? left : TICK_MS;
        nanosleep(&(struct timespec){.tv_nsec = tick * 1000000}, NULL);
    }
    return !qn_web_stopped(web);
}

qn_err qn_web_ask(const struct qn_web *web, const struct qn_web_ask *ask, struct qn_web_reply *out,
                  struct qn_error *e)
{
    char shown[QN_WEB_SHOWN_MAX];
    struct qn_reply_head head;
    qn_err err;
    *out = (struct qn_web_reply){.status = 0};
    qn_buf_init(&out->body, ask->limit ? ask->limit : QN_WEB_REPLY_MAX);
    qn_buf_init(&out->headers, HEADERS_MAX);
    if ((err = qn_curl_load(e)))
        return err;
    CURLM *multi = qn_curl.multi_init();
    if (!multi)
        return qn_fail(e, QN_ENOMEM, "libcurl has no memory");
    for (int failures = 0;;) {
        bool again;
        err = try_once(web, ask, multi, out, &head, &again, e);
        if (!err && qn_web_passing(head.status)) {
            again = true;
            err = qn_fail(e, head.status == 429 || head.status == 503 ? QN_EBUSY : QN_EIO,
                          "%s: the server answered with status %d", qn_web_shown(ask->url, shown),
                          head.status);
        }
        if (!err || !again || ++failures > qn_web_retries(web) ||
            head.retry_after_s > QN_WEB_RETRY_AFTER_MAX_S)
            break;
        int64_t pause = qn_web_pause_ms(web, failures);
        if (head.retry_after_s * 1000LL > pause)
            pause = head.retry_after_s * 1000LL;
        if (!wait_ms(web, pause)) {
            err = stopped(e);
            break;
        }
    }
    qn_curl.multi_cleanup(multi);
    return err;
}

void qn_web_reply_deinit(struct qn_web_reply *r)
{
    qn_buf_deinit(&r->body);
    qn_buf_deinit(&r->headers);
    free(r->url);
    r->url = NULL;
}

char *qn_web_header(const struct qn_web_reply *r, const char *name)
{
    size_t n = strlen(name);
    const char *line = r->headers.data, *end = line ? line + r->headers.len : NULL;
    while (line && line < end) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        if ((size_t)(stop - line) > n && line[n] == ':' && strncasecmp(line, name, n) == 0) {
            line += n + 1;
            while (line < stop && (*line == ' ' || *line == '\t'))
                line++;
            while (stop > line && (stop[-1] == ' ' || stop[-1] == '\t'))
                stop--;
            return qn_xstrndup(line, (size_t)(stop - line));
        }
        line = stop + 1;
    }
    return NULL;
}
