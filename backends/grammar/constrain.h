/* Constrained decoding: restricts a generated sequence to texts that conform to a JSON Schema or a
 * grammar.
 *
 * A constraint is one automaton over bytes. It is compiled from a JSON Schema, from a GBNF grammar,
 * or from a grammar in which some rules are JSON Schemas (for tool calls: the model family's syntax
 * around arguments that follow a schema). A struct qn_constraint_state follows one sequence through
 * the automaton, token by token, and tells for every token of the vocabulary whether it may come
 * next. A constraint can begin at any position of a sequence, so text before that position
 * (reasoning) is unconstrained.
 *
 * A schema keyword that cannot be guaranteed is refused with QN_EUNSUPPORTED and its path in the
 * schema; annotations are ignored. The mask of allowed tokens is computed once for each position in
 * the automaton and cached. Compiled constraints are cached by their source, so that compiling the
 * same source again costs nothing. When several threads ask for the same source at once, the first
 * of them compiles and the other threads wait for the result.
 *
 * Any thread may compile constraints and take and release references. A struct qn_constraint_state
 * is used by the compute thread only. */
#ifndef QN_GRAMMAR_CONSTRAIN_H
#define QN_GRAMMAR_CONSTRAIN_H

#include "base/buf.h"
#include "base/error.h"
#include "contract/job.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    /* bytes of one source, all parts together */
    QN_CONSTRAIN_BYTES_MAX = QN_JOB_CONSTRAINT_BYTES_MAX,
    QN_CONSTRAIN_RULES_MAX = 65536,       /* rules of a grammar, including those of its schemas */
    QN_CONSTRAIN_STATES_MAX = 262144,     /* states of all terminals of one constraint */
    QN_CONSTRAIN_LIVE_BYTES = 512 << 20,  /* bytes of compiled constraints that requests hold; above
                                             this limit no further constraint is compiled */
    QN_CONSTRAIN_CACHE_BYTES = 128 << 20, /* bytes of cached constraints and masks of one model */
};

/* The vocabulary as the automaton sees it. */
struct qn_constrain_vocab {
    void *ctx;
    int32_t n; /* ids 0 to n - 1 */
    const char *(*token_bytes)(void *ctx, int32_t id,
                               size_t *len); /* bytes are borrowed while the vocabulary is used */
    bool (*token_is_control)(void *ctx, int32_t id);
    bool (*token_is_end)(void *ctx, int32_t id);
};

struct qn_constrainer; /* for one model: its vocabulary as a prefix tree, and the cache of compiled
                          constraints */
struct qn_constraint;  /* a compiled constraint; reference-counted */

/* Does no work until the first constraint is compiled. v->ctx must outlive the constrainer. */
struct qn_constrainer *qn_constrainer_new(const struct qn_constrain_vocab *v);
/* NULL allowed. Every constraint and state must have been released before. */
void qn_constrainer_free(struct qn_constrainer *c);
/* Whether another constraint may be compiled now. False when the constraints that requests hold
 * take more than QN_CONSTRAIN_LIVE_BYTES; wait until some of those requests have ended. Any
 * thread. */
bool qn_constrainer_has_room(struct qn_constrainer *c);

enum qn_constrain_kind {
    QN_RULE_SCHEMA, /* JSON that conforms to the schema in `text` */
    QN_RULE_UNTIL,  /* any text in which `text` does not occur; usually the grammar continues with
                       `text` after this rule */
    QN_RULE_BARE,   /* strings that a schema allows, written without quotes and escapes. text: a
                       JSON object with "schema", "until" (a marker that does not occur in the
                       strings, as for QN_RULE_UNTIL) and "others" (mask of QN_TYPE_...: the strings
                       must not be readable as a value of these types) */
};

struct qn_constrain_rule {
    const char *name; /* the name by which the grammar refers to the rule */
    enum qn_constrain_kind kind;
    const char *text;
};

/* The start symbol is "root". If `grammar` is NULL, there is exactly one rule, and it is the whole
 * grammar. In a grammar, <[12]> stands for token 12, and <name> for the token whose written form is
 * "<name>", brackets included. Control tokens can only be written in these two ways. */
struct qn_constrain_source {
    const char *grammar;
    const struct qn_constrain_rule *rules;
    size_t n_rules;
    const char *param; /* the parameter's name in error messages; NULL: "grammar", or "schema" when
                          there is no grammar */
};

/* Returns a reference to the constraint, compiled or from the cache. QN_EINVAL: malformed, or no
 * text satisfies the source; QN_EUNSUPPORTED: a keyword that cannot be guaranteed; QN_ELIMIT: too
 * large, or too much work to compile. */
qn_err qn_constraint_compile(struct qn_constrainer *c, const struct qn_constrain_source *s,
                             struct qn_constraint **out, struct qn_error *e);
/* The constraint that a job asks for; *out is NULL when the job has none. */
qn_err qn_constraint_of_job(struct qn_constrainer *c, const struct qn_constrain *job,
                            struct qn_constraint **out, struct qn_error *e);
void qn_constraint_ref(struct qn_constraint *c);
void qn_constraint_unref(struct qn_constraint *c); /* NULL allowed */

/* Appends to a grammar an expression that matches exactly this text. Plain text is quoted; written
 * forms of control tokens become those tokens. */
void qn_constrain_quote(struct qn_constrainer *c, const char *text, struct qn_buf *grammar);

/* A sequence's state within its constraint. All zero: no constraint has begun and every token is
 * allowed. */
struct qn_constraint_state {
    struct qn_constraint *constraint;
    struct qn_constraint_node *node;
    bool too_hard; /* computing the last mask exceeded a limit of work or of memory */
};

/* The constraint applies from the next token on. The state takes a reference of its own. */
void qn_constraint_begin(struct qn_constraint_state *s, struct qn_constraint *c);
/* Ends the constraint: every token is allowed from here on. */
void qn_constraint_end(struct qn_constraint_state *s);
/* Makes *to, which must be all zero or ended, a copy of *from. O(1). */
void qn_constraint_copy(struct qn_constraint_state *to, const struct qn_constraint_state *from);

/* Sets the logits [vocab] of all tokens that may not come next to -INFINITY. End tokens keep their
 * logits when the text may end here. Returns false when no token may come next
 * (qn_constraint_done), when no token of this vocabulary has the bytes that must come next, or when
 * a limit was met (s->too_hard is set and the logits are unchanged). */
bool qn_constraint_mask(struct qn_constraint_state *s, float *logits, int32_t vocab);
/* Whether the token may come next; end tokens are treated as in qn_constraint_mask. */
bool qn_constraint_allows(struct qn_constraint_state *s, int32_t id);
/* Advances the state by one token. Returns false and changes nothing when the token is not allowed.
 * End tokens do not change the state. */
bool qn_constraint_accept(struct qn_constraint_state *s, int32_t id);
/* Advances the state by bytes that belong to no sampled token, such as the text with which a
 * sequence begins. Otherwise as qn_constraint_accept. */
bool qn_constraint_accept_bytes(struct qn_constraint_state *s, const char *bytes, size_t n);
/* Whether the text may end here. */
bool qn_constraint_complete(const struct qn_constraint_state *s);
/* Whether the text must end here because nothing can follow. */
bool qn_constraint_done(const struct qn_constraint_state *s);

#endif
