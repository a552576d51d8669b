/* A session over the pipes of a program, one message a line. */
#ifndef QN_MCP_STDIO_H
#define QN_MCP_STDIO_H

#include "base/buf.h"
#include "mcp/launch.h"
#include "mcp/target.h"

/* Runs until the router is gone or the session has ended. status: readable when the program has
 * ended, then a sentence about how. in: bytes of the router that have been read already. */
void qn_stdio_run(const struct qn_mcp_target *config, const struct qn_launched *server, int status,
                  struct qn_buf *in);

#endif
