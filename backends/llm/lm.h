/* Presents a network and its vocabulary as a struct qn_batch_model; the only file that joins the
 * scheduler and nets/. Compute thread only. */
#ifndef QN_LLM_LM_H
#define QN_LLM_LM_H

#include "llm/model.h"
#include "nets/nets.h"
#include "text/tokenizer.h"

struct qn_lm {
    struct qn_weights *weights;     /* owned; NULL if not loaded */
    struct qn_net *net;             /* owned; NULL if not loaded */
    const struct qn_tokenizer *tok; /* borrowed */
    /* [vocabulary] true for control tokens that are marks (qn_syntax_marks); borrowed; NULL: none
     */
    const bool *marks;
};

void qn_lm_close(struct qn_lm *m);

/* max_chunk: the value that the network was loaded with. m is borrowed and must outlive the
 * returned model. */
struct qn_batch_model qn_lm_model(struct qn_lm *m, int max_chunk);

#endif
