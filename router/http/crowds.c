/* See crowds.h. */
#include "http/crowds.h"

#include "access/owner.h"
#include "base/hash.h"
#include "base/rand.h"
#include "io/peer.h"

#include <string.h>
#include <unistd.h>

void qn_crowds_init(struct qn_crowds *c)
{
    c->fd = qn_peer_open();
    qn_random_bytes(&c->seed, sizeof c->seed);
}

void qn_crowds_deinit(struct qn_crowds *c)
{
    if (c->fd >= 0)
        close(c->fd);
}

uint64_t qn_crowds_of(const struct qn_crowds *c, const struct qn_http_ends *ends)
{
    char address[QN_OWNER_ADDRESS_MAX + 1];
    uid_t uid;
    uint64_t crowd;
    if (!qn_peer_is_here(ends)) {
        qn_owner_address(&ends->peer, address);
        crowd = qn_hash_bytes(c->seed, address, strlen(address));
    } else if (qn_peer_ask(c->fd, ends, &uid)) {
        crowd = qn_hash_u64(~c->seed, uid);
    } else {
        return 0;
    }
    return crowd ? crowd : 1;
}
