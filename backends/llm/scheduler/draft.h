/* The draft model: a smaller network with the same vocabulary that guesses the large network's next
 * tokens. Each answer has a sequence in the draft model, which follows the answer's tokens; the
 * guesses are the draft model's likeliest tokens, one after another, computed for all answers
 * together. The draft model has a cache of its own; if that is full, or an answer's tokens are not
 * in it yet, there are fewer guesses or none. Compute thread only. */
#ifndef QN_LLM_SCHEDULER_DRAFT_H
#define QN_LLM_SCHEDULER_DRAFT_H

#include "llm/model.h"
#include "llm/scheduler/speculate.h"

enum {
    /* text tokens the draft model computes in one step, for all answers together */
    QN_DRAFT_READ = 128,
    QN_DRAFT_SEQS = 32 /* answers with guesses in one step */
};

struct qn_draft;
struct qn_draft_seq; /* an answer's sequence in the draft model */

/* ids: number of tokens that both models know; context: tokens of each sequence. QN_ENOMEM. */
qn_err qn_draft_new(const struct qn_batch_model *model, int32_t ids, int32_t context,
                    struct qn_draft **out, struct qn_error *e);
void qn_draft_free(struct qn_draft *d); /* NULL allowed; its sequences must be freed first */

struct qn_draft_want {
    struct qn_draft_seq **seq; /* the answer's pointer, *seq NULL until the first guess */
    const int32_t *tokens;     /* [known]: all tokens of the answer */
    int32_t known, max;
    int32_t *out; /* [max] */
    int32_t got;  /* out: number of guesses */
};
/* Makes guesses for wants [n], n at most QN_DRAFT_SEQS. */
void qn_draft_guess(struct qn_draft *d, struct qn_draft_want *wants, size_t n);
void qn_draft_seq_free(struct qn_draft *d, struct qn_draft_seq *s); /* NULL allowed */

/* The measured cost of one guess in milliseconds; 0: unknown. */
double qn_draft_token_ms(const struct qn_draft *d);

#endif
