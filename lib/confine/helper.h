/* The sandbox of a helper: a short-lived program that the server starts to read foreign bytes from
 * descriptors, and that ends with its report. */
#ifndef QN_CONFINE_HELPER_H
#define QN_CONFINE_HELPER_H

#include "confine/confine.h"

#include <stdint.h>

struct qn_confine_limits {
    /* Of addresses, mapped files among them, and of memory of its own. Builds with sanitizers,
     * which reserve terabytes of addresses, go without these two. */
    int64_t address_bytes, memory_bytes;
    int64_t file_bytes; /* of a file that it writes; a write past it gives SIGXFSZ */
    int descriptors;    /* none with this number or a higher one is opened */
    int cpu_s;          /* 0: no limit */
};

/* Call it first of all, while the process has one thread. It dies with the process that started it;
 * no core dump, these limits, nothing to open but these paths, and no call that qn_confine_calls
 * forbids. *lacking becomes what this kernel cannot give, "files", "calls" or "files and calls";
 * the rest holds. QN_EIO. */
qn_err qn_confine_helper(const struct qn_confine_path *paths, size_t n,
                         const struct qn_confine_limits *limits, const char **lacking,
                         struct qn_error *e);

#endif
