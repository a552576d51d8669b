/* A network and a vocabulary as struct qn_batch_model sees them: the one place where batching meets
 * nets/. Compute thread only. */
#ifndef QN_LLM_LM_H
#define QN_LLM_LM_H

#include "llm/model.h"
#include "nets/nets.h"
#include "text/tokenizer.h"

struct qn_lm {
    struct qn_weights *weights;     /* owned; NULL: none */
    struct qn_net *net;             /* owned; NULL: none */
    const struct qn_tokenizer *tok; /* lent */
    const bool *marks; /* [vocabulary] control tokens that are marks; lent; NULL: none */
};

void qn_lm_close(struct qn_lm *m);

/* max_chunk: as the net was loaded with. m is lent and outlives the model. */
struct qn_batch_model qn_lm_model(struct qn_lm *m, int max_chunk);

#endif
