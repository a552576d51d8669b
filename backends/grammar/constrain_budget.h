/* What compiling one constraint may cost. Costs are counted in steps, each a few nanoseconds of
 * work (a comparison, an edge of an automaton), so that the same source is compiled or refused on
 * every machine, however slow or busy it is. */
#ifndef QN_GRAMMAR_CONSTRAIN_BUDGET_H
#define QN_GRAMMAR_CONSTRAIN_BUDGET_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum { QN_CONSTRAIN_STEPS_MAX = 200 * 1000 * 1000 };

/* One compilation's; used by the thread that compiles. */
struct qn_constraint_budget {
    uint64_t left;
    bool over; /* more was asked for than was left: what was made since is incomplete */
};

static inline struct qn_constraint_budget qn_budget_new(void)
{
    return (struct qn_constraint_budget){.left = QN_CONSTRAIN_STEPS_MAX};
}

/* Takes `steps`; false when that is more than is left, and from then on. */
static inline bool qn_budget_take(struct qn_constraint_budget *b, uint64_t steps)
{
    if (b->over || steps > b->left) {
        b->over = true;
        return false;
    }
    b->left -= steps;
    return true;
}

/* QN_ELIMIT, with the limit. */
static inline qn_err qn_budget_fail(struct qn_error *e)
{
    return qn_fail(e, QN_ELIMIT,
                   "takes more than %d million steps to compile: make it smaller or simpler",
                   QN_CONSTRAIN_STEPS_MAX / 1000000);
}

#endif
