/* See auth.h. */
#include "access/auth.h"

#include "base/log.h"
#include "base/str.h"
#include "digest/base64.h"
#include "io/http_target.h"
#include "io/peer.h"

#include <arpa/inet.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

enum { NAME_MAX_BYTES = 255 };

/* Reduces "name", "name:port", "[v6]" or "[v6]:port" to the name without brackets. False: it has
 * none of these forms. */
static bool bare_name(const char *authority, char out[static NAME_MAX_BYTES + 1])
{
    const char *end, *port;
    if (*authority == '[') {
        end = strchr(++authority, ']');
        if (!end)
            return false;
        port = end + 1;
    } else {
        end = strchr(authority, ':');
        if (!end)
            end = authority + strlen(authority);
        port = end;
    }
    if (*port == ':')
        port += 1 + strspn(port + 1, "0123456789");
    size_t n = (size_t)(end - authority);
    if (*port || n == 0 || n > NAME_MAX_BYTES)
        return false;
    memcpy(out, authority, n);
    out[n] = '\0';
    return true;
}

bool qn_auth_is_loopback(const char *name)
{
    struct in_addr v4;
    struct in6_addr v6;
    size_t n = strlen(name);
    if (qn_str_ieq(name, "localhost"))
        return true;
    if (n > 10 && qn_str_ieq(name + n - 10, ".localhost"))
        return true;
    if (inet_pton(AF_INET, name, &v4) == 1)
        return (ntohl(v4.s_addr) >> 24) == 127;
    return inet_pton(AF_INET6, name, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

/* True when a comma-separated list has the word, or "*". */
static bool listed(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = list ? list : ""; *p; p += *p == ',') {
        p += strspn(p, " ");
        size_t len = strcspn(p, ","), used = len;
        while (used && p[used - 1] == ' ')
            used--;
        if ((used == 1 && *p == '*') || (used == n && n && !strncasecmp(p, word, n)))
            return true;
        p += len;
    }
    return false;
}

bool qn_auth_host_ok(const struct qn_auth *a, const char *host)
{
    char name[NAME_MAX_BYTES + 1];
    unsigned char address[sizeof(struct in6_addr)];
    if (!bare_name(host, name))
        return false;
    if (qn_auth_is_loopback(name) || qn_str_ieq(name, a->host) || listed(a->allow_hosts, name))
        return true;
    /* A numeric address cannot be redirected by DNS rebinding. */
    return a->open_to_others &&
           (inet_pton(AF_INET, name, address) == 1 || inet_pton(AF_INET6, name, address) == 1);
}

/* Origins of local programs that display pages: no web site can have one. */
static const char *const program_origins[] = {
    "app://",
    "tauri://",
    "vscode-webview://",
    "vscode-file://",
};

/* The authority of an http(s) origin, and the scheme's default port; NULL: another scheme. */
static const char *web_origin(const char *origin, const char **port)
{
    *port = strncasecmp(origin, "https://", 8) ? ":80" : ":443";
    if (!strncasecmp(origin, "http://", 7))
        return origin + 7;
    return strncasecmp(origin, "https://", 8) ? NULL : origin + 8;
}

/* True when the page was served by the host that it sends the request to. The scheme is not
 * compared, since a proxy may terminate https. */
static bool own_page(const char *origin, const char *host)
{
    const char *port, *authority = web_origin(origin, &port);
    if (!authority || !*authority || !host)
        return false;
    size_t n = strlen(authority), h = strlen(host);
    if (h == n + strlen(port) && qn_str_eq(host + n, port))
        h = n;
    return h == n && !strncasecmp(authority, host, n);
}

bool qn_auth_origin_ok(const struct qn_auth *a, const char *origin, const char *host)
{
    char name[NAME_MAX_BYTES + 1];
    const char *port, *authority = web_origin(origin, &port);
    for (size_t i = 0; i < sizeof program_origins / sizeof *program_origins; i++)
        if (!strncasecmp(origin, program_origins[i], strlen(program_origins[i])))
            return true;
    if (own_page(origin, host) || listed(a->allow_origins, origin))
        return true;
    return authority && bare_name(authority, name) && qn_auth_is_loopback(name);
}

enum qn_verdict qn_auth_guard(const struct qn_auth *a, const struct qn_visit *v)
{
    if (!v->host || !qn_auth_host_ok(a, v->host))
        return QN_BAD_HOST;
    if (v->origin)
        return qn_auth_origin_ok(a, v->origin, v->host) ? QN_MAY : QN_BAD_ORIGIN;
    /* Requests for a page's pictures and scripts have no Origin header; neither has navigation to a
     * page. */
    if (qn_str_ieq(v->site, "cross-site") && !v->navigates && !listed(a->allow_origins, "*"))
        return QN_BAD_ORIGIN;
    return QN_MAY;
}

/* The most privileged of the valid keys. */
static const struct qn_key_row *best_key(const struct qn_auth *a, const struct qn_visit *v)
{
    const struct qn_key_row *best = NULL;
    for (size_t i = 0; i < sizeof v->secrets / sizeof *v->secrets; i++) {
        const struct qn_key_row *found = qn_keys_find(a->keys, v->secrets[i]);
        if (found && (!best || found->admin))
            best = found;
    }
    return best;
}

/* Whether the peer is a program of the server's user. A web page served from another port of this
 * machine may belong to another user although the browser runs as the server's user; and behind a
 * proxy on this machine the client may be anyone. */
static enum qn_peer program_of(const struct qn_auth *a, const struct qn_visit *v)
{
    bool own = !v->origin || own_page(v->origin, v->host) || listed(a->allow_origins, v->origin);
    return own && !v->relayed ? qn_peer_is(v->ends) : QN_PEER_OTHER;
}

static enum qn_verdict verdict_on(enum qn_peer who)
{
    return who == QN_PEER_OWN ? QN_MAY : who == QN_PEER_UNKNOWN ? QN_NO_USER : QN_NO_ADMIN;
}

enum qn_verdict qn_auth_enter(const struct qn_auth *a, const struct qn_visit *v,
                              enum qn_route_class class, const struct qn_key_row **key)
{
    const struct qn_key_row *found = best_key(a, v);
    *key = found;
    if (class == QN_OPEN || (class == QN_METRICS && !a->metrics_closed))
        return QN_MAY;
    bool keyless = qn_keys_count(a->keys) == 0;
    if (class == QN_GIVEN && keyless && !v->relayed)
        return verdict_on(qn_peer_is(v->ends));
    if (class != QN_ADMIN && !(class == QN_GIVEN && keyless))
        return found || keyless ? QN_MAY : QN_NO_KEY;
    if (found && found->admin)
        return QN_MAY;
    enum qn_peer who = qn_keys_have_admin(a->keys) ? QN_PEER_OTHER : program_of(a, v);
    if (who != QN_PEER_OWN && !found && !keyless)
        return QN_NO_KEY;
    return verdict_on(who);
}

/* The token after "Bearer". */
static const char *bearer(const char *authorization)
{
    if (!authorization || strncasecmp(authorization, "Bearer ", 7) != 0)
        return NULL;
    return authorization + 7 + strspn(authorization + 7, " ");
}

/* Headers that proxies and tunnels add. */
static const char *const relay_headers[] = {"Forwarded",        "Via",       "X-Forwarded-For",
                                            "X-Forwarded-Host", "X-Real-IP", "CF-Connecting-IP",
                                            "True-Client-IP"};
enum { RELAY_HEADERS = sizeof relay_headers / sizeof *relay_headers };

bool qn_auth_is_relayed(const struct qn_http *h)
{
    for (size_t i = 0; i < RELAY_HEADERS; i++)
        if (qn_http_header(h, relay_headers[i]))
            return true;
    return false;
}

static bool socket_is_relayed(const struct qn_http_upgrade *u)
{
    for (size_t i = 0; i < RELAY_HEADERS; i++)
        if (qn_http_upgrade_header(u, relay_headers[i]))
            return true;
    return false;
}

void qn_auth_visit(const struct qn_http *h, struct qn_visit *v, struct qn_http_ends *ends)
{
    const char *mode = qn_http_header(h, "Sec-Fetch-Mode");
    *v = (struct qn_visit){
        .host = qn_http_header(h, "Host"),
        .origin = qn_http_header(h, "Origin"),
        .site = qn_http_header(h, "Sec-Fetch-Site"),
        .relayed = qn_auth_is_relayed(h),
        .navigates = qn_str_eq(qn_http_method(h), "GET") && qn_str_ieq(mode, "navigate"),
        .secrets = {bearer(qn_http_header(h, "Authorization")), qn_http_header(h, "x-api-key"),
                    qn_http_header(h, "X-Admin-Token")},
        .ends = qn_http_ends(h, ends) ? ends : NULL,
    };
}

/* The key after "bearer." among the subprotocols, NULL: none. */
static const char *offered_key(const struct qn_http_upgrade *u)
{
    static const char mark[] = "bearer.";
    const char *list = qn_http_upgrade_header(u, "Sec-WebSocket-Protocol");
    while (list && *list) {
        list += strspn(list, ", \t");
        size_t n = strcspn(list, ", \t"), skip = sizeof mark - 1, len;
        if (n > skip && n <= QN_KEY_SECRET_MAX && !strncmp(list, mark, skip)) {
            char *text = qn_arena_strndup(u->arena, list + skip, n - skip);
            for (char *c = text; *c; c++)
                *c = *c == '-' ? '+' : *c == '_' ? '/' : *c;
            char *key = qn_arena_alloc(u->arena, n + 4);
            if (qn_base64_decode(text, n - skip, key, &len) && !memchr(key, '\0', len)) {
                key[len] = '\0';
                return key;
            }
        }
        list += n;
    }
    return NULL;
}

void qn_auth_visit_socket(const struct qn_http_upgrade *u, struct qn_visit *v,
                          struct qn_http_ends *ends)
{
    *v = (struct qn_visit){
        .host = qn_http_upgrade_header(u, "Host"),
        .origin = qn_http_upgrade_header(u, "Origin"),
        .site = qn_http_upgrade_header(u, "Sec-Fetch-Site"),
        .relayed = socket_is_relayed(u),
        .secrets = {bearer(qn_http_upgrade_header(u, "Authorization")),
                    qn_http_upgrade_header(u, "x-api-key"),
                    qn_query_find(u->query, "api_key", u->arena), offered_key(u)},
        .ends = qn_http_upgrade_ends(u, ends) ? ends : NULL,
    };
}

/* Kept with an admitted request. */
struct about {
    const struct qn_auth *auth;
    bool has_key;
    struct qn_key key;
};

enum qn_verdict qn_auth_admit(const struct qn_auth *a, struct qn_http *h, const struct qn_visit *v,
                              enum qn_route_class class)
{
    const struct qn_key_row *row;
    enum qn_verdict verdict = qn_auth_enter(a, v, class, &row);
    struct about *about = qn_arena_alloc(qn_http_arena(h), sizeof *about);
    *about = (struct about){.auth = a, .has_key = row != NULL};
    if (row) /* copied: keys may be removed while requests that use them run */
        about->key = (struct qn_key){.id = row->id,
                                     .name = qn_arena_strdup(qn_http_arena(h), row->name),
                                     .admin = row->admin,
                                     .shared = row->fixed};
    qn_http_set_about(h, about);
    return verdict;
}

void qn_auth_caller_of(const struct qn_auth *a, const struct qn_visit *v, struct qn_caller *out)
{
    const struct qn_key_row *key;
    out->admin = qn_auth_enter(a, v, QN_ADMIN, &key) == QN_MAY;
    out->key = key ? key->id : 0;
    qn_owner_name(key, v->ends, out->owner);
}

void qn_auth_caller(const struct qn_auth *a, const struct qn_http *h, struct qn_caller *out)
{
    struct qn_visit visit;
    struct qn_http_ends ends;
    qn_auth_visit(h, &visit, &ends);
    qn_auth_caller_of(a, &visit, out);
}

const struct qn_key *qn_auth_key(const struct qn_http *h)
{
    const struct about *about = qn_http_about(h);
    return about && about->has_key ? &about->key : NULL;
}

bool qn_auth_sees_inside(const struct qn_http *h)
{
    const struct about *about = qn_http_about(h);
    struct qn_caller caller = {0};
    if (about)
        qn_auth_caller(about->auth, h, &caller);
    return caller.admin;
}

bool qn_auth_is_stranger(const struct qn_auth *a, const struct qn_http *h)
{
    return qn_keys_count(a->keys) > 0 && !qn_auth_key(h);
}

void qn_auth_warn(const struct qn_auth *a)
{
    const struct qn_key_row *row;
    for (size_t i = 0; a->open_to_others && (row = qn_keys_at(a->keys, i)); i++)
        if (row->weak)
            qn_warn(
                "auth",
                "key=%s message=\"it is shorter than %d characters and other machines reach this "
                "server: `quince keys add NAME` makes one that cannot be guessed\"",
                row->name, QN_KEY_SHORT);
    if (qn_keys_count(a->keys) == 0 && listed(a->allow_origins, "*"))
        qn_warn("auth",
                "allow-origins=* message=\"any web page that a browser of this machine shows "
                "can use the models: `quince keys add NAME` makes a key\"");
}

static const struct {
    int status;
    const char *type, *text;
} verdicts[QN_VERDICTS] = {
    [QN_MAY] = {200, "", ""},
    [QN_BAD_HOST] = {403, "host_not_allowed",
                     "This Host is not allowed: use http://localhost or 127.0.0.1, or add the name "
                     "to the setting allow-hosts"},
    [QN_BAD_ORIGIN] = {403, "origin_not_allowed",
                       "Origin not allowed: only pages served from this machine may ask, and those "
                       "of the setting allow-origins"},
    [QN_NO_KEY] = {401, "invalid_api_key",
                   "Invalid or missing API key: send it as 'Authorization: Bearer KEY' or as "
                   "'x-api-key: KEY'"},
    [QN_NO_ADMIN] = {403, "admin_key_required",
                     "This needs an admin key. Without one, only programs of the user who runs the "
                     "server may do it, on the server's machine"},
    [QN_NO_USER] = {403, "admin_key_required",
                    "This needs an admin key, because the kernel does not tell the server which "
                    "user asks (it has no sock_diag, and /proc/net/tcp does not show the "
                    "connection). Start the server with QUINCE_ADMIN_API_KEY=SECRET in its "
                    "environment, and send that secret as 'Authorization: Bearer SECRET'; the "
                    "program quince takes it from the same variable"},
};

const char *qn_verdict_type(enum qn_verdict v)
{
    return verdicts[v].type;
}

const char *qn_verdict_text(enum qn_verdict v)
{
    return verdicts[v].text;
}

int qn_verdict_status(enum qn_verdict v)
{
    return verdicts[v].status;
}

bool qn_auth_is_json(const char *type)
{
    if (!type)
        return false;
    size_t n = strcspn(type, "; \t");
    return (n == 16 && !strncasecmp(type, "application/json", n)) ||
           (n > 5 && !strncasecmp(type + n - 5, "+json", 5));
}
