/* Which files a client may name: one rule for all that take paths. */
#ifndef QN_ROUTER_MAY_OPEN_H
#define QN_ROUTER_MAY_OPEN_H

#include "base/json.h"
#include "io/http_server.h"
#include "router/pull_order.h"
#include "router/services.h"

#include <stdbool.h>

/* True where this server may open the file for a client. A server that nobody else can reach opens
 * any; one that is open to other machines opens what lies in its folders of models, and answers
 * anything else with 403: whether a file is there is nobody's business either. Loop thread. */
bool qn_may_open(const struct qn_services *sv, struct qn_http *h, const char *path);

/* The same for the adapters that options of loading name; what is no list of paths is refused where
 * options are read. */
bool qn_may_open_options(const struct qn_services *sv, struct qn_http *h,
                         const struct qn_jref *options);

/* The same for all files of this machine that an order names, and its options. */
bool qn_may_open_order(const struct qn_services *sv, struct qn_http *h,
                       const struct qn_pull_order *order);

#endif
