/* The tools that one answer offers to its model: those of the MCP servers that the conversation
 * names, under the names by which the model calls them. To be used in the loop thread only. */
#ifndef QN_MCP_SERVERS_OFFER_H
#define QN_MCP_SERVERS_OFFER_H

#include "mcp_servers/names.h"
#include "mcp_servers/permissions.h"
#include "mcp_servers/servers.h"

enum { QN_MCP_OFFER_SERVERS_MAX = 16, QN_MCP_OFFER_TOOLS_MAX = 256 };

/* One offered tool. Its strings belong to the offer. */
struct qn_mcp_offered {
    char name[QN_MCP_NAME_MAX + 1];
    const char *server, *server_name, *tool;
    enum qn_mcp_permission permission;
    char digest[QN_SHA256_HEX + 1]; /* see qn_mcp_tool_digest */
    size_t next; /* number to append to the name of the next tool with the same name */
};

struct qn_mcp_offer;

struct qn_mcp_offer_wish {
    struct qn_mcp *mcp;
    struct qn_chats *chats;
    const char *owner; /* copied */
    bool admin;
    const char *const *ids; /* ids of n servers; copied. Only the first QN_MCP_OFFER_SERVERS_MAX are
                               used; ids that do not exist are skipped. */
    size_t n;
};
/* Starts the servers and waits for their lists of tools. Calls `ready` exactly once, never before
 * this function has returned. A server that fails contributes no tools. */
struct qn_mcp_offer *qn_mcp_offer_new(const struct qn_mcp_offer_wish *wish,
                                      void (*ready)(void *ctx), void *ctx);
/* Frees the offer; may be called at any time. `ready` is not called afterwards. NULL is allowed. */
void qn_mcp_offer_free(struct qn_mcp_offer *o);

/* The functions below may be called once the offer is ready. */
/* Returns the tools as items of the array "tools" in an OpenAI request, separated by commas; "": no
 * tools. */
const char *qn_mcp_offer_tools(const struct qn_mcp_offer *o);
/* Returns the servers as a JSON array of {"id","name","tools","error"}. */
const char *qn_mcp_offer_servers(const struct qn_mcp_offer *o);
/* Finds an offered tool by its name; NULL: there is no such tool. */
const struct qn_mcp_offered *qn_mcp_offer_find(const struct qn_mcp_offer *o, const char *name);
/* Sets the permission of a tool, and stores it in the database. ALWAYS only covers the definition
 * of the tool that was offered. */
void qn_mcp_offer_allow(struct qn_mcp_offer *o, const char *name, enum qn_mcp_permission p);

#endif
