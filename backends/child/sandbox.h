/* What a child gives up before it reads its model: all files but the model's and those that its
 * options name, other programs, the network, and its claim on memory before the router's. */
#ifndef QN_CHILD_SANDBOX_H
#define QN_CHILD_SANDBOX_H

#include "confine/confine.h"
#include "contract/control.h"

/* What a process keeps on top of its model's files. */
struct qn_sandbox_needs {
    const struct qn_confine_path *paths; /* n of them; those that do not exist are left out */
    size_t n;
    enum qn_confine_need calls;
};

/* type: the backend type, whose options may name files. needs MAY be NULL: none. For good, and for
 * threads to come: call it while the process has one thread. What the kernel cannot do is one line
 * of the log; a rule that it refuses is an error, for then something is wrong. */
qn_err qn_child_sandbox(const char *type, const struct qn_control *load,
                        const struct qn_sandbox_needs *needs, struct qn_error *e);

#endif
