/* A third-party server that runs as a child of this process, in the same process group. It is
 * killed when this process ends. Its sandbox lets it read its model and its libraries and listen on
 * a port, but not start other programs or connect to any address.
 *
 * What the sandbox does not prevent: the server may listen on any port, and only llama-server
 * requires a key (known only to this process and the router). The server may use GPUs, so their
 * drivers are part of the attack surface. It may read its program's folder, /usr/lib, /usr/share,
 * /opt, /proc and /sys. */
#ifndef QN_BRIDGE_SERVER_H
#define QN_BRIDGE_SERVER_H

#include "base/error.h"
#include "bridge/ask.h"
#include "contract/control.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

enum { QN_SERVER_KEY_HEX = 64 };

struct qn_server {
    const char *program; /* "llama-server"; NULL: no server has been started */
    enum qn_api api;
    const char *base;   /* prefix of the paths of ask.h: "/v1" */
    const char *health; /* a path whose status is not 503 once the model is loaded */
    pid_t pid;
    int pidfd;
    int port;
    char url[64];                    /* "http://127.0.0.1:40001" */
    char key[QN_SERVER_KEY_HEX + 1]; /* key that clients of the server must send; "": the server
                                        does not support keys */
    atomic_bool stopping;
};

/* Whether the options of a load ask for a server that this bridge runs itself. */
bool qn_server_wanted(const struct qn_jref *options);

/* Starts the server with the load's file and options. Must be called on a thread that lives as long
 * as the process, because the server is killed when that thread ends. */
qn_err qn_server_start(struct qn_server *s, const struct qn_control *load,
                       const struct qn_jref *options, struct qn_error *e);

/* From this call on, this process exits with status 1 when the server ends. */
qn_err qn_server_watch(struct qn_server *s, struct qn_error *e);
/* Describes in words how the server has ended; false: it is running. */
bool qn_server_ended(struct qn_server *s, char how[static 80], bool *by_signal);
int64_t qn_server_bytes(const struct qn_server *s); /* memory of the server in bytes; 0: unknown */
void qn_server_stop(struct qn_server *s);           /* sends SIGTERM, after a timeout SIGKILL;
                                                       returns when the server has ended */

#endif
