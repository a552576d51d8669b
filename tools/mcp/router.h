/* The connection to the router, on descriptor QN_MCP_FD. Lines from the router become function
 * calls on the session; events of the session become lines to the router. */
#ifndef QN_MCP_ROUTER_H
#define QN_MCP_ROUTER_H

#include "base/buf.h"
#include "mcp/session.h"

#include <stdbool.h>
#include <stdint.h>

/* Blocks until the router's first line has arrived, and appends it to *line. Bytes that follow the
 * line are appended to *rest. The caller initialises both buffers, *line with a limit of
 * QN_MCP_DOWN_MAX. Returns false if the router has closed the connection or the line is too
 * long. */
bool qn_router_first(struct qn_buf *line, struct qn_buf *rest);

/* Handles the complete lines in *in by calling functions of the session. If `readable`, first
 * receives more bytes into *in. Returns false if the router has closed the connection. */
bool qn_router_take(struct qn_buf *in, bool readable, struct qn_session *s, int64_t now_ms);

/* Sends one line to the router; blocks while the router does not read. Returns false if the router
 * has closed the connection. */
bool qn_router_tell(const struct qn_mcp_up *up);
bool qn_router_tell_program(int64_t pid); /* the same, for the line with the server's process id */

#endif
