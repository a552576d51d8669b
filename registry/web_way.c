/* See web_way.h. Addresses are parsed by libcurl's own parser, which also connects, so that the
 * check and the connection cannot disagree about an address. */
#include "registry/web_way.h"

#include "base/public_address.h"
#include "base/rand.h"
#include "base/str.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

/* A parsed address; each string is malloc'ed by curl. */
struct parts {
    char *scheme, *host, *port;
    bool user; /* it contains a user name or a password */
};

static void parts_free(struct parts *p)
{
    qn_curl.free(p->scheme);
    qn_curl.free(p->host);
    qn_curl.free(p->port);
    *p = (struct parts){NULL, NULL, NULL, false};
}

static bool parts_of(const char *url, struct parts *p)
{
    CURLU *u = qn_curl.url();
    char *user = NULL;
    *p = (struct parts){NULL, NULL, NULL, false};
    bool ok = u && !qn_curl.url_set(u, CURLUPART_URL, url, 0) &&
              !qn_curl.url_get(u, CURLUPART_SCHEME, &p->scheme, 0) &&
              !qn_curl.url_get(u, CURLUPART_HOST, &p->host, 0) &&
              !qn_curl.url_get(u, CURLUPART_PORT, &p->port, CURLU_DEFAULT_PORT) && p->host[0];
    if (ok && !qn_curl.url_get(u, CURLUPART_USER, &user, 0))
        p->user = true;
    qn_curl.free(user);
    qn_curl.url_cleanup(u);
    if (!ok)
        parts_free(p);
    return ok;
}

static bool same_origin(const struct parts *a, const struct parts *b)
{
    return strcasecmp(a->scheme, b->scheme) == 0 && strcasecmp(a->host, b->host) == 0 &&
           strcmp(a->port, b->port) == 0;
}

static bool is_endpoint(const struct qn_web *web, const struct parts *p)
{
    for (size_t i = 0; i < QN_WEB_ENDPOINTS_MAX; i++) {
        struct parts own;
        if (!web->endpoints[i] || !parts_of(web->endpoints[i], &own))
            continue;
        bool same = same_origin(&own, p);
        parts_free(&own);
        if (same)
            return true;
    }
    return false;
}

const char *qn_web_shown(const char *url, char out[static QN_WEB_SHOWN_MAX])
{
    snprintf(out, QN_WEB_SHOWN_MAX, "%.*s", (int)strcspn(url, "?#"), url);
    return out;
}

/* True if no_proxy names the host: host names or their endings, separated by commas; "*" matches
 * every host. */
static bool goes_direct(const char *host)
{
    const char *list = getenv("no_proxy");
    if (!list)
        list = getenv("NO_PROXY");
    for (const char *s = list; s && *s;) {
        s += strspn(s, ", \t");
        size_t n = strcspn(s, ", \t"), skip = n && *s == '.';
        const char *name = s + skip;
        size_t len = n - skip, have = strlen(host);
        if (len == 1 && *name == '*')
            return true;
        if (len && have >= len && strncasecmp(host + have - len, name, len) == 0 &&
            (have == len || host[have - len - 1] == '.'))
            return true;
        s += n;
    }
    return false;
}

/* The environment's proxy for an address, or "". HTTP_PROXY in capitals is ignored, because a CGI
 * server would set it from a client's header "Proxy:". */
static const char *proxy_for(const char *url)
{
    static const char *const for_https[] = {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"};
    static const char *const for_http[] = {"http_proxy", "all_proxy", "ALL_PROXY"};
    bool tls = strncasecmp(url, "https:", 6) == 0;
    const char *const *names = tls ? for_https : for_http;
    size_t n = tls ? sizeof for_https / sizeof *for_https : sizeof for_http / sizeof *for_http;
    const char *proxy = "";
    for (size_t i = 0; i < n && !proxy[0]; i++)
        if (getenv(names[i]))
            proxy = getenv(names[i]);
    struct parts p;
    if (proxy[0] && parts_of(url, &p)) {
        if (goes_direct(p.host))
            proxy = "";
        parts_free(&p);
    }
    return proxy;
}

/* True for names that public name servers do not resolve (RFC 6761, 6762, 8375; .internal is
 * ICANN's): a proxy would look them up in its own network. */
static bool is_inside_name(const char *host)
{
    static const char *const ends[] = {".local",     ".localhost",  ".internal", ".intranet",
                                       ".lan",       ".home",       ".corp",     ".private",
                                       ".home.arpa", ".localdomain"};
    char name[256];
    size_t n = strlen(host);
    while (n && host[n - 1] == '.') /* a dot at the end (the DNS root) makes no difference */
        n--;
    if (!n || n >= sizeof name || host[0] == '[')
        return false;
    for (size_t i = 0; i < n; i++)
        name[i] = (char)tolower((unsigned char)host[i]);
    name[n] = '\0';
    if (!strchr(name, '.'))
        return true;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (qn_str_ends(name, ends[i]))
            return true;
    return false;
}

/* Applies the rules of web.h to one hop. from: the first hop, or NULL if this is the first. */
static qn_err check(const struct qn_web *web, const char *url, const char *from, bool *private_ok,
                    struct qn_error *e)
{
    char shown[QN_WEB_SHOWN_MAX];
    struct parts p, first = {NULL, NULL, NULL, false};
    qn_err err = QN_OK;
    bool number;
    if ((err = qn_curl_load(e)))
        return err;
    if (strlen(url) > QN_WEB_URL_MAX)
        return qn_fail(e, QN_EINVAL, "an address has more than %d characters", QN_WEB_URL_MAX);
    if (!parts_of(url, &p))
        return qn_fail(e, QN_EINVAL, "%s: this is not an address of the web",
                       qn_web_shown(url, shown));
    bool own = is_endpoint(web, &p), tls = strcasecmp(p.scheme, "https") == 0;
    bool http_hub = own;
    if (from && parts_of(from, &first))
        http_hub = own || (strcasecmp(first.scheme, "http") == 0 && is_endpoint(web, &first));
    *private_ok = web->allow_private || own;
    if (!tls && strcasecmp(p.scheme, "http") != 0)
        err = qn_fail(e, QN_EINVAL, "%s: only https addresses can be fetched",
                      qn_web_shown(url, shown));
    else if (p.user)
        err = qn_fail(e, QN_EINVAL, "https://%.200s/...: an address may not carry a user name",
                      p.host);
    else if (!tls && !http_hub && !web->allow_private)
        err = qn_fail(e, QN_EINVAL,
                      "%s: plain http can be read and changed by others on the way: use https, or "
                      "allow-private-hubs for servers in a network that you trust",
                      qn_web_shown(url, shown));
    else if (!*private_ok && (!qn_address_host_public(p.host, &number) ||
                              (!number && *proxy_for(url) && is_inside_name(p.host))))
        err = qn_fail(e, QN_EINVAL,
                      "%s: this address is inside a private network: allow-private-hubs permits it",
                      qn_web_shown(url, shown));
    parts_free(&first);
    parts_free(&p);
    return err;
}

qn_err qn_web_allowed(const struct qn_web *web, const char *url, struct qn_error *e)
{
    bool private_ok;
    return check(web, url, NULL, &private_ok, e);
}

bool qn_web_is_offline(const struct qn_web *web)
{
    return web->offline && atomic_load_explicit(web->offline, memory_order_relaxed);
}

qn_err qn_web_online(const struct qn_web *web, const char *what, struct qn_error *e)
{
    if (!qn_web_is_offline(web))
        return QN_OK;
    return qn_fail(e, QN_EUNSUPPORTED,
                   "%s: quince is offline and touches no network: set offline to false first",
                   what);
}

qn_err qn_way_begin(struct qn_way *w, const struct qn_web *web, const char *url, const char *token,
                    struct qn_error *e)
{
    char shown[QN_WEB_SHOWN_MAX];
    qn_way_deinit(w);
    qn_err err = qn_web_online(web, qn_web_shown(url, shown), e);
    if (err)
        return err;
    w->web = web;
    w->token = token && token[0] ? token : NULL;
    if ((err = check(web, url, NULL, &w->private_ok, e)))
        return err;
    w->first = qn_xstrdup(url);
    w->url = qn_xstrdup(url);
    return QN_OK;
}

qn_err qn_way_redirect(struct qn_way *w, const char *location, struct qn_error *e)
{
    char shown[QN_WEB_SHOWN_MAX];
    char *next = NULL;
    if (++w->redirects > QN_WEB_REDIRECTS_MAX)
        return qn_fail(e, QN_ELIMIT, "%s: redirected more than %d times",
                       qn_web_shown(w->first, shown), QN_WEB_REDIRECTS_MAX);
    CURLU *u = qn_curl.url();
    bool ok = u && location[0] && !qn_curl.url_set(u, CURLUPART_URL, w->url, 0) &&
              !qn_curl.url_set(u, CURLUPART_URL, location, 0) &&
              !qn_curl.url_get(u, CURLUPART_URL, &next, 0);
    qn_curl.url_cleanup(u);
    if (!ok)
        return qn_fail(e, QN_EINVAL, "%s: redirected without a valid address",
                       qn_web_shown(w->url, shown));
    bool was_tls = strncasecmp(w->url, "https:", 6) == 0;
    bool private_ok;
    qn_err err = check(w->web, next, w->first, &private_ok, e);
    /* A redirect from https to http is refused even for a hub whose endpoint is http. */
    if (!err && was_tls && strncasecmp(next, "https:", 6) != 0 && !w->web->allow_private)
        err = qn_fail(e, QN_EINVAL, "%s: redirected from https to plain http",
                      qn_web_shown(w->url, shown));
    if (!err) {
        free(w->url);
        w->url = qn_xstrdup(next);
        w->private_ok = private_ok;
    }
    qn_curl.free(next);
    return err;
}

void qn_way_deinit(struct qn_way *w)
{
    free(w->first);
    free(w->url);
    *w = (struct qn_way){.web = NULL};
}

static curl_socket_t open_socket(void *ctx, curlsocktype purpose, struct curl_sockaddr *a)
{
    struct qn_way *w = ctx;
    (void)purpose;
    if (w->plain_token && qn_address_public(&a->addr)) {
        w->forbidden = true;
        return CURL_SOCKET_BAD;
    }
    if (!w->private_ok && !qn_address_public(&a->addr)) {
        w->forbidden = true;
        return CURL_SOCKET_BAD;
    }
    return socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);
}

void qn_way_prepare(struct qn_way *w, CURL *easy, struct curl_slist **headers)
{
    const char *proxy = proxy_for(w->url);
    struct parts first, now;
    w->forbidden = w->plain_token = false;
    /* The proxy is the user's choice, so its address is not checked. It resolves the names; those
     * that mean something only inside a network have been refused by check(). */
    if (proxy[0])
        w->private_ok = true;
    qn_curl.easy_setopt(easy, CURLOPT_URL, w->url);
    qn_curl.easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    qn_curl.easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    qn_curl.easy_setopt(easy, CURLOPT_PROXY, proxy);
    qn_curl.easy_setopt(easy, CURLOPT_NOPROXY, "");
    qn_curl.easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    qn_curl.easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    qn_curl.easy_setopt(easy, CURLOPT_OPENSOCKETDATA, w);
    qn_curl.easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    qn_curl.easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L); /* no wait for the resolver when stopped */
    qn_curl.easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)QN_WEB_CONNECT_MS);
    qn_curl.easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    qn_curl.easy_setopt(easy, CURLOPT_USERAGENT, "quince/" QN_VERSION);
    if (w->web->ca_file)
        qn_curl.easy_setopt(easy, CURLOPT_CAINFO, w->web->ca_file);
    if (w->token && parts_of(w->first, &first)) {
        if (parts_of(w->url, &now)) {
            struct qn_buf line;
            qn_buf_init(&line, QN_WEB_URL_MAX);
            bool tls = strcasecmp(now.scheme, "https") == 0;
            /* Over plain http through a proxy, the token could be sent on to any network. */
            if (same_origin(&first, &now) && (tls || !proxy[0]) &&
                !qn_buf_fmt(&line, "Authorization: Bearer %s", w->token)) {
                *headers = qn_curl.slist_append(*headers, line.data);
                w->plain_token = !tls;
            }
            qn_buf_deinit(&line);
            parts_free(&now);
        }
        parts_free(&first);
    }
}

bool qn_way_hopeless(const struct qn_way *w, CURLcode code)
{
    switch (code) {
    case CURLE_URL_MALFORMAT:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
        return true;
    default:
        return w->forbidden;
    }
}

qn_err qn_way_fail(const struct qn_way *w, CURLcode code, const char *detail, struct qn_error *e)
{
    char shown[QN_WEB_SHOWN_MAX];
    qn_web_shown(w->url ? w->url : "", shown);
    if (w->plain_token && w->forbidden)
        return qn_fail(e, QN_EINVAL,
                       "%s: the token would go over plain http to the internet, where others can "
                       "read it: use https",
                       shown);
    if (w->forbidden)
        return qn_fail(e, QN_EINVAL,
                       "%s: its name leads into a private network: allow-private-hubs permits it",
                       shown);
    if (!detail[0])
        detail = qn_curl.easy_strerror(code);
    return qn_fail(e, code == CURLE_OPERATION_TIMEDOUT ? QN_ETIMEOUT : QN_EIO, "%s: %s%s", shown,
                   detail,
                   code == CURLE_COULDNT_RESOLVE_HOST ? ": is this machine connected?" : "");
}

int64_t qn_web_pause_ms(const struct qn_web *web, int failures)
{
    int64_t ms = web->pause_ms > 0 ? web->pause_ms : QN_WEB_PAUSE_MS;
    unsigned char luck;
    for (int i = 1; i < failures && ms < QN_WEB_PAUSE_MAX_MS; i++)
        ms *= 2;
    if (ms > QN_WEB_PAUSE_MAX_MS)
        ms = QN_WEB_PAUSE_MAX_MS;
    qn_random_bytes(&luck, 1);
    return ms / 2 + ms * luck / 512; /* jitter: many clients do not retry at the same time */
}

int qn_web_retries(const struct qn_web *web)
{
    return web->retries ? (web->retries > 0 ? web->retries : 0) : QN_WEB_RETRIES;
}

bool qn_web_stopped(const struct qn_web *web)
{
    return web->stop && atomic_load_explicit(web->stop, memory_order_relaxed);
}

bool qn_web_passing(int status)
{
    return status == 408 || status == 425 || status == 429 || status >= 500;
}
