/* What a child gives up before it reads its model: all files but the model's and those that its
 * options name, other programs, the network, and its claim on memory before the router's. */
#ifndef QN_CHILD_SANDBOX_H
#define QN_CHILD_SANDBOX_H

#include "contract/control.h"

/* type: the backend type, whose options may name files. For good, and for threads to come: call it
 * while the process has one thread. What the kernel cannot do is one line of the log; a rule that
 * it refuses is an error, for then something is wrong. */
qn_err qn_child_sandbox(const char *type, const struct qn_control *load, struct qn_error *e);

#endif
