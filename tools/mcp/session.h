/* One session with an MCP server, as its client: which messages are sent, and what follows from
 * those that arrive. JSON-RPC 2.0; source: modelcontextprotocol.io/specification, revisions
 * 2025-06-18, 2025-03-26 and 2024-11-05. Independent of how messages are transported: whole
 * messages go in and out. Everything that the server sends is untrusted. One thread.
 *
 * A session ends by itself when the server breaks the protocol or does not answer in time: it
 * reports QN_MCP_UP_DOWN and does nothing any more. */
#ifndef QN_MCP_SESSION_H
#define QN_MCP_SESSION_H

#include "base/error.h"
#include "contract/mcp_wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    QN_SESSION_MESSAGE_MAX = 4 * 1024 * 1024, /* bytes of one message of the server */
    QN_SESSION_PAGES_MAX = 64,                /* of a list of tools */
    QN_SESSION_BANNERS_MAX = 100, /* lines that are no messages, before the server has answered:
                                     some programs print a greeting */
    QN_SESSION_RELIST_MS = 1000,  /* between two lists, however often the server says that its
                                     tools have changed */
    /* Messages that answer no request, and their bytes, in QN_SESSION_FLOOD_MS. */
    QN_SESSION_FLOOD_MS = 10000,
    QN_SESSION_FLOOD_MESSAGES = 10000,
    QN_SESSION_FLOOD_BYTES = 16 * 1024 * 1024
};

struct qn_session;

struct qn_session_events {
    /* MUST. Sends one message. rpc: the id of the request that it is; 0: a notification or a
     * response. */
    void (*send)(void *ctx, int64_t rpc, const char *json, size_t n);
    void (*up)(void *ctx, const struct qn_mcp_up *up); /* MUST. For the router; lent for the call */
};

/* Sends the first request. start_ms: time until the tools are listed. */
struct qn_session *qn_session_new(const struct qn_session_events *ev, void *ctx, int64_t start_ms,
                                  int64_t now_ms);
void qn_session_free(struct qn_session *s); /* NULL allowed */

/* Takes one message of the server, or an array of messages. */
void qn_session_message(struct qn_session *s, const char *text, size_t n, int64_t now_ms);

/* Lists the tools again. */
void qn_session_list(struct qn_session *s, int64_t now_ms);
/* Calls a tool; it ends with RESULT or FAILED, after ms at the latest. */
void qn_session_call(struct qn_session *s, int64_t id, const char *tool, const char *arguments,
                     int64_t ms, int64_t now_ms);
/* The call's result is not wanted any more; nothing is reported. */
void qn_session_cancel(struct qn_session *s, int64_t id);

/* Ends what has taken too long, and lists the tools again if they have changed. Returns the
 * milliseconds until it has to be called again. */
int64_t qn_session_tick(struct qn_session *s, int64_t now_ms);

/* The transport has failed to get an answer to this request. Without a session (the first request)
 * this ends it. */
void qn_session_unanswered(struct qn_session *s, int64_t rpc, const char *why);
/* The server does not know the session any more, as it said in reply to this request (0: to a
 * notification): a new session is begun, and calls that have no answer are sent again, once. */
void qn_session_lost(struct qn_session *s, int64_t rpc, int64_t now_ms);
/* Ends the session for this reason. */
void qn_session_break(struct qn_session *s, const char *why);

/* Whether this request still waits for its answer. */
bool qn_session_is_pending(const struct qn_session *s, int64_t rpc);

bool qn_session_is_down(const struct qn_session *s);
/* The revision that was agreed on; "": not yet. Lent. */
const char *qn_session_protocol(const struct qn_session *s);

#endif
