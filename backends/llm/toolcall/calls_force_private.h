/* What the files that write grammars of calls share: calls_force.c the calls and what may stand
 * around them, calls_force_args.c their arguments. */
#ifndef QN_LLM_TOOLCALL_CALLS_FORCE_PRIVATE_H
#define QN_LLM_TOOLCALL_CALLS_FORCE_PRIVATE_H

#include "base/arena.h"
#include "llm/toolcall/calls_force.h"
#include "llm/toolcall/calls_parse.h"

struct qn_writer {
    struct qn_constrainer *c;
    const struct qn_forcing *f;
    struct qn_writing w;
    struct qn_arena *arena;
    struct qn_buf g;    /* the grammar */
    struct qn_buf last; /* rules that follow the one being written */
    struct qn_constrain_rule *rules;
    size_t n, cap;
    size_t bytes;     /* of the rules' texts */
    bool full;        /* rules or names were left out: there are more than the limits allow */
    bool any_objects; /* arguments are any object: the schemas were too much */
    char unheld[128]; /* what the syntax cannot hold a strict tool to; "": nothing */
};

/* calls_force.c */
/* A text of the arena's; "" when there is no more room. */
const char *qn_writer_text(struct qn_writer *w, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Appends a space and the text as something that stands for exactly this; nothing for NULL and "".
 */
void qn_writer_quote(struct qn_writer *w, struct qn_buf *out, const char *text);
/* A rule of constrain.h; its name is lent by the arena. "": the rules are too many, no more of them
 * are kept. */
const char *qn_writer_rule(struct qn_writer *w, enum qn_constrain_kind kind, const char *text);

/* calls_force_args.c */
/* The name of the rule for a tool's whole arguments as JSON. */
const char *qn_writer_arguments(struct qn_writer *w, size_t tool);
/* Writes the rule a<tool>: the arguments one by one. */
void qn_writer_parameters(struct qn_writer *w, size_t tool);

#endif
