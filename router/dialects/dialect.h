/* The seam between HTTP and jobs: one struct qn_dialect per inference endpoint. A dialect knows
 * somebody's JSON, struct qn_job and struct qn_event, and nothing else: no socket, no model, no
 * process. Its functions are pure: bytes in, struct out; event in, bytes out. Loop thread only. */
#ifndef QN_ROUTER_DIALECTS_DIALECT_H
#define QN_ROUTER_DIALECTS_DIALECT_H

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
    QN_REQUEST_JOBS_MAX = 64, /* prompts in one request */
    QN_REPLY_MAX = 256 * 1024 * 1024
};

struct qn_problem;

/* A request on its way to jobs. */
struct qn_request {
    const struct qn_json *doc; /* the body; outlives the request */
    struct qn_arena *arena;    /* for everything parse makes; it holds any body the server takes */
    /* filled by parse: */
    const char *model; /* as asked for; NULL: none was named */
    bool stream;
    struct qn_job *jobs; /* run side by side, 1 to QN_REQUEST_JOBS_MAX; ids are given by infer.c */
    size_t n_jobs;
    const void *own; /* whatever the dialect wants to remember for the reply, or NULL */
};

/* A reply in the making. out is emptied into the client's stream after every call when the request
 * is streamed; else it is sent whole after end. */
struct qn_reply {
    const struct qn_request *rq;
    struct qn_arena *arena; /* the request's */
    struct qn_buf *out;
    const char *id;    /* random letters and digits, for the dialect to put its prefix before */
    int64_t created_s; /* Unix time */
    bool started;      /* an earlier byte has reached the client */
    void *own;         /* the dialect's state between begin and free */
};

struct qn_dialect {
    enum qn_task task;
    const char *stream_type; /* content type of a streamed reply; a whole one is JSON */
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
    /* MUST for streams. Something a client ignores, sent while there is nothing to say. */
    void (*ping)(struct qn_reply *r);
    /* MUST. Frees r->own; NULL allowed. */
    void (*free)(void *own);
};

extern const struct qn_dialect qn_openai_chat, qn_openai_complete;

#endif
