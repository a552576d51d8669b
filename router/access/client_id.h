/* Client identities: one short name per client, for fair queues, rate limits and metrics. The name
 * is not authenticated: rights depend on the key alone.
 *
 * Beside the name there is a proven identity. Since names can be invented freely, no limit and no
 * share between unrelated clients may depend on them: the queue shares first between owners and
 * then, within an owner, between names; the rate limiter counts proven identities, and names only
 * among the programs of this machine that need no key. */
#ifndef QN_ACCESS_CLIENT_ID_H
#define QN_ACCESS_CLIENT_ID_H

#include "access/keys.h"
#include "io/http_server.h"

enum { QN_CLIENT_ID_MAX = 64 };

/* Writes the client's name: the name of its own key, which no other client can claim; else the name
 * that the client states, its program (User-Agent), or "anonymous". The environment's key may be
 * shared by many clients, whose names are "environment/NAME"; no key's name has a slash. Any
 * argument may be NULL or blank. Printable ASCII without blanks at its ends, at most
 * QN_CLIENT_ID_MAX bytes; other bytes become '_'. Pure. */
void qn_client_name(const struct qn_key *key, const char *named, const char *agent,
                    char out[static QN_CLIENT_ID_MAX + 1]);

/* The client's own identifier of its request, X-Client-Request-Id or else X-Request-Id, sanitised
 * in the same way; NULL: none. Lent for the life of the request. */
const char *qn_client_request_id(struct qn_http *h);

/* The name of a request's client, from its key, X-Client-Id and User-Agent. Lent for the life of
 * the request. */
const char *qn_client_id(struct qn_http *h);

/* The proven identity. With a key of its own: the key's name. Else "" for a program of this
 * machine; for another machine, or a client behind a proxy on this one, its address (for IPv6 its
 * /64 network, which counts as one machine). With the environment's key these are "environment" and
 * "environment@ADDRESS". Lent for the life of the request. */
const char *qn_client_proven(struct qn_http *h);

/* The identity by which shared resources are divided fairly. It is the proven identity, except that
 * programs of this machine without a key of their own are distinguished by the user who runs them,
 * as reported by the kernel: "user/1000", with the environment's key "environment/user/1000", and
 * "user/unknown" if the kernel does not report the user. These cannot be mistaken for a key's name,
 * which never has a slash. Lent for the life of the request. */
const char *qn_client_owner(struct qn_http *h);

#endif
