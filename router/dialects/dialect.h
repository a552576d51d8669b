/* The seam between HTTP and jobs: one struct qn_dialect per inference endpoint. A dialect knows
 * somebody's JSON, struct qn_job and struct qn_event, and nothing else: no socket, no model, no
 * process. Its functions are pure: bytes in, struct out; event in, bytes out. Of one request they
 * are called one after another, on the loop's thread or, where much is to be read or written, by a
 * worker. */
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
    QN_ANSWER_ID_DIGITS = 32, /* hexadecimal: 128 bits */
    QN_REQUEST_JOBS_MAX = 64, /* prompts in one request */
    QN_REPLY_MAX = 256 * 1024 * 1024,
    QN_REPLY_HEADERS_MAX = 8,
    QN_EARLIER_MAX = 64 /* single answers that one request may refer to */
};

struct qn_problem;
struct qn_multipart;

/* A reply header that a dialect asks for: lent strings. */
struct qn_reply_header {
    const char *name, *value;
};

/* An answer that is kept so that a later request can go on from it; catalog/answers.h. */
struct qn_kept {
    const char *id;
    const char *previous;                 /* id of the answer that it went on from, or "" */
    const char *input;                    /* JSON array: what was new in its request */
    const char *body;                     /* JSON object: the answer */
    struct qn_json *input_doc, *body_doc; /* the two, opened, of an answer that was found */
};

/* A request on its way to jobs. */
struct qn_request {
    const struct qn_json *doc;        /* the body, or a form's text fields; outlives the request */
    const struct qn_multipart *files; /* of a form; NULL: the body is JSON */
    struct qn_arena *arena;           /* for everything parse makes; large enough for any body */
    const struct qn_profile *profile; /* of the listener, or as the request's header says */
    enum qn_family family;            /* of the request's path: the form of its errors */
    const struct qn_kept *kept; /* what `earlier` asked for and is there: first the conversation,
                                   oldest first, n_chain of them, then single answers */
    size_t n_kept, n_chain;
    /* filled by parse: */
    const char *model; /* as asked for; NULL: none was named */
    bool stream;
    struct qn_job *jobs; /* run side by side, at most QN_REQUEST_JOBS_MAX; ids are given by infer.c.
                            None: the model is loaded, then the reply ends */
    size_t n_jobs;
    int64_t context; /* tokens the model should be loaded with; QN_UNSET (before parse): as it is */
    int64_t keep_alive_ms; /* how long the model stays loaded after this request: QN_UNSET (before
                              parse): as configured; < 0: for ever; 0: it is unloaded when the reply
                              has ended */
    bool must_reason;      /* a model that is known not to reason is refused */
    struct qn_reply_header headers[QN_REPLY_HEADERS_MAX]; /* of the reply, whatever becomes of it */
    size_t n_headers;
    const void *own; /* whatever the dialect wants to remember for the reply, or NULL */
};

/* A reply in the making. out is emptied into the client's stream after every call when the request
 * is streamed; else it is sent whole after end. */
struct qn_reply {
    const struct qn_request *rq;
    struct qn_arena *arena; /* the request's */
    struct qn_buf *out;
    const char *id;        /* random letters and digits, for the dialect to put its prefix before */
    const char *answer_id; /* the same of an answer that is kept: who has it can ask for the answer,
                              so it stands nowhere but in the reply. QN_ANSWER_ID_DIGITS */
    int64_t created_s;     /* Unix time */
    int64_t began_ms;      /* qn_now_ms when the request came */
    int64_t granted_ms;    /* when its model was ready; 0: it is not yet */
    bool started;          /* an earlier byte has reached the client */
    void *own;             /* the dialect's state between begin and free */
    const char *type; /* MAY be set before the first byte is written: the content type, instead of
                         the dialect's for streams and JSON; lent for the request */
    bool cut;         /* MAY be set by fail: the reply has no way to say that it failed, so the
                         connection is broken off */
    struct qn_kept keep; /* MAY be set by end: keep this answer; id NULL: nothing is kept */
};

struct qn_dialect {
    enum qn_task task;
    const char *stream_type; /* content type of a streamed reply; a whole one is JSON */
    const char *id_header;   /* MAY. Reply header that says "req_" and the request's id */
    bool form;               /* the body is multipart/form-data */
    bool installs;           /* a model that is known but not here is downloaded at its first use */
    bool last_used;          /* who names no model means the loaded one that was used last */
    /* MAY. Which kept answers parse needs: the one whose whole conversation is wanted (left alone
     * when none is), and single ones, whose number is given back. doc is an object, unchecked. */
    size_t (*earlier)(const struct qn_json *doc, struct qn_arena *arena, const char **chain,
                      const char *ids[QN_EARLIER_MAX]);
    /* MUST. Fills rq; every complaint names the member at fault in e->param. */
    qn_err (*parse)(struct qn_request *rq, struct qn_error *e);
    /* MUST. Makes r->own; writes nothing. */
    void (*begin)(struct qn_reply *r);
    /* MUST. Says one event of job number `job`. END and ERROR never get here. */
    qn_err (*event)(struct qn_reply *r, size_t job, const struct qn_event *ev, struct qn_error *e);
    /* MUST. All jobs have ended well: the rest of the reply. */
    void (*end)(struct qn_reply *r);
    /* MUST. The error body, or, when r->started, the error as the stream's last word. r->own may
     * be NULL: parsing itself may have failed. */
    void (*fail)(struct qn_reply *r, const struct qn_problem *p);
    /* MAY. Says an error in the words that this endpoint's clients know: fills *words and points
     * p->error at it, before the error has its status. */
    void (*reword)(const struct qn_request *rq, struct qn_problem *p, struct qn_error *words);
    /* MUST for streams. Something a client ignores, sent while there is nothing to say; a dialect
     * that has no such form writes nothing. */
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
extern const struct qn_dialect qn_anthropic, qn_anthropic_count, qn_tokenize;

#endif
