/* The connections of an HTTP client (http_client.h): opened, watched, kept for a next request to
 * the same address, closed. Loop thread only. */
#ifndef QN_IO_HTTP_CONN_H
#define QN_IO_HTTP_CONN_H

#include "base/error.h"
#include "io/loop.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

struct qn_conns; /* all connections of one client */
struct qn_conn;

void qn_conns_new(struct qn_loop *l, struct qn_conns **out);
/* Closes the connections that are kept; none may be in use. */
void qn_conns_free(struct qn_conns *cs);

/* Called with the events that are watched. MAY close or keep the connection. */
typedef void (*qn_conn_fn)(void *ctx, uint32_t events);

/* Returns a connection that was kept, ready to send; NULL: there is none to this address. */
struct qn_conn *qn_conn_take(struct qn_conns *cs, const struct sockaddr_in *to, qn_conn_fn fn,
                             void *ctx);
/* Begins a new connection. *connecting: it is complete when EPOLLOUT is reported and
 * qn_conn_is_open gives QN_OK. */
qn_err qn_conn_open(struct qn_conns *cs, const struct sockaddr_in *to, qn_conn_fn fn, void *ctx,
                    struct qn_conn **out, bool *connecting, struct qn_error *e);
qn_err qn_conn_is_open(const struct qn_conn *c, struct qn_error *e);

int qn_conn_fd(const struct qn_conn *c); /* lent */
/* events 0: nothing is reported, not even that the connection broke. */
qn_err qn_conn_watch(struct qn_conn *c, uint32_t events, struct qn_error *e);

/* Keeps the connection for a limited time. Everything sent and received on it must be complete. */
void qn_conn_keep(struct qn_conn *c);
/* at_once: with a reset, which discards unsent data, instead of an ordinary close. NULL allowed. */
void qn_conn_close(struct qn_conn *c, bool at_once);

#endif
