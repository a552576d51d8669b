/* Starts and ends processes of quince-mcp, each connected to the router by a socket. To be used in
 * the loop thread only. */
#ifndef QN_MCP_SERVERS_PROCESS_H
#define QN_MCP_SERVERS_PROCESS_H

#include "base/buf.h"
#include "base/error.h"
#include "io/loop.h"

#include <stdbool.h>
#include <sys/types.h>

enum { QN_MCP_PROCESS_GRACE_MS = 4000 }; /* time from closing its socket until it is killed */

struct qn_mcp_process_events {
    /* MUST be set. Receives one line, without its newline. */
    void (*line)(void *ctx, const char *line, size_t n);
    /* MUST be set. The process can no longer be used, for the reason `why`. */
    void (*closed)(void *ctx, const char *why);
};

/* All processes that have not ended, also those that qn_mcp_process_end was called for. */
struct qn_mcp_processes;
/* gone: MUST be set. Called from the loop when a process of quince-mcp has ended, with everything
 * that it has started. */
struct qn_mcp_processes *qn_mcp_processes_new(struct qn_loop *l, void (*gone)(void *ctx),
                                              void *ctx);
/* Closes all sockets, waits up to QN_MCP_PROCESS_GRACE_MS in all for the processes to end, and
 * kills the rest. NULL is allowed. */
void qn_mcp_processes_free(struct qn_mcp_processes *ps);
size_t qn_mcp_processes_count(const struct qn_mcp_processes *ps);
/* Returns true if a process of this server still runs. */
bool qn_mcp_processes_has(const struct qn_mcp_processes *ps, const char *id);

struct qn_mcp_process;
/* Starts a process. program: absolute path; id: of the server, copied. Callbacks are called from
 * the loop, and may call qn_mcp_process_end. */
qn_err qn_mcp_process_start(struct qn_mcp_processes *ps, const char *program, const char *id,
                            const struct qn_mcp_process_events *ev, void *ctx,
                            struct qn_mcp_process **out, struct qn_error *e);
/* Sends lines to the process; what it does not read yet is queued. */
void qn_mcp_process_send(struct qn_mcp_process *p, struct qn_buf *lines);
/* Closes its socket, which makes the process exit; no callback is called afterwards. The struct is
 * freed when the process has ended. */
void qn_mcp_process_end(struct qn_mcp_process *p);

#endif
