/* Shared by the files that implement servers.h. No other file includes this. Loop thread only.
 *
 * A server's struct is made when it is wanted for the first time, and stays until it is deleted.
 * Its process is started by run.c and reports to it. */
#ifndef QN_MCP_SERVERS_SERVERS_PRIVATE_H
#define QN_MCP_SERVERS_SERVERS_PRIVATE_H

#include "base/arena.h"
#include "base/json.h"
#include "mcp_servers/process.h"
#include "mcp_servers/servers.h"

struct qn_mcp_tools {
    struct qn_arena *arena; /* of everything; NULL: there is no list */
    struct qn_mcp_tool list[QN_MCP_TOOLS_MAX];
    size_t n, bytes;
    int64_t left_out;
};

struct qn_mcp_server {
    struct qn_mcp_server *prev, *next;
    struct qn_mcp *in;
    char id[QN_CHATS_ID_DIGITS + 1];
    char *owner, *label; /* label: its name */
    bool stdio, enabled, admin;
    int64_t revision, call_ms;
    char *config, *secrets;

    enum qn_mcp_state state;
    struct qn_mcp_process *process; /* NULL: none */
    struct qn_error error;          /* code QN_OK: none */
    char name[QN_MCP_WORD_MAX + 1], version[QN_MCP_WORD_MAX + 1], protocol[QN_MCP_WORD_MAX + 1];
    struct qn_mcp_tools tools;  /* the list that was read last */
    struct qn_mcp_tools arrive; /* one that is being read */
    bool fresh;          /* `tools` is of the present process, and nothing newer is awaited */
    int64_t list_due_ms; /* when a list that is awaited must have come */
    int64_t used_ms, retry_at_ms, ready_ms;
    int failures; /* in a row */

    int64_t next_id;
    struct qn_mcp_call *calls; /* those whose `tool` is set have not been sent */
    struct qn_mcp_want *wants;
    struct qn_timer *settle; /* wants are to be called */
    struct qn_timer *tick;   /* runs while there is a process */
};

struct qn_mcp {
    struct qn_mcp_config config;
    char *program, *folder, *data_dir; /* data_dir NULL: none */
    int ports[QN_MCP_PORTS_MAX];       /* that the latest program may not connect to */
    size_t n_ports;
    struct qn_mcp_processes *processes;
    struct qn_mcp_server *servers;
    /* One of them. Placeholder that holds calls to servers that no longer exist, until they have
     * failed. NULL: none. */
    struct qn_mcp_server *nowhere;
    struct qn_mcp_folder *found; /* folders that were there at the start */
    struct qn_mcp_folder *going; /* folders of deleted servers */
    bool stopped;
};

/* ---- servers.c ---- */

struct qn_mcp_server *qn_mcp_find(const struct qn_mcp *m, const char *id);
/* Tells that the state or the tools have changed. */
void qn_mcp_tell(struct qn_mcp_server *s);

/* ---- room.c ---- */

/* Makes room for another process of the owner, if need be by the end of one that is not used.
 * QN_EBUSY: there is none. */
qn_err qn_mcp_room(const struct qn_mcp *m, const char *owner, struct qn_error *e);

/* ---- limits.c ---- */

/* Writes the members of a start record that say what a program may not reach. */
void qn_mcp_write_limits(struct qn_mcp *m, struct qn_jw *w);

/* ---- folders.c ---- */

/* Notes which folders there are. Blocks for a moment. */
void qn_mcp_folders_find(struct qn_mcp *m);
/* Has the folder of a deleted server removed by a worker, when its processes have ended. */
void qn_mcp_folder_remove(struct qn_mcp *m, const char *id);
/* A process has ended. */
void qn_mcp_folders_work(struct qn_mcp *m);
void qn_mcp_folders_free(struct qn_mcp *m);

/* ---- run.c ---- */

/* Starts the process; a failure is the server's state. */
void qn_mcp_start(struct qn_mcp_server *s);
/* Ends the process. why: the server's error, with which calls and wants end; NULL: it is just not
 * needed, which must only be said of one without calls and wants. */
void qn_mcp_end(struct qn_mcp_server *s, const char *why);
/* Reports to waiters whose outcome is known, and fails calls with due_ms 0; from a timer, or at
 * once. */
void qn_mcp_settle(struct qn_mcp_server *s);
void qn_mcp_settle_now(struct qn_mcp_server *s);
/* Sends the calls that wait, and asks for the list of tools again if `list`. */
void qn_mcp_send(struct qn_mcp_server *s, bool list);
/* Ends a call. */
void qn_mcp_call_finish(struct qn_mcp_call *c, bool failed, const char *text, size_t n);
void qn_mcp_tools_clear(struct qn_mcp_tools *t);

#endif
