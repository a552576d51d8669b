/* The MCP servers that owners have configured (chats/mcp_servers.h), as far as they run: one
 * process of quince-mcp for each, started when its tools are wanted, ended when they have not been
 * used for QN_MCP_IDLE_MS, started again after a failure, not before a pause that grows. What a
 * process writes is untrusted (contract/mcp_wire.h). Loop thread only; no function blocks unless it
 * says so. */
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
    QN_MCP_IDLE_MS = 10 * 60 * 1000, /* without use until a server is ended */
    QN_MCP_START_MS = 30 * 1000,     /* until its tools are listed; */
    QN_MCP_LIST_MS = 30 * 1000,      /* the same when they are listed anew */
    QN_MCP_GRACE_MS =
        5000,           /* The router waits this much longer than quince-mcp's own time limit. */
    QN_MCP_CALL_S = 60, /* Default time limit of a call, in seconds. */
    QN_MCP_CALL_S_MAX = 3600,
    QN_MCP_BACKOFF_MS = 1000, /* from a failure to the next start; doubled by each further one */
    QN_MCP_BACKOFF_MAX_MS = 60 * 1000,
    QN_MCP_OWNER_PROCESSES_MAX = 16, /* of one owner that run; */
    QN_MCP_PROCESSES_MAX = 64,       /* of all owners; */
    QN_MCP_ENDING_MAX = 16,          /* and that have been told to end */
    QN_MCP_PORTS_MAX = 64            /* of quince, which programs cannot reach */
};

struct qn_mcp;

struct qn_mcp_config {
    struct qn_loop *loop;
    const char *program; /* path of quince-mcp; copied */
    const char *folder;  /* has a folder for each stdio server; copied */
    /* MAY. The state or the tools of a server of this owner have changed. */
    void (*changed)(void *ctx, const char *owner);
    /* MAY. The ports that quince listens on, which programs may not connect to; returns how many.
     */
    size_t (*ports)(void *ctx, int out[static QN_MCP_PORTS_MAX]);
    const char *data_dir; /* programs are not started if they could reach it; copied; NULL: none */
    void *ctx;
};
struct qn_mcp *qn_mcp_new(const struct qn_mcp_config *config);
/* Ends all servers, and waits a moment for their processes; wants fail, calls are forgotten without
 * a callback. While the loop exists; NULL allowed. */
void qn_mcp_stop(struct qn_mcp *m);
/* After qn_mcp_stop, when nothing uses m any more. NULL allowed. */
void qn_mcp_free(struct qn_mcp *m);

/* Whether there were folders at the start, so that qn_mcp_sweep may have something to remove. */
bool qn_mcp_has_folders(const struct qn_mcp *m);
/* Removes the folders that were there when m was made, and whose server is none of these: all that
 * are stored. */
void qn_mcp_sweep(struct qn_mcp *m, const struct qn_chat_mcp *all, size_t n);

/* Quince may listen on other ports now: then programs are ended, and started anew when they are
 * needed. */
void qn_mcp_ports_changed(struct qn_mcp *m);

/* ---- what is known of a server ---- */

enum qn_mcp_state { QN_MCP_OFF, QN_MCP_STARTING, QN_MCP_READY, QN_MCP_FAILED };
const char *qn_mcp_state_name(enum qn_mcp_state s);

struct qn_mcp_tool {
    const char *name, *title, *description;
    const char *schema; /* JSON object */
};

/* Lent until the next turn of the loop. */
struct qn_mcp_view {
    enum qn_mcp_state state;
    const char *error;                     /* a sentence; "": none */
    int64_t retry_ms;                      /* FAILED: until the next start */
    const char *name, *version, *protocol; /* as the server states; "": unknown */
    bool listed;                           /* the tools are known */
    const struct qn_mcp_tool *tools;
    size_t n_tools;
    int64_t left_out;
};
void qn_mcp_look(const struct qn_mcp *m, const char *id, struct qn_mcp_view *out);

/* The stored server has changed: if it runs with another revision, or is switched off, it is ended.
 */
void qn_mcp_changed(struct qn_mcp *m, const struct qn_chat_mcp *stored);
/* It was deleted: it is ended, and then its folder removed by a worker. */
void qn_mcp_removed(struct qn_mcp *m, const char *id);

/* ---- use ---- */

/* Who waits for a server's tools. Embedded in the waiter's struct. */
struct qn_mcp_want {
    /* MUST. Called once, from the loop. e: why there are no tools; NULL: qn_mcp_look has them. */
    void (*fn)(void *ctx, const struct qn_error *e);
    void *ctx;
    struct qn_mcp_server *server; /* NULL: it does not wait */
    struct qn_mcp_want *prev, *next;
};
/* Starts the server if it does not run. owner: of the stored server; admin: whether the client is
 * one. Without it, stdio servers are refused and HTTP servers may use public addresses only. again:
 * the tools are listed anew, and a server that has failed is started at once. */
void qn_mcp_want(struct qn_mcp *m, const struct qn_chat_mcp *stored, const char *owner, bool admin,
                 bool again, struct qn_mcp_want *w);
void qn_mcp_unwant(struct qn_mcp_want *w); /* one that does not wait: does nothing */

/* A call of a tool. Embedded in the caller's struct. */
struct qn_mcp_call {
    /* MUST. Called once, from the loop: the result's text, or why there is none. The text is lent.
     */
    void (*done)(void *ctx, bool failed, const char *text, size_t n);
    void *ctx;
    struct qn_mcp_server *server; /* NULL: it does not run */
    struct qn_mcp_call *prev, *next;
    int64_t id, due_ms;
    char *tool, *arguments; /* until it is sent */
    const char *refused;    /* static: why it is not sent; NULL: it is */
    struct qn_buf text;
};
/* Starts the server if it does not run. server: its id, which qn_mcp_want has been called for;
 * admin: as there. A process that was started with other rights does not get the call. All failures
 * are reported by done. */
void qn_mcp_call_begin(struct qn_mcp *m, const char *server, bool admin, const char *tool,
                       const char *arguments, struct qn_mcp_call *c);
void qn_mcp_call_cancel(struct qn_mcp_call *c); /* one that does not run: does nothing */

#endif
