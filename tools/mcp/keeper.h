/* The process that a stdio server belongs to. It reads nothing that the server writes: a process
 * of its own does, in a sandbox. When either of the two ends, or the router says so, the other ends
 * too, with everything that the server has started. */
#ifndef QN_MCP_KEEPER_H
#define QN_MCP_KEEPER_H

#include "mcp/launch.h"

/* Returns when `speaker` has ended, and no process of the server is left. tell: a pipe on which a
 * sentence about the end of the server is written; closed by this function. The server has STOP_MS
 * to end by itself after its stdin has been closed, which the end of speaker does. */
void qn_keeper_run(const struct qn_launched *server, pid_t speaker, int tell);

/* Before any process is started: orphans of the server become children of this process. */
void qn_keeper_prepare(void);

#endif
