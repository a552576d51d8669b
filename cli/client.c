/* See client.h. */
#include "cli/client.h"

#include "base/str.h"
#include "formats/sse.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { CONNECT_TIMEOUT_S = 10, PROBE_TIMEOUT_MS = 5000, POLL_MS = 100 };

struct exchange {
    CURL *curl;
    struct curl_slist *headers;
    struct qn_buf body; /* the reply, unless it is a stream of events */
    struct qn_sse sse;
    bool streaming; /* the reply is an event stream that goes to fn */
    qn_client_event fn;
    void *ctx;
    bool stopped; /* fn returned false */
};

static void on_event(void *ctx, const char *event, const char *data, size_t n)
{
    struct exchange *x = ctx;
    if (!x->stopped && !x->fn(x->ctx, event, data, n))
        x->stopped = true;
}

static long status_of(struct exchange *x)
{
    long status = 0;
    curl_easy_getinfo(x->curl, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

static bool is_event_stream(struct exchange *x)
{
    const char *type = NULL;
    curl_easy_getinfo(x->curl, CURLINFO_CONTENT_TYPE, &type);
    return status_of(x) == 200 && type && qn_str_starts(type, "text/event-stream");
}

static size_t on_bytes(char *p, size_t size, size_t count, void *ctx)
{
    struct exchange *x = ctx;
    size_t n = size * count;
    qn_err err = x->streaming && is_event_stream(x) ? qn_sse_feed(&x->sse, p, n)
                                                    : qn_buf_add(&x->body, p, n);
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
    qn_buf_fmt(&url, "%s%s", cli->at.url, path);
    curl_easy_setopt(x->curl, CURLOPT_URL, qn_buf_cstr(&url));
    qn_buf_deinit(&url);
    curl_easy_setopt(x->curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(x->curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(x->curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_TIMEOUT_S);
    curl_easy_setopt(x->curl, CURLOPT_WRITEFUNCTION, on_bytes);
    curl_easy_setopt(x->curl, CURLOPT_WRITEDATA, x);
    if (cli->at.local)
        curl_easy_setopt(x->curl, CURLOPT_PROXY, "");
    if (body) {
        x->headers = curl_slist_append(x->headers, "Content-Type: application/json");
        x->headers = curl_slist_append(x->headers, "Expect:");
        curl_easy_setopt(x->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(body));
        curl_easy_setopt(x->curl, CURLOPT_COPYPOSTFIELDS, body);
    }
    const char *key = qn_str_starts(path, "/internal/") ? cli->admin_key : cli->api_key;
    if (key) {
        char *header = malloc(strlen(key) + 32);
        if (!header)
            return qn_fail(e, QN_ENOMEM, "no memory for a header");
        sprintf(header, "Authorization: Bearer %s", key);
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

static qn_err stranger(const struct qn_cli *cli, struct qn_error *e)
{
    return qn_fail(e, QN_EFORMAT,
                   "the program at %s is not a quince server: --port N selects another port",
                   cli->at.url);
}

/* Finds the message in any of the error formats that such servers use. */
static qn_err reply_error(const struct qn_cli *cli, struct exchange *x, struct qn_error *e)
{
    long status = status_of(x);
    qn_err code = status == 404                    ? QN_ENOTFOUND
                  : status == 409                  ? QN_ECONFLICT
                  : status == 429 || status == 503 ? QN_EBUSY
                  : status < 500                   ? QN_EINVAL
                                                   : QN_ECHILD;
    struct qn_json *doc = NULL;
    const char *message = NULL;
    bool too_long = false;
    if (qn_json_parse(qn_buf_cstr(&x->body), x->body.len, &doc, NULL) == QN_OK) {
        struct qn_jref root = qn_json_root(doc);
        struct qn_jref error = qn_json_get(&root, "error"), slug = qn_json_get(&error, "code");
        too_long = qn_str_eq(qn_json_raw_str(&slug), "context_length_exceeded");
        const struct qn_jref places[] = {qn_json_get(&error, "message"), error,
                                         qn_json_get(&root, "message")};
        for (size_t i = 0; i < sizeof places / sizeof *places && !message; i++)
            if (qn_json_type(&places[i]) == QN_JSON_STRING)
                message = qn_json_raw_str(&places[i]);
    }
    if (too_long)
        code = QN_ECONTEXT;
    if (status == 401)
        qn_fail(e, code,
                cli->api_key ? "the server at %s does not accept this API key: give another with "
                               "--api-key KEY or in QUINCE_API_KEY"
                             : "the server at %s needs an API key: give it with --api-key KEY or "
                               "in QUINCE_API_KEY",
                cli->at.url);
    else if (message)
        qn_fail(e, code, "%s", message);
    else
        code = stranger(cli, e);
    qn_json_free(doc);
    return code;
}

static qn_err transport_error(const struct qn_cli *cli, CURLcode rc, struct qn_error *e)
{
    switch (rc) {
    case CURLE_COULDNT_CONNECT:
        return cli->at.local
                   ? qn_fail(e, QN_EIO, "no server runs at %s: start one with `quince serve`",
                             cli->at.url)
                   : qn_fail(e, QN_EIO, "no server answers at %s", cli->at.url);
    case CURLE_COULDNT_RESOLVE_HOST:
        return qn_fail(e, QN_EIO, "the host '%s' was not found (%s)", cli->at.host, cli->at.url);
    case CURLE_OPERATION_TIMEDOUT:
        return qn_fail(e, QN_ETIMEOUT, "the server at %s did not answer in time", cli->at.url);
    case CURLE_UNSUPPORTED_PROTOCOL: /* curl reports HTTP/0.9, so the program does not speak HTTP */
    case CURLE_WEIRD_SERVER_REPLY:
        return stranger(cli, e);
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
        return qn_fail(e, QN_EIO, "the server at %s closed the connection: has it stopped?",
                       cli->at.url);
    default:
        return qn_fail(e, QN_EIO, "the connection to %s failed: %s", cli->at.url,
                       curl_easy_strerror(rc));
    }
}

/* Runs the transfer on a multi handle, so that wait->tick is called while no data arrives. */
static CURLcode perform(CURL *curl, const struct qn_client_wait *wait, bool *cancelled)
{
    CURLM *multi = curl_multi_init();
    *cancelled = false;
    if (!multi)
        return CURLE_OUT_OF_MEMORY;
    curl_multi_add_handle(multi, curl);
    CURLcode rc = CURLE_OK;
    int running = 1;
    while (running && !*cancelled) {
        if (curl_multi_perform(multi, &running) != CURLM_OK) {
            rc = CURLE_RECV_ERROR;
            break;
        }
        if (running)
            curl_multi_poll(multi, NULL, 0, POLL_MS, NULL);
        if (running && wait && wait->tick)
            wait->tick(wait->ctx);
        *cancelled = running && wait && wait->stop && *wait->stop;
    }
    int left;
    for (CURLMsg *m; (m = curl_multi_info_read(multi, &left));)
        if (m->msg == CURLMSG_DONE)
            rc = m->data.result;
    curl_multi_remove_handle(multi, curl);
    curl_multi_cleanup(multi);
    return rc;
}

/* Sends the request and checks status and headers of the reply; the caller parses the body. */
static qn_err exchange(struct exchange *x, const struct qn_cli *cli,
                       const struct qn_client_wait *wait, struct qn_error *e)
{
    bool cancelled;
    CURLcode rc = perform(x->curl, wait, &cancelled);
    if (cancelled || x->stopped)
        return qn_fail(e, QN_ECANCELLED, "stopped");
    if (x->body.overflow)
        return qn_fail(e, QN_ELIMIT, "the reply of %s is larger than %d bytes", cli->at.url,
                       QN_CLIENT_REPLY_MAX);
    if (rc != CURLE_OK)
        return transport_error(cli, rc, e);
    return status_of(x) >= 300 ? reply_error(cli, x, e) : QN_OK;
}

/* Sends the request, unless begin() failed with `err`, and parses the reply. */
static qn_err finish(struct exchange *x, const struct qn_cli *cli, qn_err err, long timeout_s,
                     const struct qn_client_wait *wait, struct qn_json **out, struct qn_error *e)
{
    if (!err) {
        curl_easy_setopt(x->curl, CURLOPT_TIMEOUT, timeout_s);
        err = exchange(x, cli, wait, e);
    }
    if (!err && qn_json_parse(qn_buf_cstr(&x->body), x->body.len, out, NULL))
        err = stranger(cli, e);
    end(x);
    return err;
}

qn_err qn_client_call(const struct qn_cli *cli, const char *path, const char *body, long timeout_s,
                      const struct qn_client_wait *wait, struct qn_json **out, struct qn_error *e)
{
    struct exchange x;
    qn_err err = begin(&x, cli, path, body, e);
    return finish(&x, cli, err, timeout_s, wait, out, e);
}

qn_err qn_client_send(const struct qn_cli *cli, const char *method, const char *path,
                      const char *body, long timeout_s, struct qn_json **out, struct qn_error *e)
{
    struct exchange x;
    qn_err err = begin(&x, cli, path, body, e);
    if (!err)
        curl_easy_setopt(x.curl, CURLOPT_CUSTOMREQUEST, method);
    return finish(&x, cli, err, timeout_s, NULL, out, e);
}

/* Sends the request, unless begin() failed with `err`, and hands over the reply's bytes. */
static qn_err finish_bytes(struct exchange *x, const struct qn_cli *cli, qn_err err,
                           const struct qn_client_wait *wait, struct qn_buf *out,
                           struct qn_error *e)
{
    if (!err)
        err = exchange(x, cli, wait, e);
    if (!err && x->body.len && qn_buf_add(out, x->body.data, x->body.len))
        err = qn_fail(e, QN_ELIMIT, "the reply of %s is larger than %zu bytes", cli->at.url,
                      out->limit);
    end(x);
    return err;
}

qn_err qn_client_fetch(const struct qn_cli *cli, const char *path, const char *body,
                       const struct qn_client_wait *wait, struct qn_buf *out, struct qn_error *e)
{
    struct exchange x;
    qn_err err = begin(&x, cli, path, body, e);
    return finish_bytes(&x, cli, err, wait, out, e);
}

static size_t read_file(char *p, size_t size, size_t count, void *ctx)
{
    size_t n = fread(p, size, count, ctx);
    return ferror((FILE *)ctx) ? CURL_READFUNC_ABORT : n;
}

/* Adds the field to the form. *file: the file that curl reads; NULL: none. */
static qn_err add_field(curl_mime *form, const struct qn_client_field *f, FILE **file,
                        struct qn_error *e)
{
    bool standard = qn_str_eq(f->file, "-");
    curl_mimepart *part = curl_mime_addpart(form);
    *file = NULL;
    if (!part || curl_mime_name(part, f->name) ||
        (!f->file && curl_mime_data(part, f->text, CURL_ZERO_TERMINATED)))
        return qn_fail(e, QN_ENOMEM, "no memory for a form");
    if (!f->file)
        return QN_OK;
    *file = standard ? stdin : fopen(f->file, "rb");
    if (!*file)
        return qn_fail_errno(e, "open %.400s", f->file);
    const char *name = strrchr(f->file, '/');
    name = standard ? "standard-input" : name ? name + 1 : f->file;
    struct stat st;
    bool sized = !standard && fstat(fileno(*file), &st) == 0 && S_ISREG(st.st_mode);
    /* Without a known size the form is sent in chunks. */
    if (curl_mime_data_cb(part, sized ? (curl_off_t)st.st_size : -1, read_file, NULL, NULL,
                          *file) ||
        curl_mime_filename(part, name))
        return qn_fail(e, QN_ENOMEM, "no memory for a form");
    return QN_OK;
}

qn_err qn_client_upload(const struct qn_cli *cli, const char *path,
                        const struct qn_client_field *fields, size_t n,
                        const struct qn_client_wait *wait, struct qn_buf *out, struct qn_error *e)
{
    struct exchange x;
    FILE *file = NULL, *opened = NULL;
    const char *unreadable = NULL;
    qn_err err = begin(&x, cli, path, NULL, e);
    curl_mime *form = err ? NULL : curl_mime_init(x.curl);
    if (!err && !form)
        err = qn_fail(e, QN_ENOMEM, "no memory for a form");
    for (size_t i = 0; i < n && !err; i++) {
        err = add_field(form, &fields[i], &file, e);
        opened = file ? file : opened;
        unreadable = file ? fields[i].file : unreadable;
    }
    if (!err) {
        x.headers = curl_slist_append(x.headers, "Expect:");
        curl_easy_setopt(x.curl, CURLOPT_HTTPHEADER, x.headers);
        curl_easy_setopt(x.curl, CURLOPT_MIMEPOST, form);
    }
    err = finish_bytes(&x, cli, err, wait, out, e);
    if (opened && ferror(opened))
        err = qn_fail(e, QN_EIO, "%.400s cannot be read", unreadable);
    curl_mime_free(form);
    if (opened && opened != stdin)
        fclose(opened);
    return err;
}

void qn_client_escape(struct qn_buf *out, const char *text, bool keep_slash)
{
    for (const char *s = text; *s; s++) {
        unsigned char c = (unsigned char)*s;
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     strchr("-._~", c) || (keep_slash && c == '/');
        qn_buf_fmt(out, plain ? "%c" : "%%%02X", c);
    }
}

enum qn_presence qn_client_probe(const struct qn_cli *cli)
{
    struct exchange x;
    struct qn_json *doc = NULL;
    enum qn_presence found = QN_NO_SERVER;
    if (begin(&x, cli, "/live", NULL, NULL) == QN_OK) {
        curl_easy_setopt(x.curl, CURLOPT_TIMEOUT_MS, (long)PROBE_TIMEOUT_MS);
        bool cancelled;
        CURLcode rc = perform(x.curl, NULL, &cancelled);
        if (rc == CURLE_COULDNT_CONNECT || rc == CURLE_COULDNT_RESOLVE_HOST)
            found = QN_NO_SERVER;
        else
            found = rc == CURLE_OPERATION_TIMEDOUT ? QN_SILENT : QN_STRANGER;
        if (rc == CURLE_OK && status_of(&x) == 200 &&
            qn_json_parse(qn_buf_cstr(&x.body), x.body.len, &doc, NULL) == QN_OK) {
            struct qn_jref root = qn_json_root(doc), status = qn_json_get(&root, "status");
            if (qn_str_eq(qn_json_raw_str(&status), "ok"))
                found = QN_SERVER;
        }
    }
    qn_json_free(doc);
    end(&x);
    return found;
}

qn_err qn_client_stream(const struct qn_cli *cli, const char *path, const char *body,
                        qn_client_event fn, void *ctx, const struct qn_client_wait *wait,
                        struct qn_error *e)
{
    struct exchange x;
    qn_err err = begin(&x, cli, path, body, e);
    if (!err) {
        x.streaming = true;
        x.fn = fn;
        x.ctx = ctx;
        err = exchange(&x, cli, wait, e);
    }
    if (!err && !is_event_stream(&x))
        err = stranger(cli, e);
    end(&x);
    return err;
}
