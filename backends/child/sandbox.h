/* The sandbox of a child, entered before it reads its model. A child can open only the model's
 * files and the files that its options name, and can neither start programs nor use the network.
 * When the machine runs out of memory, the kernel kills children before the router. */
#ifndef QN_CHILD_SANDBOX_H
#define QN_CHILD_SANDBOX_H

#include "confine/confine.h"
#include "contract/control.h"

/* What a process needs besides its model's files. */
struct qn_sandbox_needs {
    const struct qn_confine_path *paths; /* n paths; those that do not exist are skipped */
    size_t n;
    enum qn_confine_need calls;
};

/* Enters the sandbox for good, for this thread and the threads that it starts; call it while the
 * process has one thread. type: the backend type, whose options may name files. needs MAY be NULL:
 * none. A feature that the kernel lacks is logged with one line; a rule that the kernel refuses is
 * an error. */
qn_err qn_child_sandbox(const char *type, const struct qn_control *load,
                        const struct qn_sandbox_needs *needs, struct qn_error *e);

#endif
