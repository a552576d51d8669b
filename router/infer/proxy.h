/* Forwards one request unchanged to a model's own server and streams the response back. Loop thread
 * only. */
#ifndef QN_INFER_PROXY_H
#define QN_INFER_PROXY_H

#include "io/http_client.h"
#include "io/http_server.h"

struct qn_lease;

/* Takes ownership of request and lease: the model stays busy until the response has ended, or the
 * client has disconnected. base: "http://127.0.0.1:40001"; key: sent as Authorization: Bearer, "":
 * none. path begins with a slash and is decoded. A server that does not respond gives 502; if it
 * breaks the connection, the client's connection is broken, too. */
void qn_proxy(struct qn_loop *loop, struct qn_http_client *client, struct qn_http *h,
              struct qn_lease *lease, const char *base, const char *key, const char *path);

#endif
