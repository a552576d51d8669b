/* The tree-walking interpreter: expressions yield values (eval.c, call.c, member.c), statements
 * append to the output (exec.c, loop.c, macro.c). */
#ifndef QN_JINJA_EVAL_H
#define QN_JINJA_EVAL_H

#include "jinja/ast.h"
#include "jinja/run.h"

enum qn_tflow qn_teval(struct qn_trun *run, const struct qn_tnode *node, struct qn_tval *out);

/* object.name and object[key]. A member that does not exist, or that the sandbox hides, is an
 * undefined value. */
enum qn_tflow qn_tmember_get(struct qn_trun *run, const struct qn_tval *object,
                             const struct qn_tval *name, struct qn_tval *out);
enum qn_tflow qn_titem_get(struct qn_trun *run, const struct qn_tval *object,
                           const struct qn_tval *key, struct qn_tval *out);
/* object[start:stop:step]; omitted parts are QN_T_NONE. */
enum qn_tflow qn_tslice_get(struct qn_trun *run, const struct qn_tval *object,
                            const struct qn_tval part[3], struct qn_tval *out);

/* Evaluates the arguments of a call, filter or test. */
enum qn_tflow qn_teval_arguments(struct qn_trun *run, const struct qn_tnodes *nodes,
                                 struct qn_targs *out);
/* Evaluates a call expression; caller: the macro of a call block, or NULL. */
enum qn_tflow qn_teval_call(struct qn_trun *run, const struct qn_tnode *node,
                            const struct qn_tval *caller, struct qn_tval *out);
enum qn_tflow qn_tval_call(struct qn_trun *run, const struct qn_tval *callee,
                           const struct qn_targs *args, struct qn_tval *out);
enum qn_tflow qn_teval_filter(struct qn_trun *run, const struct qn_tnode *node,
                              const struct qn_tval *operand, struct qn_tval *out);

/* The slot of a name's variable. */
struct qn_tval *qn_tname_slot(struct qn_trun *run, const struct qn_tnode *name);
/* Assigns a value to a name, a tuple of names or a member of a namespace. */
enum qn_tflow qn_tassign(struct qn_trun *run, const struct qn_tnode *target,
                         const struct qn_tval *v);

/* Executes statements in order. */
enum qn_tflow qn_texec(struct qn_trun *run, const struct qn_tnodes *nodes);
enum qn_tflow qn_texec_for(struct qn_trun *run, const struct qn_tnode *node);
enum qn_tflow qn_texec_macro(struct qn_trun *run, const struct qn_tnode *node);
enum qn_tflow qn_texec_call_block(struct qn_trun *run, const struct qn_tnode *node);

void qn_tscope_enter(struct qn_trun *run, const struct qn_tscope *scope);
void qn_tscope_leave(struct qn_trun *run, const struct qn_tscope *scope);
/* Makes a frame for a body that was defined in the frame `outer`. */
enum qn_tflow qn_tframe_new(struct qn_trun *run, const struct qn_tbody *body,
                            struct qn_tframe *outer, struct qn_tframe **out);

#endif
