/* Starts the program of a stdio server, in its sandbox. */
#ifndef QN_MCP_LAUNCH_H
#define QN_MCP_LAUNCH_H

#include "base/error.h"
#include "mcp/target.h"

#include <sys/types.h>

struct qn_launched {
    pid_t pid;           /* also its session and process group */
    int in, out, errors; /* its stdin, for writing; its stdout and stderr, for reading; all of them
                            non-blocking, close-on-exec, and the caller's */
};

/* The server's process has no new privileges, a session of its own, the limits of QN_LAUNCH_*, the
 * environment and the files that docs/apis.md names, and ends with its parent. Its exec may fail
 * later, which it writes to its stderr before it ends. Must be called while the process has one
 * thread. QN_ENOTFOUND: there is no such program. *lacking: this kernel cannot restrict files. */
enum { QN_LAUNCH_DESCRIPTORS = 1024 };
#define QN_LAUNCH_FILE_BYTES (INT64_C(4) << 30) /* of a file that it writes */
#define QN_LAUNCH_MEMORY_BYTES                                                                     \
    (INT64_C(8) << 30) /* private memory of each of its processes,                                 \
                          not in builds with sanitizers */
qn_err qn_launch(const struct qn_mcp_target *config, struct qn_arena *arena,
                 struct qn_launched *out, bool *lacking, struct qn_error *e);

#endif
