/* The sandbox of a helper: a short-lived program that the server starts, and that reads untrusted
 * bytes from descriptors, writes a report and exits. */
#ifndef QN_CONFINE_HELPER_H
#define QN_CONFINE_HELPER_H

#include "confine/confine.h"

#include <stdint.h>

struct qn_confine_limits {
    /* Limits of the address space, which includes mapped files, and of private memory. Not applied
     * in builds with sanitizers, which reserve terabytes of address space. */
    int64_t address_bytes, memory_bytes;
    int64_t file_bytes; /* of each file that it writes; a write that would exceed the limit gives
                           SIGXFSZ */
    int descriptors;    /* limit of descriptor numbers (RLIMIT_NOFILE) */
    int cpu_s;          /* 0: no limit */
};

/* Must be called first, while the process has one thread. Afterwards the process is killed when its
 * parent dies, writes no core dump, has these limits, can open only these paths, and cannot make
 * the calls that qn_confine_calls forbids. *lacking: the restrictions that this kernel does not
 * support, "files", "calls" or "files and calls", or "" if all are in force. QN_EIO. */
qn_err qn_confine_helper(const struct qn_confine_path *paths, size_t n,
                         const struct qn_confine_limits *limits, const char **lacking,
                         struct qn_error *e);

#endif
