/* The router, at the other end of descriptor QN_MCP_FD: its lines become calls of the session, and
 * what the session reports becomes lines. */
#ifndef QN_MCP_ROUTER_H
#define QN_MCP_ROUTER_H

#include "base/buf.h"
#include "mcp/session.h"

#include <stdbool.h>
#include <stdint.h>

/* Reads the first line. False: the router is gone, or its line is too long. Blocking. The line is
 * appended to *line, which the caller has initialised with a limit of QN_MCP_DOWN_MAX, and what
 * follows it to *rest, likewise. */
bool qn_router_first(struct qn_buf *line, struct qn_buf *rest);

/* Gives complete lines in *in to the session. If `readable`, first receives more bytes. False: the
 * router is gone. */
bool qn_router_take(struct qn_buf *in, bool readable, struct qn_session *s, int64_t now_ms);

/* Writes one line; blocks while the router does not read. False: it is gone. */
bool qn_router_tell(const struct qn_mcp_up *up);
bool qn_router_tell_program(int64_t pid); /* likewise: of the server */

#endif
