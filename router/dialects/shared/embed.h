/* Shared by the endpoints that compute numbers from texts: embeddings and reranking.
 *
 * Texts are not copied out of the request: its job refers to the JSON array that has them. Vectors
 * are written when they arrive; a reply for more than QN_EMBED_WHOLE_INPUTS is streamed, so it is
 * never in memory as a whole. A failure before the first vector gets its true status; after that
 * the connection is closed, because a JSON reply that has begun cannot report an error. */
#ifndef QN_DIALECTS_SHARED_EMBED_H
#define QN_DIALECTS_SHARED_EMBED_H

#include "dialects/dialect.h"

enum { QN_EMBED_WHOLE_INPUTS = 64 };

/* A reply that is being written, in r->own. */
struct qn_embed_reply {
    size_t n;          /* number of inputs */
    size_t told;       /* inputs whose result has been received */
    size_t dims;       /* elements of each vector; 0: no vector received yet */
    float *score;      /* RERANK: scores of the first `told` inputs */
    int64_t prompt;    /* prompt tokens */
    struct qn_jw w;    /* writes to r->out, from the first byte to the last */
    bool begun;        /* bytes have been written */
    struct qn_buf b64; /* base64 of one vector */
};

/* Creates the request's only job, with this task, and reads model, keep_alive and ttl. */
qn_err qn_embed_job(struct qn_request *rq, enum qn_task task, const struct qn_jref *root,
                    struct qn_error *e);

/* Sets the job's inputs: the items of v or, if `one`, v itself. QN_EINVAL: no input, or more than
 * QN_JOB_INPUTS_MAX. The caller has checked their forms. */
qn_err qn_embed_inputs(struct qn_request *rq, const struct qn_jref *v, bool one,
                       struct qn_error *e);
/* Reads the text of an input: at most QN_JOB_PROMPT_BYTES_MAX bytes. */
qn_err qn_embed_text(const struct qn_jref *v, const char **out, struct qn_error *e);

void qn_embed_begin(struct qn_reply *r);
void qn_embed_free(void *own);
/* Checks an event: results must be for the next inputs, all vectors of the same length, and
 * complete when the job ends (else QN_ECHILD). Scores are stored; the caller writes vectors. */
qn_err qn_embed_event(struct qn_reply *r, size_t job, const struct qn_event *ev,
                      struct qn_error *e);
/* Writes the event's vector with index i, as numbers or as base64 of its bytes. */
void qn_embed_vector(struct qn_embed_reply *m, const struct qn_event *ev, size_t i, bool base64);
/* Writes "usage"; all tokens are prompt tokens. */
void qn_embed_usage(const struct qn_embed_reply *m, struct qn_jw *w);
/* Writes the endpoint's error, or closes the connection. */
void qn_embed_fail(struct qn_reply *r, const struct qn_problem *p);
/* Writes nothing: white space before the reply would cause its head to be sent. */
void qn_embed_ping(struct qn_reply *r);

#endif
