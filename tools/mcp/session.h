/* The client's side of one MCP session: which messages are sent, and how messages of the server are
 * handled. JSON-RPC 2.0; source: modelcontextprotocol.io/specification, revisions 2025-06-18,
 * 2025-03-26 and 2024-11-05. Independent of the transport: the caller passes whole messages in, and
 * callbacks pass whole messages out. Everything that the server sends is untrusted.
 * Single-threaded.
 *
 * The session ends by itself if the server breaks the protocol or does not answer `initialize` in
 * time: it reports QN_MCP_UP_DOWN, and ignores all later function calls. */
#ifndef QN_MCP_SESSION_H
#define QN_MCP_SESSION_H

#include "base/error.h"
#include "contract/mcp_wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    QN_SESSION_MESSAGE_MAX = 4 * 1024 * 1024, /* maximum bytes of one message of the server */
    QN_SESSION_PAGES_MAX = 64,                /* maximum pages of a list of tools */
    QN_SESSION_BANNERS_MAX = 100, /* lines that are not messages, ignored before `initialize` is
                                     answered: some programs print a greeting */
    QN_SESSION_RELIST_MS = 1000,  /* minimum interval between two lists, however often the server
                                     reports that its tools have changed */
    /* Within QN_SESSION_FLOOD_MS the server may send at most this many messages, and this many
     * bytes of them, that are not responses to pending requests. */
    QN_SESSION_FLOOD_MS = 10000,
    QN_SESSION_FLOOD_MESSAGES = 10000,
    QN_SESSION_FLOOD_BYTES = 16 * 1024 * 1024
};

struct qn_session;

struct qn_session_events {
    /* MUST be set. Sends one message to the server. rpc: the id if the message is a request; 0: it
     * is a notification or a response. */
    void (*send)(void *ctx, int64_t rpc, const char *json, size_t n);
    void (*up)(void *ctx, const struct qn_mcp_up *up); /* MUST be set. Reports to the router; `up`
                                                          is valid during the call only. */
};

/* Creates the session and sends the request `initialize`. start_ms: time limit until the tools have
 * been listed. */
struct qn_session *qn_session_new(const struct qn_session_events *ev, void *ctx, int64_t start_ms,
                                  int64_t now_ms);
void qn_session_free(struct qn_session *s); /* NULL allowed */

/* Handles one message of the server, or a batch: a JSON array of messages. */
void qn_session_message(struct qn_session *s, const char *text, size_t n, int64_t now_ms);

/* Requests the list of tools again. */
void qn_session_list(struct qn_session *s, int64_t now_ms);
/* Calls a tool. The session reports RESULT or FAILED for `id` within `ms` milliseconds. */
void qn_session_call(struct qn_session *s, int64_t id, const char *tool, const char *arguments,
                     int64_t ms, int64_t now_ms);
/* Cancels a call: tells the server, and reports nothing more about the call. */
void qn_session_cancel(struct qn_session *s, int64_t id);

/* Fails requests that have timed out, and requests the list of tools if it has changed. Returns the
 * milliseconds until this function must be called again. */
int64_t qn_session_tick(struct qn_session *s, int64_t now_ms);

/* Reports that the transport got no response to the request `rpc`: the call or the list fails with
 * the reason `why`. If the request is `initialize`, the session ends. */
void qn_session_unanswered(struct qn_session *s, int64_t rpc, const char *why);
/* Reports that the server no longer knows the session (HTTP 404), as its reply to the request `rpc`
 * says. If that is the present session, a new one is initialised. A call is sent again in the new
 * session, but only once: if it has been resent before, it fails. A list request is dropped, since
 * a new session requests the list anyway. If the request is `initialize`, the session ends. rpc 0
 * (a notification): does nothing. */
void qn_session_lost(struct qn_session *s, int64_t rpc, int64_t now_ms);
/* Ends the session and reports QN_MCP_UP_DOWN with this reason. */
void qn_session_break(struct qn_session *s, const char *why);

/* Returns true if the request has been sent and waits for its response. */
bool qn_session_is_pending(const struct qn_session *s, int64_t rpc);

bool qn_session_is_down(const struct qn_session *s);
/* Returns the negotiated protocol revision; "": not negotiated yet. The string is static. */
const char *qn_session_protocol(const struct qn_session *s);

#endif
