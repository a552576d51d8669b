/* Groups connections by client, for a limit per client: those of one user of this machine, or of
 * one address of another machine (for IPv6 its /64 network). Keys are not considered, since a
 * connection's key is unknown before its first request. */
#ifndef QN_HTTP_CROWDS_H
#define QN_HTTP_CROWDS_H

#include "io/http_server.h"

#include <stdint.h>

struct qn_crowds {
    int fd; /* socket for kernel queries about peers; -1: unavailable */
    uint64_t seed;
};

void qn_crowds_init(struct qn_crowds *c);
void qn_crowds_deinit(struct qn_crowds *c);

/* The same number for all connections of one client; 0: the client is unknown. */
uint64_t qn_crowds_of(const struct qn_crowds *c, const struct qn_http_ends *ends);

#endif
