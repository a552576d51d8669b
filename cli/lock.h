/* The server that uses the data directory, from the lock it holds there. */
#ifndef QN_CLI_LOCK_H
#define QN_CLI_LOCK_H

#include <stdbool.h>
#include <sys/types.h>

struct qn_lock {
    pid_t pid;
    int port; /* of its HTTP API */
};

/* True when a running server holds the directory's lock and has written its port there. Takes no
 * lock itself. */
bool qn_lock_read(const char *data_dir, struct qn_lock *out);

#endif
