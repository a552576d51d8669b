/* A process of quince-mcp: started with its socket, and ended. Loop thread only. */
#ifndef QN_MCP_SERVERS_PROCESS_H
#define QN_MCP_SERVERS_PROCESS_H

#include "base/buf.h"
#include "base/error.h"
#include "io/loop.h"

#include <stdbool.h>
#include <sys/types.h>

enum { QN_MCP_PROCESS_GRACE_MS = 4000 }; /* from the end of its socket until it is killed */

struct qn_mcp_process_events {
    void (*line)(void *ctx, const char *line, size_t n); /* MUST. One line, without its newline */
    void (*closed)(void *ctx, const char *why);          /* MUST. It is of no use any more */
};

struct qn_mcp_processes; /* all that have not ended, also those that nothing owns any more */
/* gone: MUST. A process has ended, and everything that it has started; from the loop. */
struct qn_mcp_processes *qn_mcp_processes_new(struct qn_loop *l, void (*gone)(void *ctx),
                                              void *ctx);
/* Closes all sockets and waits until the processes have ended, a moment; then kills them. NULL
 * allowed. */
void qn_mcp_processes_free(struct qn_mcp_processes *ps);
size_t qn_mcp_processes_count(const struct qn_mcp_processes *ps);
bool qn_mcp_processes_has(const struct qn_mcp_processes *ps, const char *id); /* of this server */

struct qn_mcp_process;
/* program: absolute path; id: of the server, copied. The callbacks come from the loop, and may call
 * qn_mcp_process_end. */
qn_err qn_mcp_process_start(struct qn_mcp_processes *ps, const char *program, const char *id,
                            const struct qn_mcp_process_events *ev, void *ctx,
                            struct qn_mcp_process **out, struct qn_error *e);
/* Queues bytes for it; what it does not read is kept. */
void qn_mcp_process_send(struct qn_mcp_process *p, struct qn_buf *lines);
/* Closes its socket, by which it ends; no callback follows. It is freed when it has ended. */
void qn_mcp_process_end(struct qn_mcp_process *p);

#endif
