/* MCP servers that an owner has configured (docs/apis.md, "Tools of MCP servers"). This file stores
 * them; router/mcp_servers runs them. */
#ifndef QN_CHATS_MCP_SERVERS_H
#define QN_CHATS_MCP_SERVERS_H

#include "chats/chats.h"

enum {
    QN_CHATS_MCP_MAX = 32,               /* servers of one owner */
    QN_CHATS_MCP_NAME_MAX = 64,          /* bytes of a name */
    QN_CHATS_MCP_ENV_MAX = 64,           /* variables */
    QN_CHATS_MCP_PERMISSIONS_MAX = 1024, /* tools with a permission other than "ask" */
    QN_CHATS_MCP_JSON_MAX = 64 * 1024    /* bytes of each of config, secrets and permissions */
};

struct qn_chat_mcp {
    const char *id, *name;
    bool stdio;
    bool enabled;
    int64_t created_ms, updated_ms, revision;
    const char *config;  /* JSON object: url; or command, args, read, write; and call_s */
    const char *secrets; /* JSON object: token; or env, an object. Never to be shown or logged */
    const char *permissions; /* JSON object: a tool's name: "never", or "always", maybe with a blank
                                and the digest of the tool that is allowed; others: "ask" */
};

/* All servers of the owner, by name. */
void qn_chats_mcp_list(struct qn_chats *c, const char *owner, qn_chats_fn fn, void *ctx);

/* Those of all owners; only their ids are set. */
void qn_chats_mcp_list_ids(struct qn_chats *c, qn_chats_fn fn, void *ctx);

/* What is to be changed: members that are NULL stay as they are. Objects are merged with what is
 * stored (RFC 7396: null removes a member). Another url, command or args first removes the
 * permissions "always"; another url or command the secrets, too. */
struct qn_chat_mcp_patch {
    const char *name;
    const bool *enabled;
    const char *config, *secrets, *permissions;
    const char *bound; /* permissions that replace those which are just "always" */
};
/* The result has the server. QN_ECONFLICT (param "name"): the owner has one of this name.
 * QN_ELIMIT. */
void qn_chats_mcp_add(struct qn_chats *c, const char *owner, bool stdio,
                      const struct qn_chat_mcp_patch *server, qn_chats_fn fn, void *ctx);
/* The same; QN_ENOTFOUND. */
void qn_chats_mcp_change(struct qn_chats *c, const char *owner, const char *id,
                         const struct qn_chat_mcp_patch *patch, qn_chats_fn fn, void *ctx);
/* Deletes it for good. QN_ENOTFOUND. */
void qn_chats_mcp_remove(struct qn_chats *c, const char *owner, const char *id, qn_chats_fn fn,
                         void *ctx);

#endif
