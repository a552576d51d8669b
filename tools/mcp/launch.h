/* Starts the program of a stdio server, in its sandbox. */
#ifndef QN_MCP_LAUNCH_H
#define QN_MCP_LAUNCH_H

#include "base/error.h"
#include "mcp/target.h"

#include <sys/types.h>

struct qn_launched {
    pid_t pid;           /* process id, also the id of its session and process group */
    int in, out, errors; /* pipe ends: write end of its stdin, read ends of its stdout and stderr;
                            non-blocking, close-on-exec; the caller closes them */
};

/* Starts the program of the stdio server. Its process runs with no_new_privs, in a session of its
 * own, with the limits QN_LAUNCH_*, with the environment and the file access that docs/apis.md
 * describes, and is killed when its parent ends. An exec that fails later is reported on the
 * process's stderr, after which the process exits. Must be called while the calling process has
 * only one thread. Returns QN_ENOTFOUND if there is no such program. Sets *lacking to true if the
 * kernel cannot restrict file access (no Landlock). */
enum { QN_LAUNCH_DESCRIPTORS = 1024 };
#define QN_LAUNCH_FILE_BYTES (INT64_C(4) << 30) /* maximum size of a file that it writes */
#define QN_LAUNCH_MEMORY_BYTES                                                                     \
    (INT64_C(8) << 30) /* private memory of each of its processes;                                 \
                          not in builds with sanitizers */
qn_err qn_launch(const struct qn_mcp_target *config, struct qn_arena *arena,
                 struct qn_launched *out, bool *lacking, struct qn_error *e);

#endif
