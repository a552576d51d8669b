/* The receiving side of a run: who asks for one inference, and where its response goes. A run
 * (run_private.h) knows nothing of HTTP; client_http.c implements this for HTTP requests. A run
 * ends in exactly one of client->end, which it calls once, or qn_infer_cancel. Loop thread only. */
#ifndef QN_INFER_CLIENT_H
#define QN_INFER_CLIENT_H

#include "access/auth.h"
#include "answers/answer.h"
#include "dialects/dialect.h"
#include "infer/infer.h"
#include "models/inventory.h"

struct qn_infer_run;
struct qn_body;

/* What precedes a response's first byte; lent for the call. */
struct qn_infer_head {
    const char *type; /* content type; NULL: JSON */
    const struct qn_reply_header *headers;
    size_t n_headers;
};

/* How a response ends; lent for the call. */
struct qn_infer_end {
    const struct qn_problem *problem; /* why the run has failed; NULL: it has succeeded */
    int64_t again_s;                  /* of a problem: when a repetition may succeed */
    struct qn_infer_head head;        /* for a response of which nothing has been written */
    struct qn_buf *rest; /* the bytes after the last write; MAY be taken over. It has overflowed
                            if an error does not fit */
    bool cut;            /* the bytes cannot express that the run has failed */
};

/* The functions are called on the loop's thread with the ctx of qn_infer_start, some from within
 * qn_infer_start. None may call a function of this file. */
struct qn_infer_client {
    /* MAY. The request has got a place in the queue of its model, or the queue is full. */
    void (*queued)(void *ctx, const struct qn_queue_spot *spot);
    /* MUST. The next n bytes, n > 0, of a streamed response; the first call begins the response.
     * Returns true if the client can take no more at the moment: the run pauses its jobs until
     * qn_infer_resume. */
    bool (*write)(void *ctx, const struct qn_infer_head *head, const void *bytes, size_t n);
    /* MAY. Bytes that were written and that the client has not read yet. A client that reads too
     * slowly while other requests wait loses its response (QN_INFER_UNREAD_MS); without this
     * function it does not. */
    int64_t (*unread)(void *ctx);
    /* MAY. Takes the response back if nothing of it has been sent, so that it can end with another
     * status. Returns whether it was taken back. */
    bool (*revoke)(void *ctx);
    /* MUST. The response ends; the run has released its model and is freed when this returns. */
    void (*end)(void *ctx, const struct qn_infer_end *how);
};

/* One request for inference. Strings are copied. */
struct qn_infer_request {
    const struct qn_dialect *dialect;
    const struct qn_profile *profile;
    enum qn_family family; /* of the errors */
    const char *model;     /* replaces the model that the body names; NULL: the named one */
    struct qn_caller caller;
    const char *path;           /* of the route, for the list of requests; NULL: an answer of a
                                   stored chat, whose texts are never captured */
    const char *name, *owner;   /* for the fair queue: see qn_client_id and qn_client_owner */
    const char *id;             /* of qn_infer_id */
    const char *content_type;   /* of the body, or NULL */
    struct qn_body *body;       /* heap memory, owned by the run; it lends text [n] */
    const char *text;           /* the body: JSON, or the form that the dialect reads */
    size_t n;                   /* bytes */
    int64_t limit_ms;           /* the run's longest duration; 0: no limit */
    const struct qn_error *why; /* MAY be NULL: fail at once for this reason */
};

/* Makes the id of a request, and tells the log that lines with it belong to this owner. */
void qn_infer_id(const struct qn_inference *with, const char *owner,
                 char out[static QN_REQUEST_ID_DIGITS + 1]);

/* Starts a run. *out is set before the first call of the client's functions, one of which may be
 * the end. The client must outlive the run. */
void qn_infer_start(const struct qn_inference *with, const struct qn_infer_request *request,
                    const struct qn_infer_client *client, void *ctx, struct qn_infer_run **out);

/* A client whose write returned true can take more. Call it from the loop, not from within a
 * callback of the client's own transport: the run may write at once. */
void qn_infer_resume(struct qn_infer_run *run);

/* How far a run has come. */
enum qn_infer_stage {
    QN_INFER_PREPARING, /* the request is parsed */
    QN_INFER_DOWNLOADING,
    QN_INFER_QUEUED,   /* it waits for its turn, or for the memory of other models */
    QN_INFER_LOADING,  /* its model is being loaded */
    QN_INFER_COMPUTING /* the model computes */
};
struct qn_infer_progress {
    enum qn_infer_stage stage;
    struct qn_lease_wait wait; /* QUEUED, LOADING */
    int64_t context;           /* COMPUTING: tokens of the model's context; 0: unknown */
};
void qn_infer_look(const struct qn_infer_run *run, struct qn_infer_progress *out);

/* Makes the model end its reasoning and go on with its answer. False: it does not compute now, or
 * its engine cannot; nothing has changed. */
bool qn_infer_end_reasoning(struct qn_infer_run *run);

/* The response is not wanted any more: frees the run, and end is not called. why: a word for the
 * log. */
void qn_infer_cancel(struct qn_infer_run *run, const char *why);

#endif
