/* Permissions of MCP tools: whether a model may call a tool without asking the user. To be used in
 * the loop thread only. */
#ifndef QN_MCP_SERVERS_PERMISSIONS_H
#define QN_MCP_SERVERS_PERMISSIONS_H

#include "base/json.h"
#include "digest/sha256.h"
#include "mcp_servers/servers.h"

enum qn_mcp_permission { QN_MCP_ASK, QN_MCP_ALWAYS, QN_MCP_NEVER };

/* Convert a permission to and from "ask", "always" or "never". Pure functions. */
const char *qn_mcp_permission_name(enum qn_mcp_permission p);
bool qn_mcp_permission_parse(const char *name, enum qn_mcp_permission *out);

/* Writes the SHA-256, in hexadecimal, of the definition of a tool: its name, title, description and
 * schema. Pure function. */
void qn_mcp_tool_digest(const struct qn_mcp_tool *t, char out[static QN_SHA256_HEX + 1]);

/* A stored ALWAYS covers one definition of the tool: "always DIGEST". A stored "always" without a
 * digest covers the definition that is listed next; see qn_mcp_permissions_bind. */

/* Writes a member with the tool's name and its permission in stored form; ASK becomes null. digest:
 * for ALWAYS; NULL if the tool has not been listed yet. */
void qn_mcp_permission_write(struct qn_jw *w, const char *tool, enum qn_mcp_permission p,
                             const char *digest);
/* Parses a stored value, ignoring its digest. */
enum qn_mcp_permission qn_mcp_permission_stored(const char *value);

/* The stored permissions of one server, sorted by tool. */
struct qn_mcp_permissions;
struct qn_mcp_permissions *qn_mcp_permissions_new(const char *stored); /* `stored` is copied */
void qn_mcp_permissions_free(struct qn_mcp_permissions *p);            /* NULL is allowed */
/* Returns the permission of the tool with this definition. Sets *changed, which MAY be NULL, to
 * true if the result is ASK only because the user allowed a different definition. */
enum qn_mcp_permission qn_mcp_permissions_of(const struct qn_mcp_permissions *p,
                                             const struct qn_mcp_tool *tool, bool *changed);

/* For listed tools whose stored permission is "always" without a digest, stores the digest of the
 * listed definition. */
void qn_mcp_permissions_bind(struct qn_chats *c, const char *owner,
                             const struct qn_chat_mcp *stored, const struct qn_mcp_view *view);

#endif
