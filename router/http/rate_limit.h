/* Rate limit per client: a token bucket for each client, refilled at a constant rate. When there
 * are too many clients, the least recently seen ones are dropped, which gives them a full bucket.
 * Pure except for allocation; loop thread. */
#ifndef QN_HTTP_RATE_LIMIT_H
#define QN_HTTP_RATE_LIMIT_H

#include "io/http_server.h"

#include <stddef.h>
#include <stdint.h>

enum { QN_RATE_CLIENTS_MAX = 4096, QN_RATE_NAME_MAX = 64 };

struct qn_rate_limit;
struct qn_rate_limit *qn_rate_limit_new(void);
void qn_rate_limit_free(struct qn_rate_limit *r); /* NULL allowed */

/* Requests per minute (0: no limit), of which `burst` (at least 1) may come at once. Existing
 * buckets are kept. */
void qn_rate_limit_set(struct qn_rate_limit *r, int64_t per_minute, int64_t burst);

/* Takes a token from the client's bucket. Returns 0, or the seconds until the next token. */
int64_t qn_rate_limit_take(struct qn_rate_limit *r, const char *client, int64_t now_ms);

size_t qn_rate_limit_clients(const struct qn_rate_limit *r);

/* The name of a request's bucket: the proven identity of its client (client_id.h); where there is
 * none, that is for a program of this machine without a key, the name that the client states. */
void qn_rate_limit_client(struct qn_http *h, char out[static QN_RATE_NAME_MAX + 1]);

#endif
