/* Which connections are one client's, so that one client cannot take them all: those of one user of
 * this machine, or of one address of another (of IPv6 the network). The connections that a key is
 * used over cannot be told before a request has come, so keys do not matter here. */
#ifndef QN_HTTP_CROWDS_H
#define QN_HTTP_CROWDS_H

#include "io/http_server.h"

#include <stdint.h>

struct qn_crowds {
    int fd; /* to ask the kernel with; -1: it does not say */
    uint64_t seed;
};

void qn_crowds_init(struct qn_crowds *c);
void qn_crowds_deinit(struct qn_crowds *c);

/* The same number for all connections of one client; 0: it is not known whose this is. */
uint64_t qn_crowds_of(const struct qn_crowds *c, const struct qn_http_ends *ends);

#endif
