/* The listening sockets: binds the host setting's addresses on one port, accepts, and hands every
 * connection over. Loop thread only. */
#ifndef QN_HTTP_LISTEN_H
#define QN_HTTP_LISTEN_H

#include "base/error.h"
#include "io/http_server.h"
#include "io/loop.h"

#include <stdbool.h>

struct qn_listen;

/* A place to listen at. Strings are lent for the call. */
struct qn_listen_address {
    /* "localhost" is 127.0.0.1 and, where the machine has it, [::1]; any other name or address is
     * what it stands for. */
    const char *host;
    int port;             /* 0 picks one that is free on all of them */
    const char *host_set; /* for messages: the setting that says where, */
    const char *port_set; /* and how the port is set: "--port N" */
    bool guarded;         /* false: an address that other machines can reach is refused */
    int tag;              /* of every connection (qn_http_tag) */
};

/* QN_ECONFLICT: the port is taken. Without a loop (NULL, and no server) it is only tried: nothing
 * is accepted, any thread. */
qn_err qn_listen_open(struct qn_loop *l, struct qn_http_server *server,
                      const struct qn_listen_address *place, struct qn_listen **out,
                      struct qn_error *e);
/* The same over sockets that are in listen already, at most 8; they are this listener's from now
 * on, also when it fails. Closing them leaves the place to whoever has opened it. */
qn_err qn_listen_adopt(struct qn_loop *l, struct qn_http_server *server, const int *fds, size_t n,
                       bool guarded, int tag, struct qn_listen **out, struct qn_error *e);
void qn_listen_close(struct qn_listen *ls); /* NULL allowed */

int qn_listen_port(const struct qn_listen *ls);
bool qn_listen_open_to_others(const struct qn_listen *ls); /* bound beyond loopback */

#endif
