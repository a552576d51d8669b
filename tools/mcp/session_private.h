/* Shared by the files that implement session.h: session.c decides what is sent and when,
 * session_take.c handles what the server sends. No other file includes this. */
#ifndef QN_MCP_SESSION_PRIVATE_H
#define QN_MCP_SESSION_PRIVATE_H

#include "mcp/results.h"
#include "mcp/session.h"

enum {
    QN_SESSION_REQUESTS_MAX = QN_MCP_CALLS_MAX + 4,
    QN_SESSION_SEND_MAX = QN_MCP_DOWN_MAX + 4096
};

enum qn_session_kind { QN_SESSION_NONE, QN_SESSION_INITIALIZE, QN_SESSION_LIST, QN_SESSION_CALL };

/* A pending JSON-RPC request. */
struct qn_session_request {
    enum qn_session_kind kind; /* QN_SESSION_NONE: this entry is free */
    int64_t rpc;               /* id of the JSON-RPC request */
    int64_t call;              /* CALL: the id that the router gave the call */
    int64_t due_ms;            /* when it times out */
    int64_t limit_ms;
    int64_t session; /* number of the session in which it was sent */
    char *message; /* CALL: kept so that it can be sent again in a new session; NULL: it has already
                      been resent */
    bool waits;    /* CALL: it waits for a session to be initialised, then it is sent */
    bool sent;     /* CALL: it has been sent at least once */
};

struct qn_session {
    struct qn_session_events ev;
    void *ctx;
    int64_t next_rpc;
    struct qn_session_request requests[QN_SESSION_REQUESTS_MAX];
    const char *protocol; /* negotiated revision; NULL: not negotiated yet */
    int64_t session;      /* number of the present session, counted from 1 */
    int64_t start_due_ms, start_ms;
    bool listed; /* a list of tools, or its timeout, has been reported */
    bool down;
    bool has_tools; /* the server announced the capability "tools" */
    bool changed;   /* the list of tools is out of date and must be requested again */
    int64_t listed_ms;
    int pages;
    struct qn_tool_count count;
    int banners;
    int64_t flood_since_ms, flood_messages, flood_bytes;
};

/* ---- session.c ---- */

extern const char *const qn_session_revisions[3]; /* supported; newest first */

/* Reports to the router an event of a kind that has a message. The message is cut to
 * QN_MCP_MESSAGE_TEXT_MAX bytes. */
void qn_session_report(struct qn_session *s, enum qn_mcp_up_kind kind, int64_t id,
                       const char *message);
void qn_session_report_listed(struct qn_session *s);
void qn_session_send(struct qn_session *s, int64_t rpc, struct qn_buf *json);
void qn_session_notify(struct qn_session *s, const char *json);
void qn_session_end_request(struct qn_session_request *r);
/* Requests a page of the list of tools. cursor: of the page; NULL: the first page. */
void qn_session_list_page(struct qn_session *s, const char *cursor, int64_t now_ms);
/* Sends a call that has waited for the session to be initialised. */
void qn_session_send_call(struct qn_session *s, struct qn_session_request *r);

#endif
