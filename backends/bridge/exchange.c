/* See exchange.h. */
#include "bridge/exchange.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

struct qn_exchange {
    struct qn_exchange *prev, *next;
    struct qn_exchanges *all;
    CURL *easy;
    struct curl_slist *headers;
    struct qn_exchange_events ev;
    void *ctx;
    int64_t heard_ms, silence_ms;
    bool paused, refused; /* refused: the callback `data` returned an error */
    char why[CURL_ERROR_SIZE];
};

struct qn_exchanges {
    CURLM *multi;
    struct qn_exchange *first;
};

static void unlink_and_free(struct qn_exchange *x)
{
    curl_multi_remove_handle(x->all->multi, x->easy);
    curl_easy_cleanup(x->easy);
    curl_slist_free_all(x->headers);
    if (x->prev)
        x->prev->next = x->next;
    else
        x->all->first = x->next;
    if (x->next)
        x->next->prev = x->prev;
    free(x);
}

qn_err qn_exchanges_new(struct qn_exchanges **out, struct qn_error *e)
{
    struct qn_exchanges *xs = qn_xcalloc(1, sizeof *xs);
    if (curl_global_init(CURL_GLOBAL_DEFAULT) || !(xs->multi = curl_multi_init())) {
        free(xs);
        return qn_fail(e, QN_ENOMEM, "libcurl cannot be used");
    }
    *out = xs;
    return QN_OK;
}

void qn_exchanges_free(struct qn_exchanges *xs)
{
    if (!xs)
        return;
    while (xs->first)
        unlink_and_free(xs->first);
    curl_multi_cleanup(xs->multi);
    curl_global_cleanup();
    free(xs);
}

static int status_of(const struct qn_exchange *x)
{
    long status = 0;
    curl_easy_getinfo(x->easy, CURLINFO_RESPONSE_CODE, &status);
    return (int)status;
}

static size_t on_data(char *p, size_t size, size_t n, void *ctx)
{
    struct qn_exchange *x = ctx;
    const char *type = NULL;
    (void)size;
    x->heard_ms = qn_now_ms();
    curl_easy_getinfo(x->easy, CURLINFO_CONTENT_TYPE, &type);
    if (x->ev.data(x->ctx, status_of(x), type ? type : "", p, n) == QN_OK)
        return n;
    x->refused = true;
    return n == 0 ? 1 : 0;
}

static qn_err add_header(struct qn_exchange *x, const char *name, const char *value,
                         struct qn_error *e)
{
    struct qn_buf line;
    qn_buf_init(&line, 16 * 1024);
    qn_buf_fmt(&line, "%s: %s", name, value);
    struct curl_slist *more = line.overflow ? NULL : curl_slist_append(x->headers, line.data);
    qn_buf_deinit(&line);
    if (!more)
        return qn_fail(e, QN_ELIMIT, "the header %s is too long", name);
    x->headers = more;
    return QN_OK;
}

static qn_err prepare(struct qn_exchange *x, const struct qn_exchange_request *rq,
                      struct qn_error *e)
{
    CURL *c = x->easy;
    qn_err err = QN_OK;
    if (rq->body)
        err = add_header(x, "Content-Type", rq->content_type, e);
    if (!err && rq->body) /* otherwise curl would wait a second for servers that do not support
                             100-continue */
        err = add_header(x, "Expect", "", e);
    if (!err && rq->key) {
        struct qn_buf value;
        qn_buf_init(&value, 8 * 1024);
        qn_buf_fmt(&value, "Bearer %s", rq->key);
        err = value.overflow ? qn_fail(e, QN_ELIMIT, "the key is too long")
                             : add_header(x, "Authorization", value.data, e);
        qn_buf_deinit(&value);
    }
    if (err)
        return err;
    curl_easy_setopt(c, CURLOPT_URL, rq->url);
    curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(c, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(c, CURLOPT_PROXY, "");
    curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(c, CURLOPT_USERAGENT, "quince/" QN_VERSION);
    curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, (long)rq->connect_ms);
    curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, (long)rq->total_ms);
    curl_easy_setopt(c, CURLOPT_HTTPHEADER, x->headers);
    curl_easy_setopt(c, CURLOPT_ERRORBUFFER, x->why);
    curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_data);
    curl_easy_setopt(c, CURLOPT_WRITEDATA, x);
    curl_easy_setopt(c, CURLOPT_PRIVATE, x);
    if (rq->ca_file)
        curl_easy_setopt(c, CURLOPT_CAINFO, rq->ca_file);
    if (rq->body) {
        curl_easy_setopt(c, CURLOPT_POST, 1L);
        curl_easy_setopt(c, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)rq->n);
        curl_easy_setopt(c, CURLOPT_POSTFIELDS, rq->body);
    }
    return QN_OK;
}

qn_err qn_exchange_begin(struct qn_exchanges *xs, const struct qn_exchange_request *rq,
                         const struct qn_exchange_events *ev, void *ctx, struct qn_exchange **out,
                         struct qn_error *e)
{
    struct qn_exchange *x = qn_xcalloc(1, sizeof *x);
    x->all = xs;
    x->ev = *ev;
    x->ctx = ctx;
    x->heard_ms = qn_now_ms();
    x->silence_ms = rq->silence_ms;
    x->easy = curl_easy_init();
    qn_err err = x->easy ? prepare(x, rq, e) : qn_fail(e, QN_ENOMEM, "libcurl has no memory");
    if (!err && curl_multi_add_handle(xs->multi, x->easy) != CURLM_OK)
        err = qn_fail(e, QN_ENOMEM, "libcurl takes no further request");
    if (err) {
        curl_easy_cleanup(x->easy);
        curl_slist_free_all(x->headers);
        free(x);
        return err;
    }
    x->next = xs->first;
    if (x->next)
        x->next->prev = x;
    xs->first = x;
    *out = x;
    return QN_OK;
}

void qn_exchange_pause(struct qn_exchange *x, bool paused)
{
    if (x->paused == paused)
        return;
    x->paused = paused;
    x->heard_ms = qn_now_ms();
    curl_easy_pause(x->easy, paused ? CURLPAUSE_RECV : CURLPAUSE_CONT);
}

void qn_exchange_hurry(struct qn_exchange *x, int64_t silence_ms)
{
    if (silence_ms < x->silence_ms)
        x->silence_ms = silence_ms;
}

void qn_exchange_cancel(struct qn_exchange *x)
{
    unlink_and_free(x);
}

static void finish(struct qn_exchange *x, const struct qn_error *e)
{
    struct qn_exchange_events ev = x->ev;
    void *ctx = x->ctx;
    int status = status_of(x);
    unlink_and_free(x);
    ev.end(ctx, status, e);
}

static qn_err code_of(CURLcode code)
{
    if (code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE)
        return QN_EFORMAT;
    return code == CURLE_OPERATION_TIMEDOUT ? QN_ETIMEOUT : QN_EIO;
}

static void finish_with(struct qn_exchange *x, CURLcode code)
{
    struct qn_error e = {0};
    if (code == CURLE_OK) {
        finish(x, NULL);
        return;
    }
    if (x->refused)
        qn_fail(&e, QN_ECANCELLED, "broken off");
    else
        qn_fail(&e, code_of(code), "%s", x->why[0] ? x->why : curl_easy_strerror(code));
    finish(x, &e);
}

/* Ends one request that has received no data for too long. Only one at a time, because its callback
 * may begin other requests. */
static bool end_silent(struct qn_exchanges *xs)
{
    int64_t now = qn_now_ms();
    for (struct qn_exchange *x = xs->first; x; x = x->next) {
        if (x->paused || now - x->heard_ms < x->silence_ms)
            continue;
        struct qn_error e = {0};
        qn_fail(&e, QN_ETIMEOUT, "no byte for %lld s", (long long)(x->silence_ms / 1000));
        finish(x, &e);
        return true;
    }
    return false;
}

void qn_exchanges_run(struct qn_exchanges *xs, int wait_ms)
{
    int running = 0, left;
    CURLMsg *m;
    CURLMcode code = curl_multi_poll(xs->multi, NULL, 0, wait_ms, NULL);
    if (code == CURLM_OK)
        code = curl_multi_perform(xs->multi, &running);
    if (code != CURLM_OK)
        qn_error_log("bridge", "libcurl=\"%s\"", curl_multi_strerror(code));
    while ((m = curl_multi_info_read(xs->multi, &left))) {
        struct qn_exchange *x = NULL;
        if (m->msg != CURLMSG_DONE)
            continue;
        CURLcode result = m->data.result;
        curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&x);
        finish_with(x, result);
    }
    while (end_silent(xs))
        ;
}

void qn_exchanges_wake(struct qn_exchanges *xs)
{
    curl_multi_wakeup(xs->multi);
}
