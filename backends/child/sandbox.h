/* What a child gives up before it reads its model: all files except the model's and those that its
 * options name, starting other programs, the network, and memory in favour of the router (when
 * memory runs out, the kernel kills the child first). */
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
