/* What the endpoints that measure texts share: embeddings and reranking. */
#ifndef QN_DIALECTS_SHARED_MEASURE_H
#define QN_DIALECTS_SHARED_MEASURE_H

#include "dialects/dialect.h"

/* What came of the inputs, in r->own. */
struct qn_measured {
    size_t n;            /* inputs */
    const char **vector; /* EMBED: JSON arrays in the request's arena */
    double *score;       /* RERANK; NAN: it has not come */
    int64_t prompt;      /* tokens */
};

/* Makes the one job of a request, of this task, and reads model, keep_alive and ttl. */
qn_err qn_measure_job(struct qn_request *rq, enum qn_task task, const struct qn_jref *root,
                      struct qn_error *e);

void qn_measure_begin(struct qn_reply *r);
void qn_measure_free(void *own);
qn_err qn_measure_event(struct qn_reply *r, size_t job, const struct qn_event *ev,
                        struct qn_error *e);
/* "usage": all tokens are the prompt's. */
void qn_measure_usage(const struct qn_measured *m, struct qn_jw *w);
/* These replies are never streamed. */
void qn_measure_ping(struct qn_reply *r);

#endif
