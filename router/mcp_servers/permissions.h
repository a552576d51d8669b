/* What tools of MCP servers may do without a question. Loop thread only. */
#ifndef QN_MCP_SERVERS_PERMISSIONS_H
#define QN_MCP_SERVERS_PERMISSIONS_H

#include "base/json.h"
#include "digest/sha256.h"
#include "mcp_servers/servers.h"

enum qn_mcp_permission { QN_MCP_ASK, QN_MCP_ALWAYS, QN_MCP_NEVER };

/* "ask", "always", "never". Pure. */
const char *qn_mcp_permission_name(enum qn_mcp_permission p);
bool qn_mcp_permission_parse(const char *name, enum qn_mcp_permission *out);

/* The SHA-256 of what a model is told of a tool, in hexadecimal. Pure. */
void qn_mcp_tool_digest(const struct qn_mcp_tool *t, char out[static QN_SHA256_HEX + 1]);

/* As they are stored, ALWAYS is for one definition of the tool: "always DIGEST". Without a digest
 * it is for the definition that is listed next; see qn_mcp_permissions_bind. */

/* Writes a tool's name and its permission, as it is stored: ASK as null. digest: of ALWAYS; NULL:
 * the tool has not been listed. */
void qn_mcp_permission_write(struct qn_jw *w, const char *tool, enum qn_mcp_permission p,
                             const char *digest);
/* A stored value without its digest. */
enum qn_mcp_permission qn_mcp_permission_stored(const char *value);

/* The stored permissions of one server, sorted. */
struct qn_mcp_permissions;
struct qn_mcp_permissions *qn_mcp_permissions_new(const char *stored); /* copied */
void qn_mcp_permissions_free(struct qn_mcp_permissions *p);            /* NULL allowed */
/* The permission of a tool that is defined like this. *changed, which MAY be NULL: it is ASK
 * because another definition was allowed. */
enum qn_mcp_permission qn_mcp_permissions_of(const struct qn_mcp_permissions *p,
                                             const struct qn_mcp_tool *tool, bool *changed);

/* Stores the digests of the tools that are listed and have ALWAYS without one. */
void qn_mcp_permissions_bind(struct qn_chats *c, const char *owner,
                             const struct qn_chat_mcp *stored, const struct qn_mcp_view *view);

#endif
