/* Shared by OpenAI's chat and completion endpoints. */
#ifndef QN_DIALECTS_OPENAI_OPENAI_H
#define QN_DIALECTS_OPENAI_OPENAI_H

#include "dialects/dialect.h"

struct qn_talk;

enum { QN_OPENAI_PARTS_MAX = 1000 }; /* parts of one message's content */

/* What a reply needs of its request. */
struct qn_openai_ask {
    bool include_usage; /* stream_options.include_usage */
    bool logprobs;
    bool echo;
    bool best_of;    /* completions: the jobs generate more choices than the n that are returned */
    size_t n;        /* completions: choices in the reply for each prompt */
    bool functions;  /* tools were given as the deprecated functions, so calls are written in that
                        form */
    bool flat_tools; /* set before parse: the members of a tool's function are beside its "type",
                        not in "function" */
    bool hide_reasoning; /* reasoning is not written */
};

/* Reads model, stream, stream_options, every sampling member, ctx_size, keep_alive and ttl. */
qn_err qn_openai_common(const struct qn_jref *root, struct qn_request *rq, struct qn_sampling *s,
                        struct qn_openai_ask *ask, struct qn_error *e);

/* Moves the text of buf into the request's arena. If the text is too long, the error has the path
 * of v. */
qn_err qn_openai_keep(struct qn_request *rq, struct qn_buf *buf, const struct qn_jref *v,
                      const char **out, struct qn_error *e);
/* The same for a value of the given type, as compact JSON; absent and null leave *out unchanged. */
qn_err qn_openai_keep_json(const struct qn_jref *v, enum qn_json_type type, size_t limit,
                           struct qn_request *rq, const char **out, struct qn_error *e);

/* In openai_messages.c: converts a chat's messages into the job; reads an image's data URL. */
qn_err qn_openai_messages(const struct qn_jref *v, struct qn_arena *arena, struct qn_job *job,
                          struct qn_error *e);
qn_err qn_openai_image(const struct qn_jref *url, struct qn_talk *t, struct qn_error *e);

/* In openai_tools.c: tools, tool_choice, parallel_tool_calls, or functions and function_call. */
qn_err qn_openai_tools(const struct qn_jref *root, struct qn_request *rq, struct qn_chat *chat,
                       struct qn_openai_ask *ask, struct qn_error *e);

/* In openai_form.c: one format object ({"type":"json_schema",...}); all members that set the
 * output's form; a reasoning effort by name; all members about reasoning. */
qn_err qn_openai_format(const struct qn_jref *format, struct qn_request *rq, struct qn_job *job,
                        struct qn_error *e);
qn_err qn_openai_constraints(const struct qn_jref *root, struct qn_request *rq, struct qn_job *job,
                             struct qn_error *e);
qn_err qn_openai_effort(const struct qn_jref *v, struct qn_chat *chat, struct qn_error *e);
qn_err qn_openai_reasoning(const struct qn_jref *root, struct qn_request *rq, struct qn_chat *chat,
                           struct qn_openai_ask *ask, struct qn_error *e);

/* Logs members that are in neither of the two lists (each ends with NULL) at the level debug. */
void qn_openai_unknown(const struct qn_jref *root, const char *endpoint, const char *const *known);

/* One tool call, as far as it has been received. */
struct qn_openai_call {
    const char *id, *name; /* in the request's arena */
    struct qn_buf arguments;
};

/* The state of a reply: one of these for each choice of every job, and the sums of usage. */
struct qn_openai_choice {
    struct qn_buf text, reasoning;
    struct qn_openai_call *calls;
    size_t n_calls;
    /* Non-streamed replies: the dialect's JSON items, separated by commas. */
    struct qn_buf logprobs;
    struct qn_buf more[3]; /* completions: the other columns of logprobs */
    int64_t offset;        /* characters of text so far */
    double logprob_sum;    /* sum over the logprob_n tokens that have one */
    size_t logprob_n;
    bool begun; /* streams: the first chunk has been written */
    bool told;  /* best_of: the choice is in the reply */
    enum qn_finish finish;
};
struct qn_openai {
    struct qn_openai_choice *choices;
    size_t n; /* jobs × per_job */
    size_t per_job;
    int64_t prompt, cached, output, reasoning;
    double prompt_ms, output_ms;
};

/* Creates and frees r->own. */
void qn_openai_begin(struct qn_reply *r);
void qn_openai_free(void *own);

/* Returns the choice that an event is about, or NULL if the job has no such choice. */
struct qn_openai_choice *qn_openai_choice(struct qn_reply *r, size_t job, const struct qn_event *ev,
                                          size_t *index);

/* Adds a TOOL_CALL event to the choice: *call is its call, *fresh is set if the event begins one.
 * QN_ECHILD if it neither begins a call nor continues the last one. */
qn_err qn_openai_take_call(struct qn_reply *r, struct qn_openai_choice *c, size_t index,
                           const struct qn_event *ev, struct qn_openai_call **call, bool *fresh,
                           struct qn_error *e);

/* Adds a USAGE event to the sums. */
void qn_openai_usage(struct qn_reply *r, const struct qn_event *ev);

/* Opens {"id","object","created","model","system_fingerprint" in r->out, and the list of
 * choices. */
struct qn_jw qn_openai_open(struct qn_reply *r, const char *prefix, const char *object);
/* Writes "usage" and "timings". */
void qn_openai_usage_write(const struct qn_openai *o, struct qn_jw *w);

/* Writes the begin and the end of one streamed chunk: "data: " ... empty line. */
struct qn_jw qn_openai_chunk(struct qn_reply *r, const char *prefix, const char *object);
/* Ends the chunk that qn_openai_chunk has begun, after its choices have been written. */
void qn_openai_chunk_end(struct qn_reply *r, struct qn_jw *w);

/* Whether the ends of all choices are written together at the end: Kolosal's clients expect the
 * usage in the chunk that ends the last choice. */
bool qn_openai_ends_late(const struct qn_reply *r);

/* Writes the end of the stream: the usage chunk if asked for, and [DONE]. */
void qn_openai_stream_end(struct qn_reply *r, const char *prefix, const char *object);

void qn_openai_fail(struct qn_reply *r, const struct qn_problem *p);
void qn_openai_ping(struct qn_reply *r);

#endif
