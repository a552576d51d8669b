/* All that a backend's main() needs: file descriptors, control lines, /run, the job queue,
 * stepping.
 *
 * Two threads, and those of prepare.h where the backend prepares jobs. The loop thread owns fd 3
 * and fd 4, reads requests, writes frames, answers pings. The compute thread calls the functions of
 * struct qn_backend, one at a time, unless they say otherwise. Between two calls of step, new jobs
 * are started, cancelled ones removed, and jobs whose reply is not being read fast enough (sink
 * full) are reported as paused. */
#ifndef QN_CHILD_SERVE_H
#define QN_CHILD_SERVE_H

#include "base/error.h"
#include "base/json.h"
#include "contract/event.h"
#include "contract/job.h"

#include <stdbool.h>
#include <stdint.h>

struct qn_input_batch;
struct qn_sink; /* where one job's events go; owned by serve.c */

/* Queues the event for the client. Compute thread only. Never blocks. After DONE/END/ERROR rules
 * see contract/event.h; after END or ERROR the sink must not be used again. */
void qn_sink_send(struct qn_sink *s, const struct qn_event *ev);

/* True while more than QN_SINK_HIGH bytes wait for the reader: leave the job out of this step. */
bool qn_sink_full(const struct qn_sink *s);

enum { QN_SINK_HIGH = 256 * 1024 };

/* The inputs of an EMBED or RERANK arrive while it runs. The oldest batch that has not been
 * dropped, lent until it is; NULL: none has come yet, so leave the job out of this step
 * (qn_backend.wake tells of the next), or all embed.count inputs have been dropped. Compute
 * thread only. */
const struct qn_input_batch *qn_sink_inputs(const struct qn_sink *s);
/* The batch is done with: its results have been sent. Dropping lets more inputs in. Not after END
 * or ERROR. */
void qn_sink_drop_inputs(struct qn_sink *s);

struct qn_progress; /* reports loading progress */
void qn_progress_set(struct qn_progress *p, double fraction);
bool qn_progress_cancelled(
    const struct qn_progress *p); /* the router asked to stop: give up loading */

struct qn_load {
    const char *name;
    const char *const *files; /* absolute paths */
    size_t n_files;
    int threads;
    int64_t context;        /* tokens per sequence; 0: choose */
    struct qn_jref options; /* object of backend options */
};

struct qn_ready {
    int64_t context;      /* tokens per sequence */
    int64_t gpu_bytes;    /* of graphics processors' own memory */
    int64_t memory_bytes; /* resident bytes the model needs: weights, caches, scratch */
    int64_t slots;        /* jobs that can run at once */
    const char *upstream; /* address of a server behind this process that the router may ask; NULL:
                             there is none. Lent until unload, and so is the next */
    const char *upstream_key; /* that it wants as Authorization: Bearer; NULL: none */
};

struct qn_control;

struct qn_backend {
    const char *type; /* "llm" */
    /* MUST. Loads the model; on success *self is what the others get. */
    qn_err (*load)(const struct qn_load *opts, struct qn_progress *p, void **self,
                   struct qn_ready *ready, struct qn_error *e);
    /* MAY, with discard. Does the work of a job that needs no step: templates, tokens, grammars.
     * *prepared is what start gets. Its cost must be bounded by the backend. QN_EBUSY: there is no
     * room, serve.c asks again when a job has ended; any other error is sent as the reply. On a
     * thread of its own, for several jobs at once and beside all others but load and unload. */
    qn_err (*prepare)(void *self, const struct qn_job *job, void **prepared, struct qn_error *e);
    /* Frees what start has not taken. */
    void (*discard)(void *self, void *prepared);
    /* MUST. Takes a job, and with QN_OK what was prepared for it (NULL without prepare); QN_EBUSY:
     * no slot is free, serve.c keeps it queued and asks again. job and out stay valid until END or
     * ERROR was sent or cancel returned. Any other error: serve.c sends it as the reply. */
    qn_err (*start)(void *self, const struct qn_job *job, void *prepared, struct qn_sink *out,
                    struct qn_error *e);
    /* MUST. Advances every running job by one slice (below 250 ms); false when nothing is left to
     * do (no jobs, or all of them paused by a full sink or waiting for inputs). */
    bool (*step)(void *self);
    /* MUST. Forgets a job that was started; no event may follow. */
    void (*cancel)(void *self, const struct qn_job *job);
    /* MAY. Gives up what the process shall not have (child/sandbox.h), for a backend that needs
     * more than its model's files, and starts what it needs before. On the loop's thread, while it
     * is the only one, before load. NULL: qn_child_sandbox without needs. */
    qn_err (*confine)(const struct qn_control *load, struct qn_error *e);
    /* MAY. There is something for step to look at: a job, a cancelled one, a sink with room. For a
     * step that waits for others than its own processor. On the loop's thread, beside any of the
     * others; it must not block. */
    void (*wake)(void *self);
    /* MAY. One sentence of at most QN_ERROR_MESSAGE_MAX bytes when the model's chat template gave
     * way to a built-in form; NULL: it did not so far. Lent until unload, and another pointer for
     * another sentence. Asked when the model is ready and when a job has said something; on the
     * loop's thread, beside any of the others; it must not block. */
    const char *(*template_warning)(void *self);
    /* MAY. The router changed how many threads this child may use. */
    void (*threads)(void *self, int threads);
    /* MUST. */
    void (*unload)(void *self);
};

/* The whole life of a child process: returns its exit status. argv: --name NAME and nothing else.
 */
int qn_child_main(int argc, char **argv, const struct qn_backend *backend);

#endif
