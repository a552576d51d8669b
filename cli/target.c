/* See target.h. */
#include "cli/target.h"

#include "base/buf.h"
#include "base/str.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { URL_MAX = 4096, HTTPS_PORT = 443 };

/* The parts of an address; they point into its text. */
struct pieces {
    const char *scheme, *host, *port, *path;
    size_t host_len, port_len;
};

static void split(const char *text, struct pieces *p)
{
    *p = (struct pieces){.scheme = "http", .port = "", .path = ""};
    if (qn_str_starts(text, "http://")) {
        text += strlen("http://");
    } else if (qn_str_starts(text, "https://")) {
        p->scheme = "https";
        text += strlen("https://");
    }
    size_t n = strcspn(text, "/");
    p->path = text + n;
    const char *first = memchr(text, ':', n), *last = memrchr(text, ':', n);
    const char *close = text[0] == '[' ? memchr(text, ']', n) : NULL;
    p->host = text;
    p->host_len = n;
    const char *colon = NULL;
    if (close) {
        p->host = text + 1;
        p->host_len = (size_t)(close - text) - 1;
        colon = last > close ? last : NULL;
    } else if (first && first == last) { /* an address with two or more colons is IPv6 */
        p->host_len = (size_t)(first - text);
        colon = first;
    }
    if (colon) {
        p->port = colon + 1;
        p->port_len = (size_t)(text + n - p->port);
    }
}

static bool is_host(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)s[i]) && !strchr(".-_:%", s[i]))
            return false;
    return n > 0;
}

static bool is_any(const char *host)
{
    return qn_str_eq(host, "0.0.0.0") || qn_str_eq(host, "::");
}

static bool is_local(const char *host)
{
    return is_any(host) || qn_str_ieq(host, "localhost") || qn_str_eq(host, "::1") ||
           (qn_str_starts(host, "127.") && strspn(host, "0123456789.") == strlen(host));
}

/* Takes the first candidate that was given; false if it is not a port. */
static bool choose_port(struct qn_target *t, const char *const candidates[3])
{
    for (int i = 0; i < 3; i++) {
        int64_t port;
        if (!candidates[i] || !candidates[i][0])
            continue;
        if (!qn_parse_i64(candidates[i], &port) || port < 0 || port > 65535)
            return false;
        t->port = (int)port;
        t->named_port = i < 2;
        return true;
    }
    return true;
}

qn_err qn_target_parse(struct qn_target *t, const char *host, const char *port, const char *preset,
                       struct qn_error *e)
{
    *t = (struct qn_target){.named_host = host && host[0]};
    const char *text = t->named_host ? host : "localhost";
    struct pieces p;
    split(text, &p);
    bool secure = qn_str_eq(p.scheme, "https");
    t->port = secure ? HTTPS_PORT : QN_CLI_PORT;
    if (!is_host(p.host, p.host_len) || qn_str_starts(p.path, "//") ||
        p.path - p.host > URL_MAX / 2)
        return qn_fail(e, QN_EINVAL,
                       "'%.200s' is not a host: give a name, an address, HOST:PORT or a URL", text);
    char *own_port = qn_xstrndup(p.port, p.port_len);
    t->host = qn_xstrndup(p.host, p.host_len);
    const char *const candidates[] = {port, own_port, secure ? NULL : preset};
    bool good = choose_port(t, candidates);
    free(own_port);
    if (!good) {
        qn_target_deinit(t);
        return qn_fail(e, QN_EINVAL, "the port must be a number from 1 to 65535");
    }
    size_t path_len = strlen(p.path);
    while (path_len && p.path[path_len - 1] == '/')
        path_len--;
    t->local = !secure && path_len == 0 && is_local(t->host);
    const char *called = is_any(t->host) ? "localhost" : t->host;
    bool v6 = strchr(called, ':') != NULL;
    struct qn_buf url;
    qn_buf_init(&url, URL_MAX);
    qn_buf_fmt(&url, "%s://%s%s%s:%d", p.scheme, v6 ? "[" : "", called, v6 ? "]" : "", t->port);
    if (qn_buf_add(&url, p.path, path_len)) {
        qn_buf_deinit(&url);
        qn_target_deinit(t);
        return qn_fail(e, QN_EINVAL, "the server's URL is longer than %d bytes", URL_MAX);
    }
    t->url = qn_buf_take(&url);
    return QN_OK;
}

void qn_target_deinit(struct qn_target *t)
{
    free(t->url);
    free(t->host);
    *t = (struct qn_target){0};
}
