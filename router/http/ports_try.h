/* Tests whether a server could open its ports with new settings, by opening them, so that the
 * client that changes the settings is told of an error that would make the next start fail. */
#ifndef QN_HTTP_PORTS_TRY_H
#define QN_HTTP_PORTS_TRY_H

#include "http/ports.h"

struct qn_ports_trial {
    int own[QN_PORTS_OWN_MAX]; /* ports of the running server; they count as free */
    size_t n_own;
    /* The settings that change. Other ports are not tested: if they are in use, the new settings
     * are not at fault. */
    bool port, listen, ollama_port, websocket_port;
    bool may_be_public; /* see qn_ports_open */
};

/* Opens every address and closes it again. QN_ECONFLICT: a port is in use, or is configured twice;
 * QN_EINVAL: a public address without a key, or one that this machine does not have. Blocking: a
 * name may have to be resolved. Any thread. */
qn_err qn_ports_try(const struct qn_ports_trial *trial, const struct qn_settings *s,
                    struct qn_error *e);

#endif
