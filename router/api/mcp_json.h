/* The JSON of MCP servers: what clients send, and what they get, which never has a secret. */
#ifndef QN_API_MCP_JSON_H
#define QN_API_MCP_JSON_H

#include "base/json.h"
#include "chats/mcp_servers.h"
#include "mcp_servers/servers.h"

/* Members of a request, checked, as they are stored. */
struct qn_mcp_members {
    struct qn_chat_mcp_patch patch; /* its strings are lent by the request, and by: */
    struct qn_buf config, secrets, permissions;
    bool enabled;
};
/* Reads the members that a server of this kind has; view: its tools, for which it may get
 * permissions; NULL: it is a new one, and needs all members. QN_EINVAL with the member as param.
 * The caller ends *out with _deinit, also after an error. */
qn_err qn_mcp_members_read(const struct qn_jref *root, bool stdio, const struct qn_mcp_view *view,
                           struct qn_mcp_members *out, struct qn_error *e);
void qn_mcp_members_deinit(struct qn_mcp_members *m);

/* Writes a server as an object. */
void qn_mcp_server_write(struct qn_jw *w, const struct qn_chat_mcp *stored,
                         const struct qn_mcp_view *view);

#endif
