/* Converts parts of an MCP server's messages to what the router receives. Pure functions. */
#ifndef QN_MCP_RESULTS_H
#define QN_MCP_RESULTS_H

#include "base/buf.h"
#include "base/json.h"
#include "contract/mcp_wire.h"

/* Appends the text of a tools/call result: the text of its text blocks, and for each other block a
 * line that says what was left out. If there is no text block, also appends structuredContent, if
 * it is an object. The output is UTF-8, at most QN_MCP_RESULT_MAX bytes, without control characters
 * except line feeds and tabs; a note at the end says if it was cut. Returns the member isError. */
bool qn_result_text(const struct qn_jref *result, struct qn_buf *out);

/* The number and the total bytes of the tools that have been read from a list. */
struct qn_tool_count {
    size_t n, bytes;
    int64_t left_out;
};

/* Reads one tool of a list into *up. Returns false, and counts the tool as left out, if it is
 * invalid or exceeds a limit. Strings in *up point into `tool`, `schema` and `description`; the
 * caller initialises these two buffers. */
bool qn_result_tool(const struct qn_jref *tool, struct qn_tool_count *count, struct qn_mcp_up *up,
                    struct qn_buf *schema, struct qn_buf *description);

/* Appends at most `max` bytes of `text`, without control characters except line feeds and tabs.
 * Returns false if the text was cut. */
bool qn_result_clean(const char *text, size_t max, struct qn_buf *out);

#endif
