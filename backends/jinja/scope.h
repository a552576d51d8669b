/* Which variable each name means, found when a template is compiled, by jinja2's rules: a name that
 * a scope sets is the scope's own from its start on, and begins as what it covers. */
#ifndef QN_JINJA_SCOPE_H
#define QN_JINJA_SCOPE_H

#include "base/error.h"
#include "jinja/compiled.h"

/* Gives every name its place, every scope its loads, and every filter and test its function.
 * QN_EFORMAT for what jinja2 refuses to compile. */
qn_err qn_tscope_resolve(struct qn_template *t, struct qn_error *e);

/* Calls visit for each child of a node, in the order in which jinja2 looks at them; stops when it
 * answers false. Names that a statement sets by itself (of macros, imports) are not children. */
typedef bool (*qn_tvisit)(void *ctx, struct qn_tnode *node);
bool qn_tnode_children(const struct qn_tnode *node, qn_tvisit visit, void *ctx);

#endif
