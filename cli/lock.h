/* Finds the server that uses the data folder, by the lock that it holds there. */
#ifndef QN_CLI_LOCK_H
#define QN_CLI_LOCK_H

#include <stdbool.h>
#include <sys/types.h>

struct qn_lock {
    pid_t pid;
    int port; /* port of its HTTP API */
};

/* True if a running server holds the folder's lock and has written its port to the lock's file.
 * Takes no lock. */
bool qn_lock_read(const char *data_dir, struct qn_lock *out);

#endif
