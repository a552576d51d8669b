/* A session over streamable HTTP, by libcurl. Source: modelcontextprotocol.io/specification,
 * 2025-06-18, "Transports". Redirects are not followed, no proxy is used, certificates are
 * verified. */
#ifndef QN_MCP_HTTP_H
#define QN_MCP_HTTP_H

#include "base/buf.h"
#include "mcp/target.h"

/* Runs until the router is gone or the session has ended, then ends the server's session. in: bytes
 * of the router that have been read already. */
void qn_http_run(const struct qn_mcp_target *config, struct qn_buf *in);

#endif
