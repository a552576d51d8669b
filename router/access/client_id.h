/* Who asks: one short name per client, so that queues can be fair, limits can be kept and counts
 * can be told apart. It is a name, not a proof: what a client may do is decided by its key alone.
 *
 * Beside it stands what is proven. Names cost nothing to invent, so no limit and no share between
 * strangers may hang on them: the queue shares first between owners and then, within that, between
 * names; the limiter counts what is proven, and names only among the programs of this
 * machine that need no key. */
#ifndef QN_ACCESS_CLIENT_ID_H
#define QN_ACCESS_CLIENT_ID_H

#include "access/keys.h"
#include "io/http_server.h"

enum { QN_CLIENT_ID_MAX = 64 };

/* The name that a key is bound to wins (nobody can pass for somebody else's key); then what the
 * client calls itself, then its program, then "anonymous". Many may have the environment's key, so
 * theirs are "environment/NAME", which is nobody's key: no key's name has a slash. Any may be NULL,
 * texts blank. Printable ASCII without blanks at its ends, at most QN_CLIENT_ID_MAX bytes; other
 * bytes become '_'. Pure. */
void qn_client_name(const struct qn_key *key, const char *named, const char *agent,
                    char out[static QN_CLIENT_ID_MAX + 1]);

/* The client's own name for its request, X-Client-Request-Id or else X-Request-Id, with the same
 * care; NULL: it has none. Lent for the request's life. */
const char *qn_client_request_id(struct qn_http *h);

/* The client of a request, from its key, X-Client-Id and User-Agent. Lent for the request's life.
 */
const char *qn_client_id(struct qn_http *h);

/* What of it is certain. A key of its own: the key's name. Else "" for a program of this machine;
 * for another machine, or whoever stands behind a proxy of this one, its address (of IPv6 the
 * network, which is one machine's). With the environment's key these are "environment" and
 * "environment@ADDRESS". Lent for the request's life. */
const char *qn_client_proven(struct qn_http *h);

/* Between whom shared things are divided: the same, but programs of this machine without a key of
 * their own are told apart by their user, as the kernel names it: "user/1000",
 * "environment/user/1000", and "user/unknown" where it does not. No key's name has a slash. Lent
 * for the request's life. */
const char *qn_client_owner(struct qn_http *h);

#endif
