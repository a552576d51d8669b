/* Starts processes: a backend with its descriptors, environment, process group, pidfd and log pipe;
 * and helper programs that print something and end. Independent of models and states. */
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
    int control; /* the router's end of fd 4: a non-blocking stream socket */
    int log;     /* non-blocking read end of its stdout and stderr */
    int port;    /* loopback port of fd 3, which is listening already */
};

/* program: absolute path; name: argv is `program --name name`. All descriptors are close-on-exec
 * and owned by the caller. QN_ENOTFOUND: no such program. */
qn_err qn_spawn(const char *program, const char *name, struct qn_process *out, struct qn_error *e);

/* Runs argv (argv[0] is the program's path) with a child's environment and appends its standard
 * output to out, up to out's limit; its standard error is the router's. Blocking, any thread.
 * QN_ETIMEOUT after limit_ms, QN_ECHILD when its exit status is not 0; it has ended in both
 * cases. */
qn_err qn_spawn_output(char *const argv[], int64_t limit_ms, struct qn_buf *out,
                       struct qn_error *e);

/* Signals the whole process group; does nothing when it has ended already. */
void qn_process_signal(const struct qn_process *p, int sig);

/* How a process ended. */
struct qn_process_end {
    int exit_code; /* -1: it did not exit by itself */
    int signal;    /* 0: it was not killed by a signal */
    char text[64]; /* "exited with status 1", "was killed by signal 11 (Segmentation fault)" */
};

/* Collects the exit status after the pidfd became readable. False: the process still runs. */
bool qn_process_reap(const struct qn_process *p, bool wait, struct qn_process_end *out);

#endif
