/* Runs the MCP servers that owners have configured (chats/mcp_servers.h), each in a process of
 * quince-mcp. A server is started when its tools are wanted, and ended after QN_MCP_IDLE_MS without
 * use. After a failure it is started again when it is wanted, after a pause that grows with each
 * failure. What a process writes is untrusted (contract/mcp_wire.h). To be used in the loop thread
 * only; functions do not block unless they say so. */
#ifndef QN_MCP_SERVERS_SERVERS_H
#define QN_MCP_SERVERS_SERVERS_H

#include "base/buf.h"
#include "base/error.h"
#include "chats/mcp_servers.h"
#include "contract/mcp_wire.h"
#include "io/loop.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    QN_MCP_IDLE_MS = 10 * 60 * 1000, /* time without use after which a server is ended */
    QN_MCP_START_MS = 30 * 1000,     /* time limit from a start until the tools are listed */
    QN_MCP_LIST_MS = 30 * 1000,      /* time limit of a later list of tools */
    QN_MCP_GRACE_MS =
        5000,           /* The router waits this much longer than quince-mcp's own time limit. */
    QN_MCP_CALL_S = 60, /* Default time limit of a call, in seconds. */
    QN_MCP_CALL_S_MAX = 3600,
    QN_MCP_BACKOFF_MS = 1000, /* pause after a failure; doubled by each further one */
    QN_MCP_BACKOFF_MAX_MS = 60 * 1000,
    QN_MCP_OWNER_PROCESSES_MAX = 16, /* maximum running processes of one owner */
    QN_MCP_PROCESSES_MAX = 64,       /* maximum running processes of all owners */
    QN_MCP_ENDING_MAX = 16,          /* maximum further processes that are about to end */
    QN_MCP_PORTS_MAX = 64            /* maximum ports of quince that programs cannot connect to */
};

struct qn_mcp;

struct qn_mcp_config {
    struct qn_loop *loop;
    const char *program; /* path of quince-mcp; copied */
    const char *folder;  /* contains a folder for each stdio server; copied */
    /* MAY be NULL. Called when the state or the tools of a server of this owner have changed. */
    void (*changed)(void *ctx, const char *owner);
    /* MAY be NULL. Writes the ports that quince listens on, which programs must not connect to;
     * returns their number. */
    size_t (*ports)(void *ctx, int out[static QN_MCP_PORTS_MAX]);
    const char *data_dir; /* quince's data folder: programs that could reach it are not started;
                             copied; NULL: none */
    void *ctx;
};
struct qn_mcp *qn_mcp_new(const struct qn_mcp_config *config);
/* Ends all servers, and blocks for a moment until their processes have ended. Pending wants fail;
 * pending calls are dropped without a callback. Must be called while the loop exists. NULL is
 * allowed. */
void qn_mcp_stop(struct qn_mcp *m);
/* Must be called after qn_mcp_stop, when nothing uses `m` any more. NULL is allowed. */
void qn_mcp_free(struct qn_mcp *m);

/* Returns true if there were folders at the start, so that qn_mcp_sweep may have something to
 * remove. */
bool qn_mcp_has_folders(const struct qn_mcp *m);
/* Removes the folders of servers that are no longer stored. Only considers folders that existed
 * when `m` was made. all: the n stored servers of all owners. */
void qn_mcp_sweep(struct qn_mcp *m, const struct qn_chat_mcp *all, size_t n);

/* Must be called when quince may listen on other ports. If the ports have changed, running programs
 * are ended, and started again when they are needed. */
void qn_mcp_ports_changed(struct qn_mcp *m);

/* ---- the state of a server ---- */

enum qn_mcp_state { QN_MCP_OFF, QN_MCP_STARTING, QN_MCP_READY, QN_MCP_FAILED };
const char *qn_mcp_state_name(enum qn_mcp_state s);

struct qn_mcp_tool {
    const char *name, *title, *description;
    const char *schema; /* a JSON object */
};

/* The state of a server. Strings and tools are valid until the next iteration of the loop. */
struct qn_mcp_view {
    enum qn_mcp_state state;
    const char *error; /* a sentence; "": no error */
    int64_t retry_ms;  /* FAILED: milliseconds until the next start is allowed */
    const char *name, *version, *protocol; /* as the server reports them; "": unknown */
    bool listed;                           /* the tools have been listed */
    const struct qn_mcp_tool *tools;
    size_t n_tools;
    int64_t left_out;
};
void qn_mcp_look(const struct qn_mcp *m, const char *id, struct qn_mcp_view *out);

/* Must be called when a stored server has changed. Ends its process if the revision differs or the
 * server has been disabled. */
void qn_mcp_changed(struct qn_mcp *m, const struct qn_chat_mcp *stored);
/* Must be called when a server was deleted. Ends its process; afterwards a worker removes its
 * folder. */
void qn_mcp_removed(struct qn_mcp *m, const char *id);

/* ---- use ---- */

/* A pending request for the tools of a server. Embedded in the struct of the waiting component. */
struct qn_mcp_want {
    /* MUST be set. Called once, from the loop. e: why there are no tools; NULL: qn_mcp_look returns
     * them. */
    void (*fn)(void *ctx, const struct qn_error *e);
    void *ctx;
    struct qn_mcp_server *server; /* NULL: not pending */
    struct qn_mcp_want *prev, *next;
};
/* Starts the server if it does not run, and waits for its tools. owner: the owner of the stored
 * server. admin: whether the client is an admin; if false, stdio servers are refused, and HTTP
 * servers are reached at public addresses only. again: if true, the tools are listed again, and a
 * server that has failed is started at once, without the pause. */
void qn_mcp_want(struct qn_mcp *m, const struct qn_chat_mcp *stored, const char *owner, bool admin,
                 bool again, struct qn_mcp_want *w);
void qn_mcp_unwant(struct qn_mcp_want *w); /* does nothing if `w` is not pending */

/* A call of a tool. Embedded in the caller's struct. */
struct qn_mcp_call {
    /* MUST be set. Called once, from the loop. text: the result, or the reason if the call has
     * failed; valid during the callback only. */
    void (*done)(void *ctx, bool failed, const char *text, size_t n);
    void *ctx;
    struct qn_mcp_server *server; /* NULL: the call is not in progress */
    struct qn_mcp_call *prev, *next;
    int64_t id, due_ms;
    char *tool, *arguments; /* NULL once the call has been sent */
    const char *refused;    /* why the call is not sent (a static string); NULL: it is sent */
    struct qn_buf text;
};
/* Begins a call of a tool, and starts the server if it does not run. server: the id of a server for
 * which qn_mcp_want has been called before. admin: as in qn_mcp_want; a process that was started
 * for a client with other rights does not get the call. All failures are reported by `done`. */
void qn_mcp_call_begin(struct qn_mcp *m, const char *server, bool admin, const char *tool,
                       const char *arguments, struct qn_mcp_call *c);
void qn_mcp_call_cancel(struct qn_mcp_call *c); /* does nothing if the call is not in progress */

#endif
