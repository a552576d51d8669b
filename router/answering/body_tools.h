/* Reads and writes the parameters of an answer that are about tools: the tools in the client's own
 * request, and the ids of the MCP servers whose tools are offered. Pure functions. */
#ifndef QN_ANSWERING_BODY_TOOLS_H
#define QN_ANSWERING_BODY_TOOLS_H

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>

/* Returns false if the parameters cannot have the member "mcp". Does not parse them, so true may be
 * wrong. */
bool qn_answer_may_have_mcp(const char *params);

/* Checks the member "mcp", which must be an array of ids. QN_EINVAL. */
qn_err qn_answer_mcp_check(const struct qn_jref *params, struct qn_error *e);

/* The tools and MCP servers that an answer's parameters name. */
struct qn_answer_tools {
    struct qn_buf servers; /* ids of the MCP servers, each followed by a blank */
    struct qn_buf names;   /* names of the client's own tools, each followed by a line feed */
};
/* Reads the parameters `own` of the answer and `defaults` of the chat, both JSON objects; a member
 * of `own` overrides that of `defaults`. Initialises *out, which the caller frees with
 * qn_answer_tools_deinit. */
void qn_answer_tools_read(const char *own, const char *defaults, struct qn_answer_tools *out);
void qn_answer_tools_deinit(struct qn_answer_tools *t);
/* Returns true if the client's request has a tool of this name, which the client runs itself. */
bool qn_answer_tools_has(struct qn_answer_tools *t, const char *name);

/* Writes the member "tools": the tools of `own` (or if it has no such member, of `defaults`),
 * followed by `more`, JSON items separated by commas. */
void qn_answer_tools_write(struct qn_jw *w, const struct qn_jref *own,
                           const struct qn_jref *defaults, const char *more);

#endif
