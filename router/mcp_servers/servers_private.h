/* Shared by the files that implement servers.h. No other file includes this. To be used in the loop
 * thread only.
 *
 * A server's struct is created when the server is first wanted, and kept until the server is
 * deleted. Its process is started by run.c, whose callbacks update the struct. */
#ifndef QN_MCP_SERVERS_SERVERS_PRIVATE_H
#define QN_MCP_SERVERS_SERVERS_PRIVATE_H

#include "base/arena.h"
#include "base/json.h"
#include "mcp_servers/process.h"
#include "mcp_servers/servers.h"

struct qn_mcp_tools {
    struct qn_arena *arena; /* memory of the tools; NULL: there is no list */
    struct qn_mcp_tool list[QN_MCP_TOOLS_MAX];
    size_t n, bytes;
    int64_t left_out;
};

struct qn_mcp_server {
    struct qn_mcp_server *prev, *next;
    struct qn_mcp *in;
    char id[QN_CHATS_ID_DIGITS + 1];
    char *owner, *label; /* label: the name that its owner gave it */
    bool stdio, enabled, admin;
    int64_t revision, call_ms;
    char *config, *secrets;

    enum qn_mcp_state state;
    struct qn_mcp_process *process; /* NULL: no process */
    struct qn_error error;          /* code QN_OK: no error */
    char name[QN_MCP_WORD_MAX + 1], version[QN_MCP_WORD_MAX + 1], protocol[QN_MCP_WORD_MAX + 1];
    struct qn_mcp_tools tools;  /* the last complete list */
    struct qn_mcp_tools arrive; /* a list of which not all tools have arrived */
    bool fresh; /* `tools` was listed by the present process (or listing failed), and no newer list
                   is pending */
    int64_t list_due_ms; /* deadline of the pending list */
    int64_t used_ms, retry_at_ms, ready_ms;
    int failures; /* consecutive failures */

    int64_t next_id;
    /* Calls in progress; `tool` is not NULL in calls that have not been sent yet. */
    struct qn_mcp_call *calls;
    struct qn_mcp_want *wants;
    struct qn_timer *settle; /* fires at once to call qn_mcp_settle_now; NULL: not needed */
    struct qn_timer *tick;   /* checks timeouts; runs while there is a process */
};

struct qn_mcp {
    struct qn_mcp_config config;
    char *program, *folder, *data_dir; /* data_dir: MAY be NULL */
    int ports[QN_MCP_PORTS_MAX];       /* ports that the latest program cannot connect to */
    size_t n_ports;
    struct qn_mcp_processes *processes;
    struct qn_mcp_server *servers;
    /* A placeholder in `servers` that holds calls to servers that no longer exist, until these
     * calls have been reported as failed. NULL: not created yet. */
    struct qn_mcp_server *nowhere;
    struct qn_mcp_folder *found; /* folders that existed when the router started */
    struct qn_mcp_folder *going; /* folders of deleted servers, to be removed */
    bool stopped;
};

/* ---- servers.c ---- */

struct qn_mcp_server *qn_mcp_find(const struct qn_mcp *m, const char *id);
/* Calls the callback `changed`: the state or the tools of the server have changed. */
void qn_mcp_tell(struct qn_mcp_server *s);

/* ---- room.c ---- */

/* Checks that the owner may have another process; if the limit is reached, ends an idle process.
 * Returns QN_EBUSY if all are in use. */
qn_err qn_mcp_room(const struct qn_mcp *m, const char *owner, struct qn_error *e);

/* ---- limits.c ---- */

/* Writes the members of the start record that say which ports and folders of quince the program
 * must not reach. */
void qn_mcp_write_limits(struct qn_mcp *m, struct qn_jw *w);

/* ---- folders.c ---- */

/* Records which folders exist. Blocks for a moment. */
void qn_mcp_folders_find(struct qn_mcp *m);
/* Lets a worker remove the folder of a deleted server, once the server's processes have ended. */
void qn_mcp_folder_remove(struct qn_mcp *m, const char *id);
/* Must be called when a process has ended: starts the removals that have waited for it. */
void qn_mcp_folders_work(struct qn_mcp *m);
void qn_mcp_folders_free(struct qn_mcp *m);

/* ---- run.c ---- */

/* Starts the process. If this fails, the state of the server becomes FAILED. */
void qn_mcp_start(struct qn_mcp_server *s);
/* Ends the process. why: becomes the server's error, with which pending calls and wants fail. NULL:
 * the process is just not needed any more, which is only allowed if there are no calls and
 * wants. */
void qn_mcp_end(struct qn_mcp_server *s, const char *why);
/* Report the outcome to wants whose outcome is known, and fail the calls whose due_ms is 0: the
 * first function from a timer, the second at once. */
void qn_mcp_settle(struct qn_mcp_server *s);
void qn_mcp_settle_now(struct qn_mcp_server *s);
/* Sends the calls that have not been sent; also requests the list of tools if `list`. */
void qn_mcp_send(struct qn_mcp_server *s, bool list);
/* Ends a call and reports its result. */
void qn_mcp_call_finish(struct qn_mcp_call *c, bool failed, const char *text, size_t n);
void qn_mcp_tools_clear(struct qn_mcp_tools *t);

#endif
