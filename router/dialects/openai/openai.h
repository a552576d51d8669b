/* What OpenAI's chat and completion endpoints share. */
#ifndef QN_DIALECTS_OPENAI_OPENAI_H
#define QN_DIALECTS_OPENAI_OPENAI_H

#include "dialects/dialect.h"

struct qn_talk;

enum { QN_OPENAI_PARTS_MAX = 1000 }; /* of one message's content */

/* What a reply must remember of its request. */
struct qn_openai_ask {
    bool include_usage; /* stream_options.include_usage */
    bool logprobs;
    bool echo;
    bool best_of;        /* completions: the jobs write more choices than the n that are told */
    size_t n;            /* completions: choices of each prompt in the reply */
    bool functions;      /* tools were asked for as the deprecated functions: calls are told so */
    bool flat_tools;     /* (before parse) a function's members stand beside the tool's type */
    bool hide_reasoning; /* reasoning is not told */
};

/* Reads model, stream, stream_options, every sampling member, ctx_size, keep_alive and ttl. */
qn_err qn_openai_common(const struct qn_jref *root, struct qn_request *rq, struct qn_sampling *s,
                        struct qn_openai_ask *ask, struct qn_error *e);

/* Moves what buf holds into the request's arena; v is what is blamed for its length. */
qn_err qn_openai_keep(struct qn_request *rq, struct qn_buf *buf, const struct qn_jref *v,
                      const char **out, struct qn_error *e);
/* The same with a value of the given type as compact JSON; absent and null leave *out alone. */
qn_err qn_openai_keep_json(const struct qn_jref *v, enum qn_json_type type, size_t limit,
                           struct qn_request *rq, const char **out, struct qn_error *e);

/* openai_messages.c: a chat's messages into the job; a picture's data URL. */
qn_err qn_openai_messages(const struct qn_jref *v, struct qn_arena *arena, struct qn_job *job,
                          struct qn_error *e);
qn_err qn_openai_image(const struct qn_jref *url, struct qn_talk *t, struct qn_error *e);

/* openai_tools.c: tools, tool_choice, parallel_tool_calls, or functions and function_call. */
qn_err qn_openai_tools(const struct qn_jref *root, struct qn_request *rq, struct qn_chat *chat,
                       struct qn_openai_ask *ask, struct qn_error *e);

/* openai_form.c: one format object ({"type":"json_schema",...}); every member that says what the
 * answer must be; an effort by name; every member about reasoning. */
qn_err qn_openai_format(const struct qn_jref *format, struct qn_request *rq, struct qn_job *job,
                        struct qn_error *e);
qn_err qn_openai_constraints(const struct qn_jref *root, struct qn_request *rq, struct qn_job *job,
                             struct qn_error *e);
qn_err qn_openai_effort(const struct qn_jref *v, struct qn_chat *chat, struct qn_error *e);
qn_err qn_openai_reasoning(const struct qn_jref *root, struct qn_request *rq, struct qn_chat *chat,
                           struct qn_openai_ask *ask, struct qn_error *e);

/* Names members that are in neither list (each ends in NULL) in the debug log. */
void qn_openai_unknown(const struct qn_jref *root, const char *endpoint, const char *const *known);

/* One call of a tool, as far as it has come. */
struct qn_openai_call {
    const char *id, *name; /* in the request's arena */
    struct qn_buf arguments;
};

/* The state of a reply: one of these per choice of every job, and the sums of usage. */
struct qn_openai_choice {
    struct qn_buf text, reasoning;
    struct qn_openai_call *calls;
    size_t n_calls;
    struct qn_buf logprobs; /* whole replies: the dialect's JSON items, comma separated */
    struct qn_buf more[3];  /* completions: further columns of logprobs */
    int64_t offset;         /* characters of text so far */
    double logprob_sum;     /* of the logprob_n tokens that have one */
    size_t logprob_n;
    bool begun; /* streams: the first chunk has been written */
    bool told;  /* best_of: it is in the reply */
    enum qn_finish finish;
};
struct qn_openai {
    struct qn_openai_choice *choices;
    size_t n; /* jobs × per_job */
    size_t per_job;
    int64_t prompt, cached, output, reasoning;
    double prompt_ms, output_ms;
};

/* r->own for begin and free. */
void qn_openai_begin(struct qn_reply *r);
void qn_openai_free(void *own);

/* The choice an event is about, or NULL when the job has no such choice. */
struct qn_openai_choice *qn_openai_choice(struct qn_reply *r, size_t job, const struct qn_event *ev,
                                          size_t *index);

/* Takes a TOOL_CALL event into the choice: *call is its call, *fresh when it began one. QN_ECHILD
 * when it does not continue the last call. */
qn_err qn_openai_take_call(struct qn_reply *r, struct qn_openai_choice *c, size_t index,
                           const struct qn_event *ev, struct qn_openai_call **call, bool *fresh,
                           struct qn_error *e);

/* Sums a USAGE event. */
void qn_openai_usage(struct qn_reply *r, const struct qn_event *ev);

/* Opens {"id","object","created","model","system_fingerprint" in r->out, and the list of choices.
 */
struct qn_jw qn_openai_open(struct qn_reply *r, const char *prefix, const char *object);
void qn_openai_usage_write(const struct qn_openai *o, struct qn_jw *w); /* "usage" and "timings" */

/* Around one streamed chunk: "data: " ... blank line. */
struct qn_jw qn_openai_chunk(struct qn_reply *r, const char *prefix, const char *object);
void qn_openai_chunk_end(struct qn_reply *r, struct qn_jw *w); /* after the choices were written */

/* Kolosal's clients find the usage in the chunk that ends the last choice: the ends of all choices
 * wait for it. */
bool qn_openai_ends_late(const struct qn_reply *r);

/* The stream's end: the usage chunk if asked for, and [DONE]. */
void qn_openai_stream_end(struct qn_reply *r, const char *prefix, const char *object);

void qn_openai_fail(struct qn_reply *r, const struct qn_problem *p);
void qn_openai_ping(struct qn_reply *r);

#endif
