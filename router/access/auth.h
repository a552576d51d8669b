/* Access control. Three checks, one after the other:
 * - where a request comes from: the Host header (against DNS rebinding, by which a foreign web
 *   page's name is made to point to this machine), the Origin header and Sec-Fetch-Site (against
 *   requests from foreign web pages);
 * - its key, if any keys exist;
 * - for requests that change the server itself, an admin key; if none exists, a program of the
 *   same user on this machine, which could change the server's files anyway. */
#ifndef QN_ACCESS_AUTH_H
#define QN_ACCESS_AUTH_H

#include "access/keys.h"
#include "access/owner.h"
#include "io/http_server.h"

#include <stdbool.h>

/* The access that a route requires; a column of the table in routes.c. */
enum qn_route_class {
    QN_KEY = 0, /* a key, if any keys exist */
    QN_OPEN,    /* no key: whether the server is alive */
    QN_ADMIN,   /* an admin key, or a program of the server's user: changes shared state */
    QN_GIVEN,   /* a key that an admin has created; without keys, programs and pages of the server's
                   user */
    QN_METRICS  /* as QN_OPEN, or as QN_KEY if the setting metrics-auth is on */
};

struct qn_auth {
    const struct qn_keys *keys;
    const char *host;          /* the setting: where the server listens */
    const char *allow_hosts;   /* the setting: further host names, comma-separated; "*": any */
    const char *allow_origins; /* the setting: allowed origins, comma-separated; "*": any */
    bool open_to_others; /* other machines can reach the server, and may use its address as Host */
    bool metrics_closed;
    bool needs_key; /* a key is required, since otherwise any machine that reaches the server could
                       use it */
};

/* The properties of a request that access depends on. Strings MAY be NULL. */
struct qn_visit {
    const char *host, *origin, *site; /* headers Host, Origin, Sec-Fetch-Site */
    bool navigates;                   /* a GET by which a browser navigates to a page */
    bool relayed;                     /* a proxy's headers say that the request is forwarded */
    const char *secrets[4];           /* all keys that the request has sent */
    const struct qn_http_ends *ends;  /* of its connection; NULL: unknown */
};

enum qn_verdict {
    QN_MAY,
    QN_BAD_HOST,   /* 403 */
    QN_BAD_ORIGIN, /* 403 */
    QN_NO_KEY,     /* 401: no key, or an invalid one */
    QN_NO_ADMIN,   /* 403: this needs an admin key or, if there is none, a program of the server's
                      user */
    QN_NO_USER,    /* 403: likewise, and the user (UID) of the peer is unknown */
    QN_VERDICTS
};

/* The first of the three checks: where the request comes from. */
enum qn_verdict qn_auth_guard(const struct qn_auth *a, const struct qn_visit *v);
/* The second and third check: the key, and the right to change the server. *key: the valid key that
 * was sent, NULL: none. */
enum qn_verdict qn_auth_enter(const struct qn_auth *a, const struct qn_visit *v,
                              enum qn_route_class class, const struct qn_key_row **key);

/* Collects the properties of an HTTP request. Strings of *v are lent for the life of the request.
 */
void qn_auth_visit(const struct qn_http *h, struct qn_visit *v, struct qn_http_ends *ends);
/* The same for a WebSocket request. Browsers cannot add headers to it, so the client may also send
 * its key as the query parameter api_key, or offer it as the subprotocol "bearer." followed by the
 * key in base64url. */
void qn_auth_visit_socket(const struct qn_http_upgrade *u, struct qn_visit *v,
                          struct qn_http_ends *ends);
enum qn_verdict qn_auth_admit(const struct qn_auth *a, struct qn_http *h, const struct qn_visit *v,
                              enum qn_route_class class);

/* The part of a client's identity on which depends what its request may see and change. */
struct qn_caller {
    uint64_t key; /* id of the key that was sent; 0: none */
    bool admin;   /* has the rights that QN_ADMIN routes require */
    char owner[QN_OWNER_MAX + 1];
};
void qn_auth_caller(const struct qn_auth *a, const struct qn_http *h, struct qn_caller *out);
void qn_auth_caller_of(const struct qn_auth *a, const struct qn_visit *v, struct qn_caller *out);

/* The key that a request has sent, NULL: none or an invalid one. Lent for the life of the
 * request. */
const struct qn_key *qn_auth_key(const struct qn_http *h);

/* True when the client of an admitted request may see paths of files and output of models'
 * processes: an admin. */
bool qn_auth_sees_inside(const struct qn_http *h);

/* True when a proxy has forwarded the request, so that its client may be on any machine. */
bool qn_auth_is_relayed(const struct qn_http *h);

/* True when keys exist and the request has sent none. On an open route such a client is told that
 * the server is alive, but no details. */
bool qn_auth_is_stranger(const struct qn_auth *a, const struct qn_http *h);

/* Logs settings that may leave the server open unintentionally. */
void qn_auth_warn(const struct qn_auth *a);

/* The error for a refusal: a slug and a sentence that says what to do. */
const char *qn_verdict_type(enum qn_verdict v);
const char *qn_verdict_text(enum qn_verdict v);
int qn_verdict_status(enum qn_verdict v);

/* True for a name or numeric address, without a port, that means the loopback interface. */
bool qn_auth_is_loopback(const char *name);

/* True when a Host header's value ("localhost:13305", "[::1]", "127.0.0.1") names this machine. */
bool qn_auth_host_ok(const struct qn_auth *a, const char *host);

/* True when an Origin header's value is the server's own page, a page served from this machine
 * ("http://localhost:3000"), one of a program on it ("vscode-webview://...") or an allowed one.
 * host: the request's Host header. */
bool qn_auth_origin_ok(const struct qn_auth *a, const char *origin, const char *host);

/* True when a Content-Type's value is JSON. */
bool qn_auth_is_json(const char *content_type);

#endif
