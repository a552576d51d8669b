/* Limits the work of compiling one constraint. Work is counted in steps of a few nanoseconds each
 * (a comparison, an edge of an automaton) and not in time, so that the same source is accepted or
 * refused on every machine regardless of its speed and load. */
#ifndef QN_GRAMMAR_CONSTRAIN_BUDGET_H
#define QN_GRAMMAR_CONSTRAIN_BUDGET_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum { QN_CONSTRAIN_STEPS_MAX = 200 * 1000 * 1000 };

/* The budget of one compilation; used only by the thread that compiles. */
struct qn_constraint_budget {
    uint64_t left;
    bool over; /* more steps were requested than were left; everything made since then is
                  incomplete */
};

static inline struct qn_constraint_budget qn_budget_new(void)
{
    return (struct qn_constraint_budget){.left = QN_CONSTRAIN_STEPS_MAX};
}

/* Takes `steps`. Returns false when fewer are left, and for every later call. */
static inline bool qn_budget_take(struct qn_constraint_budget *b, uint64_t steps)
{
    if (b->over || steps > b->left) {
        b->over = true;
        return false;
    }
    b->left -= steps;
    return true;
}

/* Returns QN_ELIMIT with a message that names the limit. */
static inline qn_err qn_budget_fail(struct qn_error *e)
{
    return qn_fail(e, QN_ELIMIT,
                   "takes more than %d million steps to compile: make it smaller or simpler",
                   QN_CONSTRAIN_STEPS_MAX / 1000000);
}

#endif
