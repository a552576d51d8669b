/* The tools that one answer offers to its model: those of the servers that its conversation names,
 * with the names by which the model calls them. Loop thread only. */
#ifndef QN_MCP_SERVERS_OFFER_H
#define QN_MCP_SERVERS_OFFER_H

#include "mcp_servers/names.h"
#include "mcp_servers/permissions.h"
#include "mcp_servers/servers.h"

enum { QN_MCP_OFFER_SERVERS_MAX = 16, QN_MCP_OFFER_TOOLS_MAX = 256 };

/* A tool that is offered. Strings are lent by the offer. */
struct qn_mcp_offered {
    char name[QN_MCP_NAME_MAX + 1];
    const char *server, *server_name, *tool;
    enum qn_mcp_permission permission;
    char digest[QN_SHA256_HEX + 1]; /* qn_mcp_tool_digest */
    size_t next;                    /* number that the next tool of this name may have */
};

struct qn_mcp_offer;

struct qn_mcp_offer_wish {
    struct qn_mcp *mcp;
    struct qn_chats *chats;
    const char *owner; /* copied */
    bool admin;
    const char *const *ids; /* of n servers, of which the first QN_MCP_OFFER_SERVERS_MAX count;
                               those that do not exist are passed over; copied */
    size_t n;
};
/* Starts the servers and waits for their tools. ready is called once, not from within; a server
 * that fails has no tools. */
struct qn_mcp_offer *qn_mcp_offer_new(const struct qn_mcp_offer_wish *wish,
                                      void (*ready)(void *ctx), void *ctx);
/* At any time; ready is not called afterwards. NULL allowed. */
void qn_mcp_offer_free(struct qn_mcp_offer *o);

/* When it is ready: */
/* The tools as items of the array `tools` of OpenAI's request, separated by commas; "": none. */
const char *qn_mcp_offer_tools(const struct qn_mcp_offer *o);
/* The servers as a JSON array of {"id","name","tools","error"}. */
const char *qn_mcp_offer_servers(const struct qn_mcp_offer *o);
/* NULL: there is no such tool. */
const struct qn_mcp_offered *qn_mcp_offer_find(const struct qn_mcp_offer *o, const char *name);
/* Sets the permission of a tool, also in the database; ALWAYS is for the tool as it is offered. */
void qn_mcp_offer_allow(struct qn_mcp_offer *o, const char *name, enum qn_mcp_permission p);

#endif
