/* The tools of a request, in the form that parsing and forcing tool calls needs: the names and the
 * types of their parameters. Immutable once made. */
#ifndef QN_GRAMMAR_CALLS_TOOLS_H
#define QN_GRAMMAR_CALLS_TOOLS_H

#include "base/error.h"
#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>

/* Bit mask of the types that a parameter's schema allows. */
enum {
    QN_TYPE_STRING = 1,
    QN_TYPE_NUMBER = 2, /* integers included */
    QN_TYPE_BOOL = 4,
    QN_TYPE_NULL = 8,
    QN_TYPE_OBJECT = 16,
    QN_TYPE_ARRAY = 32,
    QN_TYPE_ANY = 63
};

struct qn_tools;

/* json: the array of job.h's chat.tools. Entries without a name are left out. QN_EINVAL when json
 * is not an array. */
qn_err qn_tools_new(const char *json, struct qn_tools **out, struct qn_error *e);
void qn_tools_free(struct qn_tools *t); /* NULL allowed */

size_t qn_tools_count(const struct qn_tools *t);
const char *qn_tools_name(const struct qn_tools *t, size_t i); /* lent */
/* The schema of the i-th tool's parameters; an absent reference when the tool has none. */
struct qn_jref qn_tools_parameters(const struct qn_tools *t, size_t i);
/* Whether the tool is marked "strict": true, which means that arguments must always conform to its
 * schema. */
bool qn_tools_strict(const struct qn_tools *t, size_t i);

/* The tool's index, or -1 when there is no tool of this name. t MAY be NULL. */
int qn_tools_find(const struct qn_tools *t, const char *name, size_t n);

/* The types that the schema allows for this parameter; QN_TYPE_ANY when the schema does not say. */
unsigned qn_tools_types(const struct qn_tools *t, const char *tool, const char *parameter);

/* The name of the i-th parameter in the schema's order; NULL when i is past the last one. */
const char *qn_tools_parameter(const struct qn_tools *t, const char *tool, size_t i);

#endif
