/* The path of one request through redirects, and the setup of a curl handle for its next hop.
 * Shared by web.c and the download engine, the only users of libcurl. */
#ifndef QN_REGISTRY_WEB_WAY_H
#define QN_REGISTRY_WEB_WAY_H

#include "registry/curl.h"
#include "registry/web.h"

enum { QN_WEB_SHOWN_MAX = 300 };

struct qn_way {
    const struct qn_web *web;
    char *first, *url; /* the first address; the address of the current hop. malloc'ed */
    const char *token; /* lent, or NULL */
    int redirects;
    bool private_ok;  /* this hop may connect to addresses inside the user's network */
    bool forbidden;   /* the address check of web.h refused the last connection */
    bool plain_token; /* this hop would send the token without TLS */
};

/* Begins at url, which is checked. QN_EUNSUPPORTED (offline), QN_EINVAL. w must be zeroed or have
 * been begun before. */
qn_err qn_way_begin(struct qn_way *w, const struct qn_web *web, const char *url, const char *token,
                    struct qn_error *e);
/* Moves on to location, absolute or relative, with the same checks; QN_ELIMIT after too many
 * redirects. */
qn_err qn_way_redirect(struct qn_way *w, const char *location, struct qn_error *e);
void qn_way_deinit(struct qn_way *w);

/* Sets the options that every request needs: address, protocols, proxy, certificates, the address
 * check, and the token if the hop may have it. Headers are appended to *headers, which the caller
 * frees. w must outlive the transfer. The handle must be new or reset. */
void qn_way_prepare(struct qn_way *w, CURL *easy, struct curl_slist **headers);

/* The error for a transfer that ended with this code. detail: curl's error text, may be "". */
qn_err qn_way_fail(const struct qn_way *w, CURLcode code, const char *detail, struct qn_error *e);
/* True if the same request would fail again (an invalid certificate, a forbidden address). */
bool qn_way_hopeless(const struct qn_way *w, CURLcode code);

/* Milliseconds to wait after this many failures in a row (from 1), with jitter. */
int64_t qn_web_pause_ms(const struct qn_web *web, int failures);
int qn_web_retries(const struct qn_web *web);
bool qn_web_stopped(const struct qn_web *web);
bool qn_web_passing(int status); /* 408, 425, 429, 5xx: a retry may succeed */

/* An address without its query, which may contain signatures: for messages and logs. */
const char *qn_web_shown(const char *url, char out[static QN_WEB_SHOWN_MAX]);

#endif
