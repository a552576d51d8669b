/* What the router and quince-mcp say to each other: lines of JSON on a socket pair, descriptor
 * QN_MCP_FD of quince-mcp. quince-mcp has read what a foreign server sent, and may have been taken
 * over by it; so the router reads its lines with the limits below. Pure functions, any thread.
 *
 *   to quince-mcp
 *     {"do":"start","kind":"stdio","command":"npx","args":["x"],"env":{"A":"b"},"read":["/a"],
 *      "write":[],"folder":"/data/mcp/ID","ports":[8080],"private":["/data"],
 *      "start_ms":30000}                                        the first line
 *     {"do":"start","kind":"http","url":"https://a/mcp","token":"t","public":true,...}
 *     {"do":"list"}
 *     {"do":"call","id":7,"tool":"add","arguments":"{\"a\":1}","ms":60000}
 *     {"do":"cancel","id":7}
 *   to the router
 *     {"is":"program","pid":7}         of a stdio server, before anything is read from it
 *     {"is":"ready","name":"...","version":"...","protocol":"2025-06-18"}
 *     {"is":"tool","name":"add","title":"","description":"...","schema":{...}}   any number, then
 *     {"is":"listed","left_out":0}     which replaces the earlier list
 *     {"is":"text","id":7,"s":"..."}   pieces of a result, then
 *     {"is":"result","id":7,"error":false}
 *     {"is":"failed","id":7,"message":"..."}   instead of a result
 *     {"is":"unlisted","message":"..."}        the tools cannot be listed
 *     {"is":"down","message":"..."}    the server cannot be used any more: the last line */
#ifndef QN_CONTRACT_MCP_WIRE_H
#define QN_CONTRACT_MCP_WIRE_H

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    QN_MCP_FD = 3,
    QN_MCP_UP_MAX = 128 * 1024,        /* bytes of a line to the router */
    QN_MCP_DOWN_MAX = 4 * 1024 * 1024, /* bytes of a line to quince-mcp */
    QN_MCP_TOOLS_MAX = 128,            /* of one server */
    QN_MCP_TOOL_NAME_MAX = 128,        /* bytes; also of a title */
    QN_MCP_DESCRIPTION_MAX = 4096,
    QN_MCP_SCHEMA_MAX = 32 * 1024,       /* bytes of a tool's schema as compact JSON */
    QN_MCP_TOOLS_BYTES_MAX = 192 * 1024, /* of all tools of a server */
    QN_MCP_RESULT_MAX = 128 * 1024,      /* bytes of a result's text */
    QN_MCP_PIECE_MAX = 16 * 1024,        /* bytes of a piece of it */
    QN_MCP_MESSAGE_TEXT_MAX = 500,       /* bytes of a sentence that says what went wrong */
    QN_MCP_WORD_MAX = 128,               /* bytes of a server's name, version and revision */
    QN_MCP_CALLS_MAX = 32                /* of one server at a time */
};

enum qn_mcp_up_kind {
    QN_MCP_UP_READY,
    QN_MCP_UP_TOOL,
    QN_MCP_UP_LISTED,
    QN_MCP_UP_TEXT,
    QN_MCP_UP_RESULT,
    QN_MCP_UP_FAILED,
    QN_MCP_UP_UNLISTED,
    QN_MCP_UP_DOWN,
    QN_MCP_UP_KINDS
};

/* A line to the router. Strings are lent; those that a kind does not have are "". */
struct qn_mcp_up {
    enum qn_mcp_up_kind kind;
    int64_t id;              /* TEXT, RESULT, FAILED; >= 1 */
    const char *name;        /* READY, TOOL */
    const char *version;     /* READY */
    const char *protocol;    /* READY */
    const char *title;       /* TOOL */
    const char *description; /* TOOL */
    const char *schema;      /* TOOL: a JSON object */
    int64_t left_out;        /* LISTED: tools that exceed a limit */
    const char *text;        /* TEXT */
    bool error;              /* RESULT */
    const char *message;     /* FAILED, UNLISTED, DOWN */
};

/* Appends the line with its newline. */
void qn_mcp_up_write(const struct qn_mcp_up *up, struct qn_buf *out);

/* Reads a line, without its newline. On success *doc and *schema (initialised by the caller, which
 * the schema of a tool is written to) hold what *out lends; the caller frees *doc. QN_ECHILD: the
 * line breaks the rules; *doc is NULL. */
qn_err qn_mcp_up_read(const char *line, size_t n, struct qn_mcp_up *out, struct qn_json **doc,
                      struct qn_buf *schema, struct qn_error *e);

/* The line about the program's process, which is also its process group. */
void qn_mcp_program_write(int64_t pid, struct qn_buf *out);
bool qn_mcp_program_read(const char *line, size_t n, int64_t *pid); /* false: it is another line */

/* Appends lines to quince-mcp with their newlines. */
void qn_mcp_down_list(struct qn_buf *out);
void qn_mcp_down_call(int64_t id, const char *tool, const char *arguments, int64_t ms,
                      struct qn_buf *out);
void qn_mcp_down_cancel(int64_t id, struct qn_buf *out);

#endif
