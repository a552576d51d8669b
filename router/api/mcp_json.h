/* Reads and writes MCP servers as JSON: reads requests of clients, and writes replies, which never
 * contain secrets. */
#ifndef QN_API_MCP_JSON_H
#define QN_API_MCP_JSON_H

#include "base/json.h"
#include "chats/mcp_servers.h"
#include "mcp_servers/servers.h"

/* The checked members of a request, in the form in which they are stored. */
struct qn_mcp_members {
    /* Its strings point into the request's JSON and into the following members. */
    struct qn_chat_mcp_patch patch;
    struct qn_buf config, secrets, permissions;
    bool enabled;
};
/* Reads and checks the members of a request for a server of this kind. view: the present tools of
 * the server, to which permissions apply; NULL: the server is new, and required members must be
 * present. Returns QN_EINVAL with the name of the invalid member as param. The caller must call
 * qn_mcp_members_deinit, also after an error. */
qn_err qn_mcp_members_read(const struct qn_jref *root, bool stdio, const struct qn_mcp_view *view,
                           struct qn_mcp_members *out, struct qn_error *e);
void qn_mcp_members_deinit(struct qn_mcp_members *m);

/* Writes a server, with its state and tools, as a JSON object without secrets. */
void qn_mcp_server_write(struct qn_jw *w, const struct qn_chat_mcp *stored,
                         const struct qn_mcp_view *view);

#endif
