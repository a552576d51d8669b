/* What the endpoints that turn texts into numbers share: embeddings and reranking.
 *
 * Texts are not copied out of the request: its job names the JSON array they are in. Vectors are
 * written when they arrive; a reply for more than QN_EMBED_WHOLE_INPUTS is streamed, so it is
 * never held whole. Until its first vector a failure has its true status; after that the connection
 * is broken off, since JSON that has begun cannot say that it failed. */
#ifndef QN_DIALECTS_SHARED_EMBED_H
#define QN_DIALECTS_SHARED_EMBED_H

#include "dialects/dialect.h"

enum { QN_EMBED_WHOLE_INPUTS = 64 };

/* A reply in the making, in r->own. */
struct qn_embed_reply {
    size_t n;          /* inputs */
    size_t told;       /* of them, that have their result */
    size_t dims;       /* numbers of each vector; 0: none has come */
    float *score;      /* RERANK: told of them */
    int64_t prompt;    /* tokens */
    struct qn_jw w;    /* into r->out, from the first byte to the last */
    bool begun;        /* something has been written */
    struct qn_buf b64; /* of one vector */
};

/* Makes the one job of a request, of this task, and reads model, keep_alive and ttl. */
qn_err qn_embed_job(struct qn_request *rq, enum qn_task task, const struct qn_jref *root,
                    struct qn_error *e);

/* The job's inputs are the items of v, or v itself (one); n of them. QN_EINVAL: none, or more than
 * QN_JOB_INPUTS_MAX. The caller has checked their forms. */
qn_err qn_embed_inputs(struct qn_request *rq, const struct qn_jref *v, bool one,
                       struct qn_error *e);
/* A text of an input: at most QN_JOB_PROMPT_BYTES_MAX bytes. */
qn_err qn_embed_text(const struct qn_jref *v, const char **out, struct qn_error *e);

void qn_embed_begin(struct qn_reply *r);
void qn_embed_free(void *own);
/* Takes note of an event: results must be of the next inputs, all of the same length, and complete
 * when the job is done (QN_ECHILD). Scores are kept; vectors are the caller's to write. */
qn_err qn_embed_event(struct qn_reply *r, size_t job, const struct qn_event *ev,
                      struct qn_error *e);
/* Number i of the vectors of an event, as numbers or as base64 of its bytes. */
void qn_embed_vector(struct qn_embed_reply *m, const struct qn_event *ev, size_t i, bool base64);
/* "usage": all tokens are the prompt's. */
void qn_embed_usage(const struct qn_embed_reply *m, struct qn_jw *w);
/* The endpoint's error, or the connection's end. */
void qn_embed_fail(struct qn_reply *r, const struct qn_problem *p);
/* Nothing: white space before the reply would send its head. */
void qn_embed_ping(struct qn_reply *r);

#endif
