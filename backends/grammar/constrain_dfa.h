/* Deterministic automata over bytes: the terminals of a constraint's grammar.
 *
 * Every automaton is trimmed: from each of its states an accepting one can be reached, so a
 * walk never comes to a dead end. The empty language is one state that does not accept. */
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
    QN_DFA_STATES_MAX = 65536,   /* of one automaton */
    QN_DFA_KEYS_MAX = 64 << 20,  /* bytes of what its states stand for while it is built */
    QN_DFA_TABLE_MAX = 64 << 20, /* bytes of its transitions */
};

enum { QN_DFA_ACCEPT = 1, QN_DFA_BOUNDARY = 2 }; /* flags of a state */

struct qn_dfa {
    uint32_t n;       /* states; 0 is the start */
    uint32_t classes; /* of bytes that no state tells apart */
    uint8_t of[256];  /* a byte's class */
    uint32_t *next;   /* [n * classes]: states or QN_DFA_DEAD */
    uint8_t *flags;   /* [n] */
    /* Counted text: each byte but the last that leaves a BOUNDARY state begins one more character,
     * of which there must be min to max when the text is accepted. max 0: nothing is counted. */
    uint32_t min, max;
};

static inline uint32_t qn_dfa_step(const struct qn_dfa *d, uint32_t s, uint8_t byte)
{
    return d->next[(size_t)s * d->classes + d->of[byte]];
}

void qn_dfa_deinit(struct qn_dfa *d);
bool qn_dfa_is_empty(const struct qn_dfa *d);              /* accepts nothing */
bool qn_dfa_continues(const struct qn_dfa *d, uint32_t s); /* some byte may follow */
/* Counts are not looked at. */
bool qn_dfa_accepts(const struct qn_dfa *d, const char *s, size_t n);
/* The automaton's own memory. */
size_t qn_dfa_bytes(const struct qn_dfa *d);

/* How an automaton is described to be built: its states are byte strings of the maker's own. */
struct qn_dfa_plan {
    void *ctx;
    uint32_t classes; /* of bytes */
    uint8_t of[256];
    /* Writes the state after `from` and a byte of this class to `to` (which is empty); false: dead.
     */
    bool (*step)(void *ctx, const void *from, size_t n, uint8_t byte, struct qn_buf *to);
    uint8_t (*flags)(void *ctx, const void *state, size_t n);
    struct qn_constraint_budget *budget; /* lent */
};
/* QN_ELIMIT when it has too many states or the budget is used up (the message says which). */
qn_err qn_dfa_build(struct qn_dfa_plan *plan, const void *start, size_t n, struct qn_dfa *out,
                    struct qn_error *e);

/* Texts that both accept; that a accepts and b does not. */
qn_err qn_dfa_intersect(const struct qn_dfa *a, const struct qn_dfa *b,
                        struct qn_constraint_budget *budget, struct qn_dfa *out,
                        struct qn_error *e);
qn_err qn_dfa_subtract(const struct qn_dfa *a, const struct qn_dfa *b,
                       struct qn_constraint_budget *budget, struct qn_dfa *out, struct qn_error *e);
/* Whether any text is accepted by both; true as well when that is too much work to find out. */
bool qn_dfa_overlap(const struct qn_dfa *a, const struct qn_dfa *b,
                    struct qn_constraint_budget *budget);

#endif
