/* Hands one request on to a model's own server and the reply back as it comes, whatever both are.
 * Loop thread only. */
#ifndef QN_INFER_PROXY_H
#define QN_INFER_PROXY_H

#include "io/http_client.h"
#include "io/http_server.h"

struct qn_lease;

/* Takes request and lease over: the model stays busy until the reply has ended, or the client has
 * gone. base: "http://127.0.0.1:40001"; key: what
 * the server wants as Authorization: Bearer, "": nothing. path begins with a slash and is decoded.
 * A server that does not answer is 502; one that breaks off has the client's connection broken off.
 */
void qn_proxy(struct qn_loop *loop, struct qn_http_client *client, struct qn_http *h,
              struct qn_lease *lease, const char *base, const char *key, const char *path);

#endif
