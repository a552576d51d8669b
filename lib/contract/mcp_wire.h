/* The protocol between the router and quince-mcp: lines of JSON over a socket pair, whose end in
 * quince-mcp is descriptor QN_MCP_FD. quince-mcp parses what a foreign MCP server sends, and may
 * have been compromised by it; so the router checks the lines of quince-mcp against the limits
 * below. Pure functions, which may be called in any thread.
 *
 *   to quince-mcp
 *     {"do":"start","kind":"stdio","command":"npx","args":["x"],"env":{"A":"b"},"read":["/a"],
 *      "write":[],"folder":"/data/mcp/ID","ports":[8080],"private":["/data"],
 *      "start_ms":30000}                                        always the first line
 *     {"do":"start","kind":"http","url":"https://a/mcp","token":"t","public":true,...}
 *     {"do":"list"}
 *     {"do":"call","id":7,"tool":"add","arguments":"{\"a\":1}","ms":60000}
 *     {"do":"cancel","id":7}
 *   to the router
 *     {"is":"program","pid":7}         stdio only: sent before the server's output is read
 *     {"is":"ready","name":"...","version":"...","protocol":"2025-06-18"}
 *     {"is":"tool","name":"add","title":"","description":"...","schema":{...}}   one per tool, then
 *     {"is":"listed","left_out":0}     end of the list, which replaces the earlier one
 *     {"is":"text","id":7,"s":"..."}   parts of a result, then
 *     {"is":"result","id":7,"error":false}
 *     {"is":"failed","id":7,"message":"..."}   the call has failed: instead of text and result
 *     {"is":"unlisted","message":"..."}        the tools cannot be listed
 *     {"is":"down","message":"..."}    the server can no longer be used; the last line */
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
    QN_MCP_UP_MAX = 128 * 1024,        /* maximum bytes of a line to the router */
    QN_MCP_DOWN_MAX = 4 * 1024 * 1024, /* maximum bytes of a line to quince-mcp */
    QN_MCP_TOOLS_MAX = 128,            /* maximum tools of one server */
    QN_MCP_TOOL_NAME_MAX = 128,        /* maximum bytes of a tool's name, and of its title */
    QN_MCP_DESCRIPTION_MAX = 4096,
    QN_MCP_SCHEMA_MAX = 32 * 1024,       /* maximum bytes of a tool's schema as compact JSON */
    QN_MCP_TOOLS_BYTES_MAX = 192 * 1024, /* maximum bytes of all tools of a server together */
    QN_MCP_RESULT_MAX = 128 * 1024,      /* maximum bytes of a result's text */
    QN_MCP_PIECE_MAX = 16 * 1024,        /* maximum bytes of a result's text in one line */
    QN_MCP_MESSAGE_TEXT_MAX = 500,       /* maximum bytes of an error message */
    QN_MCP_WORD_MAX = 128, /* maximum bytes of a server's name, version, and protocol revision */
    QN_MCP_CALLS_MAX = 32  /* maximum pending calls of one server */
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

/* A line to the router. The comments name the kinds that have each member; strings that a kind does
 * not have are "" after parsing. Strings are borrowed. */
struct qn_mcp_up {
    enum qn_mcp_up_kind kind;
    int64_t id;              /* TEXT, RESULT, FAILED; >= 1 */
    const char *name;        /* READY, TOOL */
    const char *version;     /* READY */
    const char *protocol;    /* READY */
    const char *title;       /* TOOL */
    const char *description; /* TOOL */
    const char *schema;      /* TOOL: a JSON object */
    int64_t left_out; /* LISTED: number of tools that were left out because they exceed a limit or
                         are invalid */
    const char *text; /* TEXT */
    bool error;       /* RESULT */
    const char *message; /* FAILED, UNLISTED, DOWN */
};

/* Appends the line, with its newline, to `out`. */
void qn_mcp_up_write(const struct qn_mcp_up *up, struct qn_buf *out);

/* Parses a line, without its newline. On success, the strings of *out point into *doc and *schema;
 * the caller frees *doc. schema: initialised by the caller; receives the schema of a tool. Returns
 * QN_ECHILD, with *doc NULL, if the line violates the format. */
qn_err qn_mcp_up_read(const char *line, size_t n, struct qn_mcp_up *out, struct qn_json **doc,
                      struct qn_buf *schema, struct qn_error *e);

/* Write and parse the line with the process id of the server's program, which is also its process
 * group id. */
void qn_mcp_program_write(int64_t pid, struct qn_buf *out);
bool qn_mcp_program_read(const char *line, size_t n, int64_t *pid); /* false: another line */

/* Each appends a line for quince-mcp, with its newline, to `out`. */
void qn_mcp_down_list(struct qn_buf *out);
void qn_mcp_down_call(int64_t id, const char *tool, const char *arguments, int64_t ms,
                      struct qn_buf *out);
void qn_mcp_down_cancel(int64_t id, struct qn_buf *out);

#endif
