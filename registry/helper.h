/* Runs one of quince's helper programs (quince-unpack, quince-inspect): a process that gets open
 * descriptors, reads what is foreign in them inside a sandbox of its own, reports, and ends. */
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
    /* They become the descriptors 3, 4 ...; the next one is the pipe for the report. Nothing else
     * of the server's is open there but its standard error. They stay the caller's. */
    const int *fds;
    size_t n_fds;
    const atomic_bool *stop; /* set: it is killed */
    int64_t limit_ms;        /* then it is killed; 0: it may take as long as it likes */
};

/* Runs it to its end. report: what it wrote, up to the buffer's limit; one that writes more is
 * killed, and report is empty. *status: as waitpid(2) has it. QN_ECANCELLED, QN_ETIMEOUT: killed,
 * as said above; QN_EIO: it cannot be started. Blocking, any thread. */
qn_err qn_helper_run(const struct qn_helper *h, struct qn_buf *report, int *status,
                     struct qn_error *e);

/* QN_ECHILD: "unpacking ended unexpectedly (signal 9)". */
qn_err qn_helper_died(const char *what, int status, struct qn_error *e);

#endif
