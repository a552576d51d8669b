/* Starts processes: a backend's with its descriptors, environment, process group, pidfd and log
 * pipe; and others that print something and end. Knows nothing of models or states. */
#ifndef QN_MODELS_SPAWN_H
#define QN_MODELS_SPAWN_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct qn_process {
    pid_t pid;   /* also its process group */
    int pidfd;   /* readable when the process has ended */
    int control; /* our end of fd 4: non-blocking stream socket */
    int log;     /* non-blocking read end of its stdout and stderr */
    int port;    /* loopback port of fd 3, already in listen */
};

/* program: absolute path; name: argv is `program --name name`. All descriptors are close-on-exec
 * and the caller's to close. QN_ENOTFOUND: no such program. */
qn_err qn_spawn(const char *program, const char *name, struct qn_process *out, struct qn_error *e);

/* Runs argv (argv[0] is the program's path) with a child's environment and takes what it prints on
 * its standard output, up to out's limit; its standard error is ours. Blocking, any thread.
 * QN_ETIMEOUT after limit_ms, QN_ECHILD when it ends with anything but 0: it is gone then. */
qn_err qn_spawn_output(char *const argv[], int64_t limit_ms, struct qn_buf *out,
                       struct qn_error *e);

/* Signals the whole group; nothing happens when it is gone already. */
void qn_process_signal(const struct qn_process *p, int sig);

/* How a process ended. */
struct qn_process_end {
    int exit_code; /* -1: not by itself */
    int signal;    /* 0: not by one */
    char text[64]; /* "exited with status 1", "was killed by signal 11 (Segmentation fault)" */
};

/* After the pidfd became readable: collects the exit. False: it still runs. */
bool qn_process_reap(const struct qn_process *p, bool wait, struct qn_process_end *out);

#endif
