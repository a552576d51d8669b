/* Deterministic automata over bytes: the terminals of a constraint's grammar.
 *
 * Every automaton is trimmed: an accepting state can be reached from each of its states, so a walk
 * never reaches a dead end. The empty language is one state that does not accept. */
#ifndef QN_GRAMMAR_CONSTRAIN_DFA_H
#define QN_GRAMMAR_CONSTRAIN_DFA_H

#include "base/buf.h"
#include "base/error.h"
#include "grammar/constrain_budget.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QN_DFA_DEAD UINT32_MAX

enum {
    QN_DFA_STATES_MAX = 65536,   /* states of one automaton */
    QN_DFA_KEYS_MAX = 64 << 20,  /* bytes of the states' keys while an automaton is built */
    QN_DFA_TABLE_MAX = 64 << 20, /* bytes of an automaton's transition table */
};

enum { QN_DFA_ACCEPT = 1, QN_DFA_BOUNDARY = 2 }; /* flags of a state */

struct qn_dfa {
    uint32_t n;       /* states; 0 is the start */
    uint32_t classes; /* classes of bytes: bytes that every state treats alike share a class */
    uint8_t of[256];  /* the class of each byte */
    uint32_t *next;   /* [n * classes]: states or QN_DFA_DEAD */
    uint8_t *flags;   /* [n] */
    /* For strings of limited length: in a state with the flag BOUNDARY, every byte begins a
     * character, except the closing quote, which leads to an accepting state. The string must have
     * min to max characters. max 0: characters are not counted. */
    uint32_t min, max;
};

static inline uint32_t qn_dfa_step(const struct qn_dfa *d, uint32_t s, uint8_t byte)
{
    return d->next[(size_t)s * d->classes + d->of[byte]];
}

void qn_dfa_deinit(struct qn_dfa *d);
bool qn_dfa_is_empty(const struct qn_dfa *d); /* accepts no text */
/* at least one byte may follow state s */
bool qn_dfa_continues(const struct qn_dfa *d, uint32_t s);
/* Ignores min and max. */
bool qn_dfa_accepts(const struct qn_dfa *d, const char *s, size_t n);
/* Memory that the automaton owns, in bytes. */
size_t qn_dfa_bytes(const struct qn_dfa *d);

/* Describes an automaton to be built. Its states are identified by byte strings (keys) whose
 * content the caller defines. */
struct qn_dfa_plan {
    void *ctx;
    uint32_t classes; /* number of byte classes */
    uint8_t of[256];
    /* Writes to `to` (empty at the call) the key of the state that follows `from` after a byte of
     * this class. Returns false when there is no such state. */
    bool (*step)(void *ctx, const void *from, size_t n, uint8_t byte, struct qn_buf *to);
    uint8_t (*flags)(void *ctx, const void *state, size_t n);
    struct qn_constraint_budget *budget; /* borrowed */
};
/* QN_ELIMIT when the automaton has too many states or the budget is used up (the message says
 * which). */
qn_err qn_dfa_build(struct qn_dfa_plan *plan, const void *start, size_t n, struct qn_dfa *out,
                    struct qn_error *e);

/* Intersection: texts that both accept. Difference (subtract): texts that a accepts and b does
 * not. */
qn_err qn_dfa_intersect(const struct qn_dfa *a, const struct qn_dfa *b,
                        struct qn_constraint_budget *budget, struct qn_dfa *out,
                        struct qn_error *e);
qn_err qn_dfa_subtract(const struct qn_dfa *a, const struct qn_dfa *b,
                       struct qn_constraint_budget *budget, struct qn_dfa *out, struct qn_error *e);
/* Whether any text is accepted by both. Also true when deciding this exceeds the budget. */
bool qn_dfa_overlap(const struct qn_dfa *a, const struct qn_dfa *b,
                    struct qn_constraint_budget *budget);

#endif
