/* Parts of an MCP server's messages as the router gets them. Pure. */
#ifndef QN_MCP_RESULTS_H
#define QN_MCP_RESULTS_H

#include "base/buf.h"
#include "base/json.h"
#include "contract/mcp_wire.h"

/* Appends the text of a result (tools/call): its text blocks, one line for each other block that
 * says what was left out, or structuredContent if there is no text block. At most
 * QN_MCP_RESULT_MAX bytes, UTF-8 without control characters but line feeds and tabs; a result that
 * was cut says so at its end. Returns isError. */
bool qn_result_text(const struct qn_jref *result, struct qn_buf *out);

/* How many tools, and how many bytes of them, have been taken of a list. */
struct qn_tool_count {
    size_t n, bytes;
    int64_t left_out;
};

/* Reads one tool of a list. False: it is invalid or exceeds a limit, and is left out. Strings of
 * *up are lent by the tool and by schema, an initialised buffer. description: initialised, used if
 * the description is cut. */
bool qn_result_tool(const struct qn_jref *tool, struct qn_tool_count *count, struct qn_mcp_up *up,
                    struct qn_buf *schema, struct qn_buf *description);

/* Appends at most max bytes of text without control characters but line feeds and tabs. False: it
 * was cut. */
bool qn_result_clean(const char *text, size_t max, struct qn_buf *out);

#endif
