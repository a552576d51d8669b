/* The owner of data that a request leaves behind for a later one, such as a stored response or its
 * lines of the log. The owner is the proven identity of the client: its key, else the user of this
 * machine whose program sends the request, else the address of another machine. Nothing that a
 * client may state about itself (Origin, X-Client-Id, X-Forwarded-For) changes its owner. */
#ifndef QN_ACCESS_OWNER_H
#define QN_ACCESS_OWNER_H

#include "access/keys.h"
#include "io/http_server.h"

enum { QN_OWNER_MAX = 71 };

/* With a key: "key:" and the first half of the SHA-256 of its secret, so that a later key of the
 * same name is another owner, and the environment's key is the same owner after a restart. Without
 * a key: "user:" and the user's number, "user:unknown" where the kernel does not report the user of
 * a program on this machine, and "address:" for another machine (for IPv6 its /64 network). key,
 * ends MAY be NULL. */
void qn_owner_name(const struct qn_key_row *key, const struct qn_http_ends *ends,
                   char out[static QN_OWNER_MAX + 1]);

/* The address as text; for IPv6 its first 64 bits, "2001:db8::/64". */
enum { QN_OWNER_ADDRESS_MAX = 51 };
void qn_owner_address(const struct sockaddr_storage *sa, char out[static QN_OWNER_ADDRESS_MAX + 1]);

#endif
