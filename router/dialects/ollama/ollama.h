/* What the endpoints of Ollama's own API share: the members around a request, its options, and the
 * lines of a reply. Source: docs/api.md and api/types.go of github.com/ollama/ollama. */
#ifndef QN_DIALECTS_OLLAMA_OLLAMA_H
#define QN_DIALECTS_OLLAMA_OLLAMA_H

#include "dialects/dialect.h"

/* Reads "model", "stream" (true unless it says otherwise) and "keep_alive". */
qn_err qn_ollama_common(const struct qn_jref *root, struct qn_request *rq, struct qn_error *e);

enum { QN_OLLAMA_OPTIONS_MAX = 256 }; /* members of "options" or "parameters" */

/* The object "options", or a preset's "parameters": fills what it names into *s and *context, and
 * checks the types of those that mean nothing here, and how many there are. */
qn_err qn_ollama_options(const struct qn_jref *options, struct qn_arena *arena,
                         struct qn_sampling *s, int64_t *context, struct qn_error *e);

/* Writes an object of those members of "parameters" that are known and have values that a request
 * may have. For parameters read from a file: anything else in it must not be shown. */
void qn_ollama_good_options(const struct qn_jref *options, struct qn_jw *w);

/* options, format, think, logprobs, top_logprobs, truncate and shift, which chat and generate have
 * in common, into the job. */
qn_err qn_ollama_answering(const struct qn_jref *root, struct qn_request *rq, struct qn_job *job,
                           struct qn_error *e);

struct qn_talk;
/* One message of a conversation: role, content, thinking, images, tool_calls, tool_name,
 * tool_call_id. */
qn_err qn_ollama_message(const struct qn_jref *m, struct qn_talk *t, struct qn_error *e);
/* An array of base64 texts into the open message. */
qn_err qn_ollama_images(const struct qn_jref *v, struct qn_talk *t, struct qn_error *e);

/* Names members that are not in the list (which ends in NULL) in the debug log. */
void qn_ollama_unknown(const struct qn_jref *root, const char *endpoint, const char *const *known);

/* How an endpoint says what an answer consists of. */
struct qn_ollama_form {
    bool chat;    /* in "message", else "response" */
    bool context; /* the last line has the tokens of prompt and answer */
};

/* The parts of a dialect that follow from the form; begin's `own` needs no request of its own. */
void qn_ollama_begin(struct qn_reply *r, const struct qn_ollama_form *form);
qn_err qn_ollama_event(struct qn_reply *r, size_t job, const struct qn_event *ev,
                       struct qn_error *e);
void qn_ollama_end(struct qn_reply *r);
void qn_ollama_fail(struct qn_reply *r, const struct qn_problem *p);
void qn_ollama_ping(struct qn_reply *r);
void qn_ollama_free(void *own);

/* "2026-01-31T12:00:00.123Z" under a key. */
void qn_ollama_time(struct qn_jw *w, const char *key, int64_t wall_ms);

#endif
