/* HTTP requests to other machines, and the rules that every hub and every download follows.
 *
 *   - When offline, nothing here touches the network.
 *   - Only https, and only public addresses: a hub's reply must not direct quince to a service
 *     inside the user's network. Two exceptions: the endpoints that the user has configured,
 * exactly as they are written (an http endpoint may also redirect to http addresses of the public
 *     internet), and every address if allow_private is set. Each redirect is checked like a first
 *     address, and each address again when its name has been resolved.
 *   - A token is sent only to the host (and port) that it was given for, and never over http to the
 *     internet.
 *   - A proxy is taken from the environment (https_proxy, http_proxy, all_proxy, no_proxy). The
 *     proxy resolves names, so names of private networks ("intranet", "nas.local") are refused when
 *     one is used.
 *   - Temporary failures (no connection, 408, 429, 5xx) are retried with growing pauses, or after
 *     the time in Retry-After.
 *
 * Blocking, on any thread; libcurl is not visible to callers. */
#ifndef QN_REGISTRY_WEB_H
#define QN_REGISTRY_WEB_H

#include "base/buf.h"
#include "base/error.h"
#include "registry/rate.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    QN_WEB_URL_MAX = 8192, /* signed addresses are long */
    QN_WEB_REDIRECTS_MAX = 10,
    QN_WEB_ENDPOINTS_MAX = 8,
    QN_WEB_RETRIES = 10,          /* failures in a row without progress */
    QN_WEB_PAUSE_MS = 2000,       /* before the second try; doubles with each one */
    QN_WEB_PAUSE_MAX_MS = 120000, /* upper limit of the pause */
    QN_WEB_RETRY_AFTER_MAX_S = 600,
    QN_WEB_STALL_S = 60, /* a transfer that is slower than QN_WEB_STALL_RATE for this many seconds
                            is ended and tried again */
    QN_WEB_STALL_RATE = 1000,
    QN_WEB_CONNECT_MS = 30000,
    QN_WEB_REPLY_MAX = 64 * 1024 * 1024, /* of a document that is read into memory */
    QN_WEB_ETAG_MAX = 256
};

/* Settings that all requests of one job share: a plain value. Copy the router's, and give the copy
 * the job's own stop flag. Strings are lent. */
struct qn_web {
    const atomic_bool *offline; /* while true, every request is QN_EUNSUPPORTED; NULL: never. May
                                   change at any time */
    bool allow_private;         /* allow http, and addresses inside the user's network */
    const char *endpoints[QN_WEB_ENDPOINTS_MAX]; /* configured hubs: "https://huggingface.co"; NULLs
                                                    are skipped */
    const char *ca_file;                         /* NULL: the system's certificates */
    struct qn_rate *rate;    /* the limit that all downloads share; NULL: no limit. Other requests
                                do not count */
    const atomic_bool *stop; /* NULL: never set; the call ends within 200 ms with QN_ECANCELLED */
    unsigned connections;    /* of one download at a time; 0: QN_FETCH_CONNECTIONS */
    int retries;             /* 0: QN_WEB_RETRIES; < 0: none */
    int pause_ms;            /* 0: QN_WEB_PAUSE_MS */
    int stall_s;             /* 0: QN_WEB_STALL_S */
};

/* One request. Only url is needed. */
struct qn_web_ask {
    const char *url;
    const char *method; /* NULL: GET. HEAD, POST, PUT, … */
    const char *token;  /* sent as Authorization: Bearer to url's own host only */
    const char *accept; /* the Accept header */
    const char *body;   /* JSON document, sent as "application/json", or NULL */
    size_t limit;       /* largest reply in bytes; 0: QN_WEB_REPLY_MAX */
    bool stay;          /* do not follow redirects: the reply is the 3xx */
};

struct qn_web_reply {
    int status; /* of the last hop; 2xx, 3xx or 4xx */
    struct qn_buf body;
    char *url;             /* final address after redirects */
    struct qn_buf headers; /* of the last hop, one "Name: value\n" each */
};

/* Sends a request and waits for the whole reply. QN_OK for every final status (2xx, and 4xx except
 * 408 and 429), which the caller has to check. Errors: QN_EUNSUPPORTED (offline), QN_EINVAL (the
 * rules forbid the address), QN_ETIMEOUT, QN_EIO (no connection, or the server kept failing),
 * QN_EBUSY (429 or 503 on the last try), QN_ELIMIT (the reply is longer than the limit),
 * QN_ECANCELLED. In every case the caller must pass out to qn_web_reply_deinit. */
qn_err qn_web_ask(const struct qn_web *web, const struct qn_web_ask *ask, struct qn_web_reply *out,
                  struct qn_error *e);
void qn_web_reply_deinit(struct qn_web_reply *r);

/* The value of a header of the last hop, malloc'ed without surrounding spaces, or NULL. */
char *qn_web_header(const struct qn_web_reply *r, const char *name);

bool qn_web_is_offline(const struct qn_web *web); /* the current value of web->offline */
/* QN_EUNSUPPORTED, with what to do, when web is offline. */
qn_err qn_web_online(const struct qn_web *web, const char *what, struct qn_error *e);

/* Checks whether a request to url is allowed: its form, its scheme, an address written as a number.
 * Pure. QN_EINVAL. */
qn_err qn_web_allowed(const struct qn_web *web, const char *url, struct qn_error *e);

#endif
