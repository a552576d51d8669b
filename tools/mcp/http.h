/* Runs an MCP session over the transport "Streamable HTTP", with libcurl. Source:
 * modelcontextprotocol.io/specification, 2025-06-18, "Transports". Redirects are not followed, no
 * proxy is used, certificates are verified. */
#ifndef QN_MCP_HTTP_H
#define QN_MCP_HTTP_H

#include "base/buf.h"
#include "mcp/target.h"

/* Runs until the router has closed its connection or the session has ended; then sends a DELETE to
 * end the server's session. `in`: bytes that have already been read from the router. */
void qn_http_run(const struct qn_mcp_target *config, struct qn_buf *in);

#endif
