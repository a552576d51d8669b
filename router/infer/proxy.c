/* See proxy.h. */
#include "infer/proxy.h"

#include "answers/answer.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/str.h"
#include "io/http_target.h"
#include "models/inventory.h"

#include <stdlib.h>

enum { URL_MAX = 64 * 1024 };

struct proxy {
    struct qn_loop *loop;
    struct qn_http *http;
    struct qn_lease *lease;
    struct qn_post *post;
    struct qn_stream *stream; /* NULL: the head has not arrived */
    struct qn_timer *resume;  /* runs when the stream has room again */
};

static void proxy_free(struct proxy *p)
{
    qn_timer_stop(p->resume);
    qn_lease_release(p->lease);
    free(p);
}

static void gone(void *ctx)
{
    struct proxy *p = ctx;
    qn_http_post_cancel(p->post);
    proxy_free(p);
}

static void resume(void *ctx)
{
    struct proxy *p = ctx;
    qn_timer_stop(p->resume);
    p->resume = NULL;
    qn_http_post_pause(p->post, false);
}

/* Uses a timer: the server may have data at once, and the stream must not be written from this
 * callback. */
static void drained(void *ctx)
{
    struct proxy *p = ctx;
    if (!p->resume)
        p->resume = qn_timer_start(p->loop, 0, 0, resume, p);
}

static void on_head(void *ctx, int status, const char *type)
{
    struct proxy *p = ctx;
    qn_http_set_header(p->http, "Cache-Control", "no-cache");
    p->stream = qn_http_stream(p->http, status, *type ? type : NULL, drained, p);
}

static void on_data(void *ctx, const void *data, size_t n)
{
    struct proxy *p = ctx;
    qn_stream_write(p->stream, data, n);
    if (qn_stream_full(p->stream))
        qn_http_post_pause(p->post, true);
}

static void on_end(void *ctx, int status, const char *body, size_t n, const struct qn_error *e)
{
    struct proxy *p = ctx;
    struct qn_http *h = p->http;
    struct qn_stream *s = p->stream;
    (void)body;
    (void)n;
    qn_http_on_gone(h, NULL, NULL);
    proxy_free(p);
    if (status == 0)
        qn_info("proxy", "path=%.200s broken=1 message=\"%s\"", qn_http_path(h), e->message);
    if (s && status == 0)
        qn_http_abort(h);
    else if (s)
        qn_stream_end(s);
    else
        qn_answer_plain(h, 502, "bad_gateway", "The model's own server does not respond");
}

void qn_proxy(struct qn_loop *loop, struct qn_http_client *client, struct qn_http *h,
              struct qn_lease *lease, const char *base, const char *key, const char *path)
{
    static const struct qn_post_events events = {.head = on_head, .data = on_data, .end = on_end};
    struct proxy *p = qn_xcalloc(1, sizeof *p);
    struct qn_error e = {0};
    struct qn_buf url;
    size_t n;
    const char *body = qn_http_body(h, &n), *query = qn_http_raw_query(h);
    *p = (struct proxy){.loop = loop, .http = h, .lease = lease};
    qn_buf_init(&url, URL_MAX);
    qn_buf_str(&url, base);
    qn_target_escape(&url, path);
    if (query && *query)
        qn_buf_fmt(&url, "?%s", query);
    const struct qn_ask ask = {.method = qn_http_method(h),
                               .url = qn_buf_cstr(&url),
                               .bearer = *key ? key : NULL,
                               .type = qn_http_header(h, "Content-Type"),
                               .accept = qn_http_header(h, "Accept"),
                               .body = body,
                               .n = n};
    if (qn_http_ask(client, &ask, &events, p, &p->post, &e)) {
        proxy_free(p);
        qn_answer_error(h, &e);
    } else {
        qn_http_on_gone(h, gone, p);
    }
    qn_buf_deinit(&url);
}
