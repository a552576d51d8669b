/* The draft model: a smaller network with the same vocabulary that guesses what the large one will
 * say. Its sequences follow the answers' tokens; guesses are its likeliest tokens, one after
 * another, for all answers at once. It has its own cache; where that is full, or an answer's text
 * has not been read yet, it guesses less or nothing. Compute thread only. */
#ifndef QN_LLM_SCHEDULER_DRAFT_H
#define QN_LLM_SCHEDULER_DRAFT_H

#include "llm/model.h"
#include "llm/scheduler/speculate.h"

enum {
    QN_DRAFT_READ = 128, /* tokens of text it reads in one step, for all answers together */
    QN_DRAFT_SEQS = 32   /* answers it guesses for in one step */
};

struct qn_draft;
struct qn_draft_seq; /* what it has read of one answer */

/* ids: tokens that both models know; context: of each of its sequences. QN_ENOMEM. */
qn_err qn_draft_new(const struct qn_batch_model *model, int32_t ids, int32_t context,
                    struct qn_draft **out, struct qn_error *e);
void qn_draft_free(struct qn_draft *d); /* NULL allowed; its sequences must be freed before */

struct qn_draft_want {
    struct qn_draft_seq **seq; /* the answer's, NULL inside until the first guess */
    const int32_t *tokens;     /* [known]: all there is of the answer */
    int32_t known, max;
    int32_t *out; /* [max] */
    int32_t got;  /* out: how many guesses */
};
/* At most QN_DRAFT_SEQS wants. */
void qn_draft_guess(struct qn_draft *d, struct qn_draft_want *wants, size_t n);
void qn_draft_seq_free(struct qn_draft *d, struct qn_draft_seq *s); /* NULL allowed */

/* What one guess costs, in milliseconds, as measured; 0: unknown. */
double qn_draft_token_ms(const struct qn_draft *d);

#endif
