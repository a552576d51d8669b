/* See client.h. */
#include "cli/client.h"

#include "base/str.h"
#include "formats/sse.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONNECT_TIMEOUT_S = 10, ALIVE_TIMEOUT_MS = 1500, POLL_MS = 100 };

struct exchange {
    CURL *curl;
    struct curl_slist *headers;
    struct qn_buf body; /* the reply, when it is not a stream of events */
    struct qn_sse sse;
    bool streaming; /* events go to fn while status is 200 */
    qn_client_event fn;
    void *ctx;
    bool stopped; /* fn said so */
};

static void on_event(void *ctx, const char *event, const char *data, size_t n)
{
    struct exchange *x = ctx;
    (void)event;
    if (!x->stopped && !x->fn(x->ctx, data, n))
        x->stopped = true;
}

static size_t on_bytes(char *p, size_t size, size_t count, void *ctx)
{
    struct exchange *x = ctx;
    size_t n = size * count;
    long status = 0;
    curl_easy_getinfo(x->curl, CURLINFO_RESPONSE_CODE, &status);
    qn_err err =
        x->streaming && status == 200 ? qn_sse_feed(&x->sse, p, n) : qn_buf_add(&x->body, p, n);
    return err || x->stopped ? 0 : n;
}

static qn_err begin(struct exchange *x, const struct qn_cli *cli, const char *path,
                    const char *body, struct qn_error *e)
{
    *x = (struct exchange){.curl = curl_easy_init()};
    qn_buf_init(&x->body, QN_CLIENT_REPLY_MAX);
    qn_sse_init(&x->sse, on_event, x);
    if (!x->curl)
        return qn_fail(e, QN_ENOMEM, "no memory for a connection");
    struct qn_buf url;
    qn_buf_init(&url, 8192);
    qn_buf_fmt(&url, "%s%s", cli->base_url, path);
    curl_easy_setopt(x->curl, CURLOPT_URL, qn_buf_cstr(&url));
    qn_buf_deinit(&url);
    curl_easy_setopt(x->curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(x->curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(x->curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_TIMEOUT_S);
    curl_easy_setopt(x->curl, CURLOPT_WRITEFUNCTION, on_bytes);
    curl_easy_setopt(x->curl, CURLOPT_WRITEDATA, x);
    if (cli->local)
        curl_easy_setopt(x->curl, CURLOPT_PROXY, "");
    if (body) {
        x->headers = curl_slist_append(x->headers, "Content-Type: application/json");
        x->headers = curl_slist_append(x->headers, "Expect:");
        curl_easy_setopt(x->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(body));
        curl_easy_setopt(x->curl, CURLOPT_COPYPOSTFIELDS, body);
    }
    if (cli->api_key) {
        char *header = malloc(strlen(cli->api_key) + 32);
        if (!header)
            return qn_fail(e, QN_ENOMEM, "no memory for a header");
        sprintf(header, "Authorization: Bearer %s", cli->api_key);
        x->headers = curl_slist_append(x->headers, header);
        free(header);
    }
    curl_easy_setopt(x->curl, CURLOPT_HTTPHEADER, x->headers);
    return QN_OK;
}

static void end(struct exchange *x)
{
    curl_slist_free_all(x->headers);
    curl_easy_cleanup(x->curl);
    qn_buf_deinit(&x->body);
    qn_sse_deinit(&x->sse);
}

/* The message inside any of the error shapes a server of this kind sends. */
static qn_err reply_error(struct exchange *x, long status, struct qn_error *e)
{
    qn_err code = status == 404                    ? QN_ENOTFOUND
                  : status == 409                  ? QN_ECONFLICT
                  : status == 429 || status == 503 ? QN_EBUSY
                  : status < 500                   ? QN_EINVAL
                                                   : QN_ECHILD;
    struct qn_json *doc = NULL;
    const char *message = NULL;
    if (qn_json_parse(qn_buf_cstr(&x->body), x->body.len, &doc, NULL) == QN_OK) {
        struct qn_jref root = qn_json_root(doc);
        struct qn_jref error = qn_json_get(&root, "error");
        struct qn_jref inner = qn_json_get(&error, "message");
        struct qn_jref plain = qn_json_get(&root, "message");
        if (qn_json_str_opt(&inner, &message, NULL) || !message)
            if (qn_json_str_opt(&error, &message, NULL) || !message)
                (void)qn_json_str_opt(&plain, &message, NULL);
    }
    if (message)
        qn_fail(e, code, "%s", message);
    else
        qn_fail(e, code, "the server answered with status %ld", status);
    qn_json_free(doc);
    return code;
}

static qn_err transport_error(const struct qn_cli *cli, CURLcode rc, struct qn_error *e)
{
    if (rc == CURLE_COULDNT_CONNECT || rc == CURLE_COULDNT_RESOLVE_HOST)
        return qn_fail(e, QN_EIO, "no server answers at %s: start one with `quince serve`",
                       cli->base_url);
    if (rc == CURLE_OPERATION_TIMEDOUT)
        return qn_fail(e, QN_ETIMEOUT, "the server at %s did not answer in time", cli->base_url);
    return qn_fail(e, QN_EIO, "the connection to %s broke: %s", cli->base_url,
                   curl_easy_strerror(rc));
}

qn_err qn_client_call(const struct qn_cli *cli, const char *path, const char *body, long timeout_s,
                      struct qn_json **out, struct qn_error *e)
{
    struct exchange x;
    qn_err err = begin(&x, cli, path, body, e);
    if (err)
        goto out;
    curl_easy_setopt(x.curl, CURLOPT_TIMEOUT, timeout_s);
    CURLcode rc = curl_easy_perform(x.curl);
    if (rc != CURLE_OK) {
        err = transport_error(cli, rc, e);
        goto out;
    }
    long status = 0;
    curl_easy_getinfo(x.curl, CURLINFO_RESPONSE_CODE, &status);
    if (status >= 300) {
        err = reply_error(&x, status, e);
        goto out;
    }
    struct qn_error reason = {0};
    if (qn_json_parse(qn_buf_cstr(&x.body), x.body.len, out, &reason))
        err = qn_fail(e, QN_EFORMAT, "%s does not speak like a quince server: %s", cli->base_url,
                      reason.message);
out:
    end(&x);
    return err;
}

bool qn_client_alive(const struct qn_cli *cli)
{
    struct exchange x;
    long status = 0;
    if (begin(&x, cli, "/live", NULL, NULL) == QN_OK) {
        curl_easy_setopt(x.curl, CURLOPT_TIMEOUT_MS, (long)ALIVE_TIMEOUT_MS);
        if (curl_easy_perform(x.curl) == CURLE_OK)
            curl_easy_getinfo(x.curl, CURLINFO_RESPONSE_CODE, &status);
    }
    end(&x);
    return status == 200;
}

/* Runs the transfer on a multi handle, so that *stop is seen soon also while nothing arrives. */
static CURLcode perform_until(CURL *curl, const volatile int *stop, bool *cancelled)
{
    CURLM *multi = curl_multi_init();
    if (!multi)
        return CURLE_OUT_OF_MEMORY;
    curl_multi_add_handle(multi, curl);
    CURLcode rc = CURLE_OK;
    int running = 1;
    while (running && !*cancelled) {
        if (curl_multi_perform(multi, &running) != CURLM_OK)
            break;
        if (running)
            curl_multi_poll(multi, NULL, 0, POLL_MS, NULL);
        *cancelled = stop && *stop;
    }
    int left;
    for (CURLMsg *m; (m = curl_multi_info_read(multi, &left));)
        if (m->msg == CURLMSG_DONE)
            rc = m->data.result;
    curl_multi_remove_handle(multi, curl);
    curl_multi_cleanup(multi);
    return rc;
}

qn_err qn_client_stream(const struct qn_cli *cli, const char *path, const char *body,
                        qn_client_event fn, void *ctx, const volatile int *stop, struct qn_error *e)
{
    struct exchange x;
    qn_err err = begin(&x, cli, path, body, e);
    if (err)
        goto out;
    x.streaming = true;
    x.fn = fn;
    x.ctx = ctx;
    bool cancelled = false;
    CURLcode rc = perform_until(x.curl, stop, &cancelled);
    long status = 0;
    curl_easy_getinfo(x.curl, CURLINFO_RESPONSE_CODE, &status);
    if (cancelled || x.stopped)
        err = qn_fail(e, QN_ECANCELLED, "stopped");
    else if (rc != CURLE_OK)
        err = transport_error(cli, rc, e);
    else if (status != 200)
        err = reply_error(&x, status, e);
out:
    end(&x);
    return err;
}
