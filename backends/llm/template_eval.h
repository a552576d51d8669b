/* Walking the tree: expressions give values (template_eval.c, template_ops.c, template_call.c),
 * statements append to the output (template_exec.c). */
#ifndef QN_LLM_TEMPLATE_EVAL_H
#define QN_LLM_TEMPLATE_EVAL_H

#include "llm/template_ast.h"
#include "llm/template_run.h"

/* The value may be QN_T_ABSENT; qn_teval_value fails there. */
enum qn_tflow qn_teval(struct qn_trun *run, const struct qn_tnode *node, struct qn_tval *out);
enum qn_tflow qn_teval_value(struct qn_trun *run, const struct qn_tnode *node, struct qn_tval *out);

/* a op b, once both are known. */
enum qn_tflow qn_teval_operator(struct qn_trun *run, enum qn_top op, const struct qn_tval *a,
                                const struct qn_tval *b, struct qn_tval *out);

/* object[key] and object.key; a member that does not exist is undefined. */
enum qn_tflow qn_teval_member(struct qn_trun *run, const struct qn_tval *object,
                              const struct qn_tval *key, struct qn_tval *out);

/* Evaluates arguments: positional ones, then the named ones as one value. */
enum qn_tflow qn_teval_arguments(struct qn_trun *run, const struct qn_tnodes *kids,
                                 struct qn_targs *out);
enum qn_tflow qn_teval_call(struct qn_trun *run, const struct qn_tnode *node, struct qn_tval *out);
/* Calls the macro of a call block, which sees the block's body as `caller`. */
enum qn_tflow qn_teval_call_block(struct qn_trun *run, const struct qn_tnode *block,
                                  struct qn_tval *out);
/* Calls a macro or the body of a call block: node has params and kids. */
enum qn_tflow qn_teval_macro(struct qn_trun *run, const struct qn_tfunc *fn,
                             const struct qn_targs *args, struct qn_tval *out);

/* Runs statements one after the other. */
enum qn_tflow qn_texec(struct qn_trun *run, const struct qn_tnodes *body);

#endif
