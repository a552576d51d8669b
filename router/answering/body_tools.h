/* The parts of an answer's parameters about tools: those that the request has brought, and the MCP
 * servers whose tools are offered. Pure. */
#ifndef QN_ANSWERING_BODY_TOOLS_H
#define QN_ANSWERING_BODY_TOOLS_H

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>

/* Whether parameters may name MCP servers, without parsing them. */
bool qn_answer_may_have_mcp(const char *params);

/* Checks the member "mcp": an array of ids. QN_EINVAL. */
qn_err qn_answer_mcp_check(const struct qn_jref *params, struct qn_error *e);

/* What the parameters say; own replaces defaults. Both are JSON objects. */
struct qn_answer_tools {
    struct qn_buf servers; /* ids, each followed by a blank */
    struct qn_buf names;   /* of the request's own tools, each followed by a line feed */
};
/* Initialises out, which the caller ends with _deinit. */
void qn_answer_tools_read(const char *own, const char *defaults, struct qn_answer_tools *out);
void qn_answer_tools_deinit(struct qn_answer_tools *t);
/* Whether the request has brought a tool of this name. */
bool qn_answer_tools_has(struct qn_answer_tools *t, const char *name);

/* Writes the member "tools": those of own, or else of defaults, then `more`, items separated by
 * commas. */
void qn_answer_tools_write(struct qn_jw *w, const struct qn_jref *own,
                           const struct qn_jref *defaults, const char *more);

#endif
