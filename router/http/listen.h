/* Listening sockets: binds the addresses of the host setting on one port, accepts, and passes every
 * connection to the HTTP server. Loop thread only. */
#ifndef QN_HTTP_LISTEN_H
#define QN_HTTP_LISTEN_H

#include "base/error.h"
#include "io/http_server.h"
#include "io/loop.h"

#include <stdbool.h>

struct qn_listen;

/* An address to listen on. Strings are lent for the call. */
struct qn_listen_address {
    /* "localhost" is 127.0.0.1 and, if the machine has it, [::1]; any other name or address is
     * resolved. */
    const char *host;
    int port;             /* 0 picks a port that is free on all of them */
    const char *host_set; /* for messages: the setting that has the address */
    const char *port_set; /* for messages: how the port is set, "--port N" */
    bool guarded;         /* false: an address that other machines can reach is refused */
    int tag;              /* for every connection (qn_http_tag) */
};

/* QN_ECONFLICT: the port is in use. Without a loop (NULL, and no server) the address is only
 * tested: nothing is accepted, any thread. */
qn_err qn_listen_open(struct qn_loop *l, struct qn_http_server *server,
                      const struct qn_listen_address *place, struct qn_listen **out,
                      struct qn_error *e);
/* The same for sockets that are listening already, at most 8; they are owned by this listener, also
 * on failure. Closing them does not free the address, which the opener still has. */
qn_err qn_listen_adopt(struct qn_loop *l, struct qn_http_server *server, const int *fds, size_t n,
                       bool guarded, int tag, struct qn_listen **out, struct qn_error *e);
void qn_listen_close(struct qn_listen *ls); /* NULL allowed */

int qn_listen_port(const struct qn_listen *ls);
bool qn_listen_open_to_others(const struct qn_listen *ls); /* bound beyond loopback */

#endif
