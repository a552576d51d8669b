/* One request's way through redirects, and how a curl handle is set up for its next hop. Shared by
 * web.c and download.c, which alone see libcurl. */
#ifndef QN_REGISTRY_WEB_WAY_H
#define QN_REGISTRY_WEB_WAY_H

#include "registry/curl.h"
#include "registry/web.h"

enum { QN_WEB_SHOWN_MAX = 300 };

struct qn_way {
    const struct qn_web *web;
    char *first, *url; /* where it began; the hop that comes now. malloc'ed */
    const char *token; /* lent, or NULL */
    int redirects;
    bool private_ok;  /* this hop may connect to addresses inside the user's network */
    bool forbidden;   /* the last connection was refused by us */
    bool plain_token; /* this hop has the token in it and no TLS around it */
};

/* Begins at url, which is checked. QN_EUNSUPPORTED (offline), QN_EINVAL. w must be zero or begun.
 */
qn_err qn_way_begin(struct qn_way *w, const struct qn_web *web, const char *url, const char *token,
                    struct qn_error *e);
/* Goes on to location, absolute or relative; the same checks, and QN_ELIMIT after too many. */
qn_err qn_way_redirect(struct qn_way *w, const char *location, struct qn_error *e);
void qn_way_deinit(struct qn_way *w);

/* Sets what every request has: address, protocols, proxy, certificates, the check of addresses, the
 * token where it belongs. *headers is appended to, and the caller's. w must outlive the transfer.
 * The handle should be fresh or reset. */
void qn_way_prepare(struct qn_way *w, CURL *easy, struct curl_slist **headers);

/* What a transfer that ended with code means. detail: curl's error text, may be "". */
qn_err qn_way_fail(const struct qn_way *w, CURLcode code, const char *detail, struct qn_error *e);
/* Would the same request fail again (a wrong certificate, a forbidden address). */
bool qn_way_hopeless(const struct qn_way *w, CURLcode code);

/* Milliseconds to wait after so many failures in a row (from 1), with jitter. */
int64_t qn_web_pause_ms(const struct qn_web *web, int failures);
int qn_web_retries(const struct qn_web *web);
bool qn_web_stopped(const struct qn_web *web);
bool qn_web_passing(int status); /* 408, 425, 429, 5xx: later it may be different */

/* An address without its query, which may hold signatures: for messages and logs. */
const char *qn_web_shown(const char *url, char out[static QN_WEB_SHOWN_MAX]);

#endif
