/* Large JSON bodies, parsed by a worker: 30 MB take half a second, in which the loop would serve
 * nobody. Loop's thread, but for the parsing itself. */
#ifndef QN_HTTP_BODY_PARSE_H
#define QN_HTTP_BODY_PARSE_H

#include "base/error.h"
#include "base/json.h"
#include "io/http_server.h"
#include "io/loop.h"

enum { QN_BODY_PARSE_ON_LOOP_MAX = 256 * 1024 }; /* bytes that are parsed at once: 3 ms */

struct qn_body_parse;

/* err: QN_OK, and doc is the callee's; else doc is NULL and e says why. */
typedef void (*qn_body_parse_fn)(void *ctx, qn_err err, struct qn_json *doc,
                                 const struct qn_error *e);

/* Takes the body from h, which has none any more, and calls done once, later. */
struct qn_body_parse *qn_body_parse_start(struct qn_loop *l, struct qn_http *h,
                                          qn_body_parse_fn done, void *ctx);

/* done is not called any more. NULL allowed; not from within done. */
void qn_body_parse_leave(struct qn_body_parse *p);

#endif
