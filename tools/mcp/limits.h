/* What a process may use of the machine. */
#ifndef QN_MCP_LIMITS_H
#define QN_MCP_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

struct qn_limits {
    int64_t memory_bytes; /* private memory of each process; not in builds with sanitizers */
    int64_t descriptors;
    int64_t file_bytes; /* of a file that it writes */
};

/* Also for the programs that this process becomes and starts. No core is written, and when memory
 * runs out the kernel ends this process before the router. Lower limits stay. False: errno is set.
 */
bool qn_limits_set(const struct qn_limits *l);

#endif
