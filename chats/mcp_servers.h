/* Stores the MCP servers that owners have configured (docs/apis.md, "Tools of MCP servers").
 * router/mcp_servers runs them. */
#ifndef QN_CHATS_MCP_SERVERS_H
#define QN_CHATS_MCP_SERVERS_H

#include "chats/chats.h"

enum {
    QN_CHATS_MCP_MAX = 32,               /* maximum servers of one owner */
    QN_CHATS_MCP_NAME_MAX = 64,          /* maximum bytes of a name */
    QN_CHATS_MCP_ENV_MAX = 64,           /* maximum environment variables of one server */
    QN_CHATS_MCP_PERMISSIONS_MAX = 1024, /* maximum tools with a permission other than "ask" */
    QN_CHATS_MCP_JSON_MAX = 64 * 1024 /* maximum bytes of each of config, secrets and permissions */
};

struct qn_chat_mcp {
    const char *id, *name;
    bool stdio;
    bool enabled;
    int64_t created_ms, updated_ms, revision;
    /* JSON object: url (HTTP), or command, args, read, write (stdio); and call_s. */
    const char *config;
    /* JSON object: token (HTTP), or env, an object (stdio). Must never be shown or logged. */
    const char *secrets;
    /* JSON object: for each tool's name "never" or "always". "always" may be followed by a blank
     * and the digest of the tool definition that is allowed. Tools without a member: "ask". */
    const char *permissions;
};

/* Lists all servers of the owner, sorted by name. */
void qn_chats_mcp_list(struct qn_chats *c, const char *owner, qn_chats_fn fn, void *ctx);

/* Lists the servers of all owners. Only the member `id` of each is set. */
void qn_chats_mcp_list_ids(struct qn_chats *c, qn_chats_fn fn, void *ctx);

/* A change of a server. Members that are NULL stay as they are. Objects are merged into the stored
 * ones (RFC 7396: null removes a member). Before that, a different url, command or args removes the
 * permissions "always"; a different url or command also removes the secrets. */
struct qn_chat_mcp_patch {
    const char *name;
    const bool *enabled;
    const char *config, *secrets, *permissions;
    const char *bound; /* permissions with digests, which replace stored values that are "always"
                          without a digest */
};
/* Adds a server; the result has it. QN_ECONFLICT (param "name"): the owner already has a server of
 * this name. QN_ELIMIT. */
void qn_chats_mcp_add(struct qn_chats *c, const char *owner, bool stdio,
                      const struct qn_chat_mcp_patch *server, qn_chats_fn fn, void *ctx);
/* Changes a server. Result and errors are the same; also QN_ENOTFOUND. */
void qn_chats_mcp_change(struct qn_chats *c, const char *owner, const char *id,
                         const struct qn_chat_mcp_patch *patch, qn_chats_fn fn, void *ctx);
/* Deletes the server for good. QN_ENOTFOUND. */
void qn_chats_mcp_remove(struct qn_chats *c, const char *owner, const char *id, qn_chats_fn fn,
                         void *ctx);

#endif
