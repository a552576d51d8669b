/* Constrained decoding: an answer's text that cannot leave a JSON Schema or a grammar.
 *
 * A constraint is one automaton over bytes, compiled from a JSON Schema, a GBNF grammar, or a
 * grammar whose rules are schemas (a tool call in some family's syntax around JSON arguments). A
 * state of it follows one answer token by token and says for every token of the vocabulary whether
 * it may come next. It can begin at any moment of an answer, so text before it (reasoning) is free.
 *
 * Whatever a schema asks for that cannot be guaranteed is refused with QN_EUNSUPPORTED and the
 * place in the schema; annotations are ignored. Masks are computed once per state of the automaton
 * and kept; compiled constraints are kept by their source, so that a source that comes again costs
 * nothing, and one that several threads ask for at once is compiled by the first of them.
 *
 * Any thread may compile, and take and give back references; states are the compute thread's. */
#ifndef QN_GRAMMAR_CONSTRAIN_H
#define QN_GRAMMAR_CONSTRAIN_H

#include "base/buf.h"
#include "base/error.h"
#include "contract/job.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    QN_CONSTRAIN_BYTES_MAX = QN_JOB_CONSTRAINT_BYTES_MAX, /* of one source, all parts together */
    QN_CONSTRAIN_RULES_MAX = 65536,       /* rules of a grammar, those of its schemas included */
    QN_CONSTRAIN_STATES_MAX = 262144,     /* states of all terminals of one constraint */
    QN_CONSTRAIN_LIVE_BYTES = 512 << 20,  /* compiled constraints of all requests at hand, beyond
                                             which none is compiled more */
    QN_CONSTRAIN_CACHE_BYTES = 128 << 20, /* compiled constraints and masks of one model */
};

/* Tokens as the automaton sees them. */
struct qn_constrain_vocab {
    void *ctx;
    int32_t n; /* ids 0 to n - 1 */
    const char *(*token_bytes)(void *ctx, int32_t id,
                               size_t *len); /* lent while the vocabulary is used */
    bool (*token_is_control)(void *ctx, int32_t id);
    bool (*token_is_end)(void *ctx, int32_t id);
};

struct qn_constrainer; /* of one model: its vocabulary as a prefix tree, what was compiled */
struct qn_constraint;  /* compiled; counted references */

/* Costs nothing until the first constraint is compiled. v->ctx must outlive it. */
struct qn_constrainer *qn_constrainer_new(const struct qn_constrain_vocab *v);
/* NULL allowed. Every constraint and state must have been given back before. */
void qn_constrainer_free(struct qn_constrainer *c);
/* Whether one more may be compiled. False: those that requests hold are more than
 * QN_CONSTRAIN_LIVE_BYTES, so wait until some of them are done. Any thread. */
bool qn_constrainer_has_room(struct qn_constrainer *c);

enum qn_constrain_kind {
    QN_RULE_SCHEMA, /* JSON that the schema in `text` allows */
    QN_RULE_UNTIL,  /* any text in which `text` does not occur; what follows it in the grammar
                       begins with `text` as a rule */
    QN_RULE_BARE,   /* strings that a schema allows, without quotes and escapes. text: a JSON
                       object of "schema", "until" (does not occur in them, as above) and "others":
                       types (QN_TYPE_...) as which they cannot be read */
};

struct qn_constrain_rule {
    const char *name; /* as the grammar refers to it */
    enum qn_constrain_kind kind;
    const char *text;
};

/* The start symbol is "root". grammar NULL: the one rule is the whole. In a grammar <[12]> is the
 * token 12, and <name> the token that is written like this, brackets included; control tokens can
 * come in no other way. */
struct qn_constrain_source {
    const char *grammar;
    const struct qn_constrain_rule *rules;
    size_t n_rules;
    const char *param; /* what errors call it, NULL: "grammar", or "schema" without a grammar */
};

/* A reference to the constraint, new or kept from before. QN_EINVAL (malformed, or no text can
 * satisfy it), QN_EUNSUPPORTED (see above), QN_ELIMIT. */
qn_err qn_constraint_compile(struct qn_constrainer *c, const struct qn_constrain_source *s,
                             struct qn_constraint **out, struct qn_error *e);
/* A job's own constraint; *out NULL when it has none. */
qn_err qn_constraint_of_job(struct qn_constrainer *c, const struct qn_constrain *job,
                            struct qn_constraint **out, struct qn_error *e);
void qn_constraint_ref(struct qn_constraint *c);
void qn_constraint_unref(struct qn_constraint *c); /* NULL allowed */

/* Appends text to a grammar as something that stands for exactly this text: quoted, and with the
 * written forms of control tokens as those tokens. */
void qn_constrain_quote(struct qn_constrainer *c, const char *text, struct qn_buf *grammar);

/* Where an answer is in its constraint. All zero: not begun, everything is allowed. */
struct qn_constraint_state {
    struct qn_constraint *constraint;
    struct qn_constraint_node *node;
    bool too_hard; /* the last mask was more work, or more memory, than the limits allow */
};

/* From here on the constraint holds. The state takes a reference of its own. */
void qn_constraint_begin(struct qn_constraint_state *s, struct qn_constraint *c);
/* From here on everything is allowed again. */
void qn_constraint_end(struct qn_constraint_state *s);
/* *to, which is all zero or ended, becomes a state at the same place. O(1). */
void qn_constraint_copy(struct qn_constraint_state *to, const struct qn_constraint_state *from);

/* Sets the logits [vocab] of all tokens that may not come next to -INFINITY. End tokens stay where
 * the text may end. False when nothing may come next (qn_constraint_done), or when what must come
 * has no token in this vocabulary, or when a limit was met (s->too_hard; the logits are as they
 * were). */
bool qn_constraint_mask(struct qn_constraint_state *s, float *logits, int32_t vocab);
/* Whether the token may come next; end tokens as in qn_constraint_mask. */
bool qn_constraint_allows(struct qn_constraint_state *s, int32_t id);
/* The token has come. False, and nothing has changed, when it was not allowed. End tokens change
 * nothing. */
bool qn_constraint_accept(struct qn_constraint_state *s, int32_t id);
/* The same for bytes that are no token's (what an answer begins with). */
bool qn_constraint_accept_bytes(struct qn_constraint_state *s, const char *bytes, size_t n);
/* The text may end here. */
bool qn_constraint_complete(const struct qn_constraint_state *s);
/* The text must end here: nothing can follow. */
bool qn_constraint_done(const struct qn_constraint_state *s);

#endif
