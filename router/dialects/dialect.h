/* The interface between HTTP and jobs: one struct qn_dialect for each inference endpoint. A dialect
 * uses the JSON of its API, struct qn_job and struct qn_event, and has no access to sockets, models
 * or processes. Its functions are pure: bytes in, struct out; event in, bytes out. For one request
 * they are called one after another, on the loop's thread or, if there is much to parse or write,
 * by a worker. */
#ifndef QN_DIALECTS_DIALECT_H
#define QN_DIALECTS_DIALECT_H

#include "answers/family.h"
#include "answers/profile.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "contract/event.h"
#include "contract/job.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    QN_ANSWER_ID_DIGITS = 32, /* hexadecimal digits: 128 bits */
    QN_REQUEST_JOBS_MAX = 64, /* prompts in one request */
    QN_REPLY_MAX = 256 * 1024 * 1024,
    QN_REPLY_HEADERS_MAX = 8,
    QN_EARLIER_MAX = 64 /* single stored responses that one request may refer to */
};

struct qn_problem;
struct qn_multipart;

/* A reply header that a dialect sets; strings are borrowed. */
struct qn_reply_header {
    const char *name, *value;
};

/* A stored response, which later requests can continue; see catalog/answers.h. */
struct qn_kept {
    const char *id;
    const char *previous; /* id of the response that it continues, or "" */
    const char *input;    /* JSON array: the new input of its request */
    const char *body;     /* JSON object: the response */
    /* Input and body, parsed, of a stored response that was found. */
    struct qn_json *input_doc, *body_doc;
};

/* A request while it is converted to jobs. */
struct qn_request {
    const struct qn_json *doc; /* the body, or the text fields of a form; outlives the request */
    const struct qn_multipart *files; /* of a form; NULL: the body is JSON */
    struct qn_arena *arena; /* memory for everything that parse makes; large enough for any body */
    const struct qn_profile *profile; /* of the listener, or selected by the request's header */
    enum qn_family family;            /* the error family of the request's path */
    /* The stored responses that `earlier` asked for and that exist: first the conversation, oldest
     * first, n_chain of them, then single responses. */
    const struct qn_kept *kept;
    size_t n_kept, n_chain;
    /* Filled by parse: */
    const char *model; /* as the client wrote it; NULL: the request names no model */
    bool stream;
    /* Run in parallel, at most QN_REQUEST_JOBS_MAX; infer.c sets their ids. None: the model is
     * loaded, then the reply ends. */
    struct qn_job *jobs;
    size_t n_jobs;
    /* Context in tokens for loading the model; QN_UNSET, the value before parse: unchanged. */
    int64_t context;
    /* How long the model stays loaded after this request: QN_UNSET, the value before parse: as
     * configured; < 0: without limit; 0: it is unloaded when the reply has ended. */
    int64_t keep_alive_ms;
    bool must_reason; /* refuse a model that is known not to reason */
    /* Set on the reply, even if the request fails. */
    struct qn_reply_header headers[QN_REPLY_HEADERS_MAX];
    size_t n_headers;
    const void *own; /* data of the dialect for the reply, or NULL */
};

/* A reply that is being written. If the request is streamed, out is emptied into the client's
 * stream after every call; otherwise it is sent as a whole after end. */
struct qn_reply {
    const struct qn_request *rq;
    struct qn_arena *arena; /* the request's arena */
    struct qn_buf *out;
    const char *id; /* random letters and digits, to which the dialect adds its prefix */
    /* QN_ANSWER_ID_DIGITS random digits for a stored response. A client that has this id can
     * request the response, so the id appears only in the reply. */
    const char *answer_id;
    int64_t created_s;  /* Unix time */
    int64_t began_ms;   /* qn_now_ms at the request's arrival */
    int64_t granted_ms; /* when its model was ready; 0: not ready yet */
    bool started;       /* bytes have been sent to the client */
    void *own;          /* the dialect's state from begin to free */
    /* MAY be set before the first byte is written: the content type, in place of the dialect's type
     * of streams or JSON. Borrowed for the request. */
    const char *type;
    /* MAY be set by fail: the format cannot express that the reply failed, so the connection is
     * closed. */
    bool cut;
    struct qn_kept keep; /* MAY be set by end: store this response; id NULL: none */
};

struct qn_dialect {
    enum qn_task task;
    const char *stream_type; /* content type of a streamed reply; other replies are JSON */
    const char *id_header;   /* MAY. Name of a reply header for "req_" and the request's id */
    bool form;               /* the body is multipart/form-data */
    bool installs;  /* a known model that is not installed is downloaded at its first use */
    bool last_used; /* a request without a model uses the loaded model that was used last */
    /* What is written for PROGRESS may be repeated: after it the request can still be repeated on a
     * new process, as one of which the client has got nothing. */
    bool progress_repeats;
    /* MAY. Which stored responses parse needs: one whose whole conversation is needed (*chain is
     * unchanged if none is), and single ones; returns the number of the latter. doc is an object
     * that has not been checked. */
    size_t (*earlier)(const struct qn_json *doc, struct qn_arena *arena, const char **chain,
                      const char *ids[QN_EARLIER_MAX]);
    /* MUST. Fills rq; every error has the faulty member in e->param. */
    qn_err (*parse)(struct qn_request *rq, struct qn_error *e);
    /* MUST. Creates r->own; writes nothing. */
    void (*begin)(struct qn_reply *r);
    /* MUST. Writes one event of the job with index `job`. END and ERROR are never passed. */
    qn_err (*event)(struct qn_reply *r, size_t job, const struct qn_event *ev, struct qn_error *e);
    /* MUST. All jobs have succeeded: writes the rest of the reply. */
    void (*end)(struct qn_reply *r);
    /* MUST. Writes the error body or, if r->started, the error as the end of the stream. r->own may
     * be NULL, as parse itself may have failed. */
    void (*fail)(struct qn_reply *r, const struct qn_problem *p);
    /* MAY. Replaces an error's message by the one that clients of this endpoint expect: fills
     * *words and sets p->error to it, before the error's status is chosen. */
    void (*reword)(const struct qn_request *rq, struct qn_problem *p, struct qn_error *words);
    /* MUST for streams. Writes data that clients ignore, sent while no event arrives; a dialect
     * without such data writes nothing. */
    void (*ping)(struct qn_reply *r);
    /* MUST. Frees r->own; NULL allowed. */
    void (*free)(void *own);
};

extern const struct qn_dialect qn_openai_chat, qn_openai_complete, qn_responses, qn_openai_embed,
    qn_rerank;
extern const struct qn_dialect qn_ollama_chat, qn_ollama_generate, qn_ollama_embed,
    qn_ollama_embeddings;
extern const struct qn_dialect qn_openai_transcribe, qn_openai_translate, qn_openai_speech;
extern const struct qn_dialect qn_openai_generate, qn_openai_edit, qn_openai_vary, qn_upscale;
extern const struct qn_dialect qn_anthropic, qn_anthropic_count, qn_tokenize_dialect;
extern const struct qn_dialect qn_page_chat;

#endif
