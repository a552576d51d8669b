/* Shared by the endpoints of Ollama's own API: the common members of requests, the options, and the
 * lines of a reply. Source: docs/api.md and api/types.go of github.com/ollama/ollama. */
#ifndef QN_DIALECTS_OLLAMA_OLLAMA_H
#define QN_DIALECTS_OLLAMA_OLLAMA_H

#include "dialects/dialect.h"

/* Reads "model", "stream" (default true) and "keep_alive". */
qn_err qn_ollama_common(const struct qn_jref *root, struct qn_request *rq, struct qn_error *e);

enum { QN_OLLAMA_OPTIONS_MAX = 256 }; /* members of "options" or "parameters" */

/* Reads the object "options", or a preset's "parameters": sets the named values in *s and *context,
 * checks the types of options without effect here, and the number of members. */
qn_err qn_ollama_options(const struct qn_jref *options, struct qn_arena *arena,
                         struct qn_sampling *s, int64_t *context, struct qn_error *e);

/* Writes an object of the members of "parameters" that are known and valid in requests. For
 * parameters from a file, whose other contents must not be shown. */
void qn_ollama_good_options(const struct qn_jref *options, struct qn_jw *w);

/* Reads options, format, think, logprobs, top_logprobs, truncate and shift, which chat and generate
 * share, into the job. */
qn_err qn_ollama_answering(const struct qn_jref *root, struct qn_request *rq, struct qn_job *job,
                           struct qn_error *e);

struct qn_talk;
/* Reads one message of a conversation: role, content, thinking, images, tool_calls, tool_name,
 * tool_call_id. */
qn_err qn_ollama_message(const struct qn_jref *m, struct qn_talk *t, struct qn_error *e);
/* Reads an array of base64 texts as images of the open message. */
qn_err qn_ollama_images(const struct qn_jref *v, struct qn_talk *t, struct qn_error *e);

/* Logs members that are not in the list `known` (which ends with NULL) at the level debug. */
void qn_ollama_unknown(const struct qn_jref *root, const char *endpoint, const char *const *known);

/* How an endpoint writes its replies. */
struct qn_ollama_form {
    bool chat;    /* text is in "message", otherwise in "response" */
    bool context; /* the last line has the tokens of prompt and output */
};

/* The functions of a dialect with this form; the `own` made by begin does not depend on the
 * request. */
void qn_ollama_begin(struct qn_reply *r, const struct qn_ollama_form *form);
qn_err qn_ollama_event(struct qn_reply *r, size_t job, const struct qn_event *ev,
                       struct qn_error *e);
void qn_ollama_end(struct qn_reply *r);
void qn_ollama_fail(struct qn_reply *r, const struct qn_problem *p);
void qn_ollama_ping(struct qn_reply *r);
void qn_ollama_free(void *own);

/* Writes "2026-01-31T12:00:00.123Z" under this key. */
void qn_ollama_time(struct qn_jw *w, const char *key, int64_t wall_ms);

#endif
