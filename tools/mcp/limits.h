/* Resource limits of a process. */
#ifndef QN_MCP_LIMITS_H
#define QN_MCP_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

struct qn_limits {
    int64_t memory_bytes; /* private memory of each process; not set in builds with sanitizers */
    int64_t descriptors;
    int64_t file_bytes; /* maximum size of a file that it writes */
};

/* Sets the limits of this process; the programs that it executes and the children that it starts
 * inherit them. Disables core dumps. When memory runs out, the kernel is to kill this process
 * before the router. A hard limit that is already lower is kept. Returns false, with errno set, if
 * a limit cannot be set. */
bool qn_limits_set(const struct qn_limits *l);

#endif
