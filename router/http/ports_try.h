/* Whether a server could open its ports with settings that are about to be written: tried out by
 * opening them, so that a start that would fail is found out while there is somebody to tell. */
#ifndef QN_HTTP_PORTS_TRY_H
#define QN_HTTP_PORTS_TRY_H

#include "http/ports.h"

struct qn_ports_trial {
    int own[QN_PORTS_OWN_MAX]; /* ports of the server that runs; they count as free */
    size_t n_own;
    /* Which settings change: the ports of others are not tried, for they may be taken by whatever
     * takes them today. */
    bool port, listen, ollama_port, websocket_port;
    bool may_be_public; /* see qn_ports_open */
};

/* Opens every place and closes it again. QN_ECONFLICT: a port is taken, or asked for twice;
 * QN_EINVAL: an address that nothing guards, or that this machine does not have. Blocking: a name
 * may have to be looked up. Any thread. */
qn_err qn_ports_try(const struct qn_ports_trial *trial, const struct qn_settings *s,
                    struct qn_error *e);

#endif
