/* What OpenAI's chat and completion endpoints share. */
#ifndef QN_ROUTER_DIALECTS_OPENAI_H
#define QN_ROUTER_DIALECTS_OPENAI_H

#include "router/dialects/dialect.h"

/* What a reply must remember of its request. */
struct qn_openai_ask {
    bool include_usage; /* stream_options.include_usage */
    bool logprobs;
    bool echo;
};

/* Reads model, stream, stream_options and every sampling member. */
qn_err qn_openai_common(const struct qn_jref *root, struct qn_request *rq, struct qn_sampling *s,
                        struct qn_openai_ask *ask, struct qn_error *e);

/* Names members that are in neither list (each ends in NULL) in the debug log. */
void qn_openai_unknown(const struct qn_jref *root, const char *endpoint, const char *const *known);

/* The state of a reply: one of these per choice of every job, and the sums of usage. */
struct qn_openai_choice {
    struct qn_buf text;
    struct qn_buf logprobs; /* whole replies: the dialect's JSON items, comma separated */
    struct qn_buf more[3];  /* completions: further columns of logprobs */
    int64_t offset;         /* characters of text so far */
    bool begun;             /* streams: the first chunk has been written */
    enum qn_finish finish;
};
struct qn_openai {
    struct qn_openai_choice *choices;
    size_t n; /* jobs × per_job */
    size_t per_job;
    int64_t prompt, cached, output;
    double prompt_ms, output_ms;
};

/* r->own for begin and free. */
void qn_openai_begin(struct qn_reply *r);
void qn_openai_free(void *own);

/* The choice an event is about, or NULL when the job has no such choice. */
struct qn_openai_choice *qn_openai_choice(struct qn_reply *r, size_t job, const struct qn_event *ev,
                                          size_t *index);

/* Sums a USAGE event. */
void qn_openai_usage(struct qn_reply *r, const struct qn_event *ev);

/* Opens {"id","object","created","model","system_fingerprint" in r->out, and the list of choices.
 */
struct qn_jw qn_openai_open(struct qn_reply *r, const char *prefix, const char *object);
void qn_openai_usage_write(const struct qn_openai *o, struct qn_jw *w); /* "usage" and "timings" */

/* Around one streamed chunk: "data: " ... blank line. */
struct qn_jw qn_openai_chunk(struct qn_reply *r, const char *prefix, const char *object);
void qn_openai_chunk_end(struct qn_reply *r, struct qn_jw *w); /* after the choices were written */

/* The stream's end: the usage chunk if asked for, and [DONE]. */
void qn_openai_stream_end(struct qn_reply *r, const char *prefix, const char *object);

void qn_openai_fail(struct qn_reply *r, const struct qn_problem *p);
void qn_openai_ping(struct qn_reply *r);

#endif
