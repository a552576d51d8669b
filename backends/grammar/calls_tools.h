/* The tools of a request, as those who read and force calls need them: names and the types of their
 * parameters. Immutable once made. */
#ifndef QN_GRAMMAR_CALLS_TOOLS_H
#define QN_GRAMMAR_CALLS_TOOLS_H

#include "base/error.h"
#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>

/* Types that a parameter's schema allows, a mask. */
enum {
    QN_TYPE_STRING = 1,
    QN_TYPE_NUMBER = 2, /* integers, too */
    QN_TYPE_BOOL = 4,
    QN_TYPE_NULL = 8,
    QN_TYPE_OBJECT = 16,
    QN_TYPE_ARRAY = 32,
    QN_TYPE_ANY = 63
};

struct qn_tools;

/* json: the array of job.h's chat.tools. Entries without a name are left out. QN_EINVAL when it is
 * no array. */
qn_err qn_tools_new(const char *json, struct qn_tools **out, struct qn_error *e);
void qn_tools_free(struct qn_tools *t); /* NULL allowed */

size_t qn_tools_count(const struct qn_tools *t);
const char *qn_tools_name(const struct qn_tools *t, size_t i); /* lent */
/* The schema of the i-th tool's parameters: absent when it has none. */
struct qn_jref qn_tools_parameters(const struct qn_tools *t, size_t i);
/* The tool asks for arguments that always conform ("strict": true). */
bool qn_tools_strict(const struct qn_tools *t, size_t i);

/* Its number, -1: there is none. t MAY be NULL. */
int qn_tools_find(const struct qn_tools *t, const char *name, size_t n);

/* What the schema allows of that parameter: QN_TYPE_ANY when nothing is said. */
unsigned qn_tools_types(const struct qn_tools *t, const char *tool, const char *parameter);

/* The name of the i-th parameter in the schema's order; NULL: none. */
const char *qn_tools_parameter(const struct qn_tools *t, const char *tool, size_t i);

#endif
