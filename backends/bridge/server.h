/* A server of somebody else's, run as this process's own child: same process group, gone when this
 * process is, in a sandbox of its own: it reads its model and its libraries, listens, and can
 * neither start other programs nor connect to anything.
 *
 * What the sandbox leaves open: it may listen at any port, where only llama-server asks for a key,
 * which this process and the router alone have; it may use graphics processors, whose drivers are
 * as good a wall as they are; and it may read what lies in its own program's folder, in /usr/lib,
 * /usr/share, /opt, /proc and /sys. */
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
    const char *program; /* "llama-server"; NULL: none has been started */
    enum qn_api api;
    const char *base;   /* what stands before the paths of ask.h: "/v1" */
    const char *health; /* path that answers with anything but 503 once the model is loaded */
    pid_t pid;
    int pidfd;
    int port;
    char url[64];                    /* "http://127.0.0.1:40001" */
    char key[QN_SERVER_KEY_HEX + 1]; /* that it wants of everybody; "": it knows no keys */
    atomic_bool stopping;
};

/* True when the options of a load ask for one. */
bool qn_server_wanted(const struct qn_jref *options);

/* Starts it with the load's file and options. One thread only, which is to live as long as the
 * process: the server ends when it does. */
qn_err qn_server_start(struct qn_server *s, const struct qn_control *load,
                       const struct qn_jref *options, struct qn_error *e);

/* From now on this process ends with status 1 when the server does. */
qn_err qn_server_watch(struct qn_server *s, struct qn_error *e);
/* How it has ended, in words; false: it runs. */
bool qn_server_ended(struct qn_server *s, char how[static 80], bool *by_signal);
int64_t qn_server_bytes(const struct qn_server *s); /* of memory that it has; 0: unknown */
void qn_server_stop(struct qn_server *s);           /* kindly, then not; returns when it is gone */

#endif
