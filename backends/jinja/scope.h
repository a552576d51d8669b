/* Resolves names to variables when a template is compiled, by jinja2's rules: a name that a scope
 * sets belongs to the scope from its beginning, and its initial value is that of the variable of
 * the same name in the enclosing scope. */
#ifndef QN_JINJA_SCOPE_H
#define QN_JINJA_SCOPE_H

#include "base/error.h"
#include "jinja/compiled.h"

/* Gives every name its slot, every scope its initialisations, and every filter and test its
 * function. QN_EFORMAT for templates that jinja2 refuses to compile. */
qn_err qn_tscope_resolve(struct qn_template *t, struct qn_error *e);

/* Calls visit for each child of a node, in the order in which jinja2 visits them, until visit
 * returns false. Names that a statement sets itself (macros, imports) are not children. */
typedef bool (*qn_tvisit)(void *ctx, struct qn_tnode *node);
bool qn_tnode_children(const struct qn_tnode *node, qn_tvisit visit, void *ctx);

#endif
