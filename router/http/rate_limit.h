/* How often each client may ask: a bucket of tokens per client, filled at a steady rate. Clients
 * that nobody has heard of for longest are forgotten when there are too many, which gives them a
 * full bucket. Pure but for the memory; loop thread. */
#ifndef QN_HTTP_RATE_LIMIT_H
#define QN_HTTP_RATE_LIMIT_H

#include "io/http_server.h"

#include <stddef.h>
#include <stdint.h>

enum { QN_RATE_CLIENTS_MAX = 4096, QN_RATE_NAME_MAX = 64 };

struct qn_rate_limit;
struct qn_rate_limit *qn_rate_limit_new(void);
void qn_rate_limit_free(struct qn_rate_limit *r); /* NULL allowed */

/* Requests a minute, 0: no limit, of which `burst` (at least 1) may come at once. Buckets stay. */
void qn_rate_limit_set(struct qn_rate_limit *r, int64_t per_minute, int64_t burst);

/* Takes a token of the client's. Returns 0, or the seconds after which there will be one. */
int64_t qn_rate_limit_take(struct qn_rate_limit *r, const char *client, int64_t now_ms);

size_t qn_rate_limit_clients(const struct qn_rate_limit *r);

/* Whose bucket a request takes from: what is proven of its client (client_id.h), and where that is
 * nothing, which is to say without a key from this machine, what the client calls itself. */
void qn_rate_limit_client(struct qn_http *h, char out[static QN_RATE_NAME_MAX + 1]);

#endif
