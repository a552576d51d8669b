/* Who may ask. Three doors, one behind the other:
 * - where a request comes from: the Host header (against DNS rebinding: a foreign web page whose
 *   name is made to point here), the Origin header and Sec-Fetch-Site (against foreign web pages
 *   that simply ask);
 * - its key, when there are any;
 * - for what changes the server itself, an admin key; while there is none, a program of the same
 *   user on this machine, which could change the server's files as well. */
#ifndef QN_ACCESS_AUTH_H
#define QN_ACCESS_AUTH_H

#include "access/keys.h"
#include "access/owner.h"
#include "io/http_server.h"

#include <stdbool.h>

/* What a route needs; a column of the table in routes.c. */
enum qn_route_class {
    QN_KEY = 0, /* a key, when there are any */
    QN_OPEN,    /* nothing: whether the server lives */
    QN_ADMIN,   /* an admin key, or the user's own programs: changes what all share */
    QN_GIVEN,   /* a key that an admin has given; without keys the user's own programs and pages */
    QN_METRICS  /* as QN_OPEN, or as QN_KEY where the setting metrics-auth says so */
};

struct qn_auth {
    const struct qn_keys *keys;
    const char *host;          /* the setting: where the server listens */
    const char *allow_hosts;   /* the setting: further names, with commas; "*": any */
    const char *allow_origins; /* the setting: pages, with commas; "*": any */
    bool open_to_others;       /* other machines reach it: they name it by its address */
    bool metrics_closed;
    bool needs_key; /* without a key strangers could enter, whom nobody has let in */
};

/* What a request says of itself. Strings MAY be NULL. */
struct qn_visit {
    const char *host, *origin, *site; /* headers Host, Origin, Sec-Fetch-Site */
    bool navigates;                   /* a GET by which a browser goes to a page */
    bool relayed;                     /* a proxy says that it passes it on for somebody */
    const char *secrets[4];           /* keys it has shown, wherever */
    const struct qn_http_ends *ends;  /* of its connection; NULL: unknown */
};

enum qn_verdict {
    QN_MAY,
    QN_BAD_HOST,   /* 403 */
    QN_BAD_ORIGIN, /* 403 */
    QN_NO_KEY,     /* 401: none, or a wrong one */
    QN_NO_ADMIN,   /* 403: a key that does not open this, or another user */
    QN_NO_USER,    /* 403: the same, of somebody of whom it is not known which user it is */
    QN_VERDICTS
};

/* The first door. */
enum qn_verdict qn_auth_guard(const struct qn_auth *a, const struct qn_visit *v);
/* The others. *key: whose key it is, NULL: none was needed. */
enum qn_verdict qn_auth_enter(const struct qn_auth *a, const struct qn_visit *v,
                              enum qn_route_class class, const struct qn_key_row **key);

/* Both for a request over HTTP; what is found out is kept for qn_auth_key. Lent strings of *v live
 * as long as the request. */
void qn_auth_visit(const struct qn_http *h, struct qn_visit *v, struct qn_http_ends *ends);
/* The same of one that asks for a WebSocket. Browsers cannot give it headers, so its key may also
 * stand in the address as api_key, or be offered as the subprotocol "bearer." and the key in
 * base64url. */
void qn_auth_visit_socket(const struct qn_http_upgrade *u, struct qn_visit *v,
                          struct qn_http_ends *ends);
enum qn_verdict qn_auth_admit(const struct qn_auth *a, struct qn_http *h, const struct qn_visit *v,
                              enum qn_route_class class);

/* Who asks, as far as it matters for what a request may see and change of others' things. */
struct qn_caller {
    uint64_t key; /* that it has shown; 0: none */
    bool admin;   /* it may what routes of QN_ADMIN need */
    char owner[QN_OWNER_MAX + 1];
};
void qn_auth_caller(const struct qn_auth *a, const struct qn_http *h, struct qn_caller *out);
void qn_auth_caller_of(const struct qn_auth *a, const struct qn_visit *v, struct qn_caller *out);

/* The key a request has shown, NULL: none or a wrong one. It lives as long as the request. */
const struct qn_key *qn_auth_key(const struct qn_http *h);

/* The client of an admitted request may be told paths of files and what models' processes print: an
 * admin. */
bool qn_auth_sees_inside(const struct qn_http *h);

/* A proxy says that it passes the request on for somebody, who may be anywhere. */
bool qn_auth_is_relayed(const struct qn_http *h);

/* There are keys, and the request has shown none: on an open route it learns that the server lives,
 * not what is inside. */
bool qn_auth_is_stranger(const struct qn_auth *a, const struct qn_http *h);

/* Logs what stands open though perhaps nobody meant it to. */
void qn_auth_warn(const struct qn_auth *a);

/* The words for a refusal: a slug and a sentence that says what to do. */
const char *qn_verdict_type(enum qn_verdict v);
const char *qn_verdict_text(enum qn_verdict v);
int qn_verdict_status(enum qn_verdict v);

/* True for a name or numeric address, without a port, by which this machine alone is meant. */
bool qn_auth_is_loopback(const char *name);

/* True when a Host header's value ("localhost:13305", "[::1]", "127.0.0.1") names this machine. */
bool qn_auth_host_ok(const struct qn_auth *a, const char *host);

/* True when an Origin header's value is the server's own page, a page served from this machine
 * ("http://localhost:3000"), one of a program on it ("vscode-webview://...") or an allowed one.
 * host: of the request. */
bool qn_auth_origin_ok(const struct qn_auth *a, const char *origin, const char *host);

/* True when a Content-Type's value says JSON. */
bool qn_auth_is_json(const char *content_type);

#endif
