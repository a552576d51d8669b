/* Shared by the files that write grammars of calls: calls_force.c writes the calls and what may
 * precede them, calls_force_args.c their arguments. */
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
    struct qn_buf last; /* rules to be appended at the end of the grammar */
    struct qn_constrain_rule *rules;
    size_t n, cap;
    size_t bytes;     /* size of the rules' texts */
    bool full;        /* a limit was exceeded, so rules or names are missing */
    bool any_objects; /* arguments may be any object, because the schemas could not be compiled */
    char unheld[128]; /* the part of a strict tool's schema that the syntax cannot guarantee; "":
                         none */
};

/* calls_force.c */
/* A formatted text in the arena; "" when the arena is full. */
const char *qn_writer_text(struct qn_writer *w, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Appends a space and an expression that matches exactly this text; nothing for NULL and "". */
void qn_writer_quote(struct qn_writer *w, struct qn_buf *out, const char *text);
/* Adds a rule of constrain.h and returns its name, borrowed from the arena. "" when the rules
 * exceed the limit; no more rules are then stored. */
const char *qn_writer_rule(struct qn_writer *w, enum qn_constrain_kind kind, const char *text);

/* calls_force_args.c */
/* Adds the rule for a tool's whole arguments as JSON and returns its name. */
const char *qn_writer_arguments(struct qn_writer *w, size_t tool);
/* Writes the rule a<tool>: the arguments as separate parameters. */
void qn_writer_parameters(struct qn_writer *w, size_t tool);

#endif
