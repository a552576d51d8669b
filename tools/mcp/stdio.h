/* Runs an MCP session over the stdin and stdout of a program, one message per line. */
#ifndef QN_MCP_STDIO_H
#define QN_MCP_STDIO_H

#include "base/buf.h"
#include "mcp/launch.h"
#include "mcp/target.h"

/* Runs until the router has closed its connection or the session has ended. status: a pipe from
 * which, once the program has ended, the keeper's sentence about how it ended can be read. `in`:
 * bytes that have already been read from the router. */
void qn_stdio_run(const struct qn_mcp_target *config, const struct qn_launched *server, int status,
                  struct qn_buf *in);

#endif
