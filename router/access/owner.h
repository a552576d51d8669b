/* Whose a thing is that one request leaves behind for a later one: a stored answer, the lines that
 * the log has about a request. The owner is what is proven of the client: its key, else the user of
 * this machine whose program asks, else the address of another machine. Nothing that a client may
 * say of itself (Origin, X-Client-Id, X-Forwarded-For) makes another owner of it. */
#ifndef QN_ACCESS_OWNER_H
#define QN_ACCESS_OWNER_H

#include "access/keys.h"
#include "io/http_server.h"

enum { QN_OWNER_MAX = 71 };

/* "key:" and the first half of the SHA-256 of its secret: a key made later under the same name is
 * another owner, and the environment's key is the same one after a restart. Without a key "user:"
 * and the user's number, "user:unknown" where the kernel does not say whose a program of this
 * machine is, and "address:" for another machine (of IPv6 its network). key, ends MAY be NULL. */
void qn_owner_name(const struct qn_key_row *key, const struct qn_http_ends *ends,
                   char out[static QN_OWNER_MAX + 1]);

/* The address as text; of IPv6 its first 64 bits, "2001:db8::/64". */
enum { QN_OWNER_ADDRESS_MAX = 51 };
void qn_owner_address(const struct sockaddr_storage *sa, char out[static QN_OWNER_ADDRESS_MAX + 1]);

#endif
