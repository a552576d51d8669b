/* Runs one of quince's helper programs (quince-unpack, quince-inspect): a process that is given
 * open descriptors, reads untrusted files from them inside a sandbox, writes a report and exits. */
#ifndef QN_REGISTRY_HELPER_H
#define QN_REGISTRY_HELPER_H

#include "base/buf.h"
#include "base/error.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { QN_HELPER_FIRST_FD = 3 };

struct qn_helper {
    const char *program;     /* path */
    const char *const *args; /* after argv[0], ending in NULL */
    /* The child gets them as descriptors 3, 4 ...; the next number is the pipe for the report. It
     * inherits nothing else from the server but standard error. The caller keeps ownership. */
    const int *fds;
    size_t n_fds;
    const atomic_bool *stop; /* when set, the process is killed */
    int64_t limit_ms;        /* the process is killed after this time; 0: no limit */
};

/* Runs the program to its end. report: what the program wrote, up to the buffer's limit; a program
 * that writes more is killed, and report is empty. *status: as from waitpid(2). QN_ECANCELLED,
 * QN_ETIMEOUT: killed because of `stop` or limit_ms; QN_EIO: the program cannot be started.
 * Blocking, any thread. */
qn_err qn_helper_run(const struct qn_helper *h, struct qn_buf *report, int *status,
                     struct qn_error *e);

/* Fills e with QN_ECHILD, for example "unpacking ended unexpectedly (signal 9)". */
qn_err qn_helper_died(const char *what, int status, struct qn_error *e);

#endif
