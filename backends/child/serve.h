/* Everything that a backend's main() needs: descriptors, control lines, /run, the job queue,
 * stepping.
 *
 * There are two threads, and those of prepare.h if the backend prepares jobs. The loop thread owns
 * descriptors 3 and 4, reads requests, writes frames and answers pings. The compute thread calls
 * the functions of struct qn_backend, one at a time, except where their comments say otherwise.
 * Between two calls of step, new jobs are started and cancelled ones removed. A job whose client
 * reads too slowly has a full sink, and the backend must leave it out of steps. */
#ifndef QN_CHILD_SERVE_H
#define QN_CHILD_SERVE_H

#include "base/error.h"
#include "base/json.h"
#include "contract/event.h"
#include "contract/job.h"

#include <stdbool.h>
#include <stdint.h>

struct qn_input_batch;
struct qn_sink; /* the destination of one job's events; owned by serve.c */

/* Queues the event for the client. Never blocks. For the order of events see contract/event.h;
 * after END or ERROR the sink must not be used any more. Compute thread only. */
void qn_sink_send(struct qn_sink *s, const struct qn_event *ev);

/* True while more than QN_SINK_HIGH bytes wait for the client: leave the job out of this step. */
bool qn_sink_full(const struct qn_sink *s);

enum { QN_SINK_HIGH = 256 * 1024 };

/* Returns the oldest batch of inputs of an EMBED or RERANK job, lent until qn_sink_drop_inputs
 * frees it. Inputs may arrive while the job runs. NULL: no batch has arrived, so leave the job out
 * of this step (qn_backend.wake is called for the next batch), or all embed.count inputs have been
 * processed and freed. Compute thread only. */
const struct qn_input_batch *qn_sink_inputs(const struct qn_sink *s);
/* Frees the oldest batch after its results have been sent, which makes room for more inputs. Not
 * after END or ERROR. */
void qn_sink_drop_inputs(struct qn_sink *s);

struct qn_progress; /* for reporting the progress of loading */
void qn_progress_set(struct qn_progress *p, double fraction);
bool qn_progress_cancelled(
    const struct qn_progress *p); /* true: the router asked to stop, give up loading */

struct qn_load {
    const char *name;
    const char *const *files; /* absolute paths */
    size_t n_files;
    int threads;
    int64_t context;        /* tokens per sequence; 0: the backend chooses */
    struct qn_jref options; /* JSON object of load options */
};

struct qn_ready {
    int64_t context;      /* tokens per sequence */
    int64_t gpu_bytes;    /* in the memory of graphics processors */
    int64_t memory_bytes; /* resident memory that the model needs: weights, caches, scratch */
    int64_t slots;        /* jobs that can run at once */
    /* Address of a server behind this process to which the router may forward requests; NULL: none.
     * This and upstream_key are borrowed until unload. */
    const char *upstream;
    /* The key that this server expects as Authorization: Bearer; NULL: none. */
    const char *upstream_key;
};

struct qn_control;

struct qn_backend {
    const char *type; /* "llm" */
    /* MUST. Loads the model; on success *self is the first argument of the other functions. */
    qn_err (*load)(const struct qn_load *opts, struct qn_progress *p, void **self,
                   struct qn_ready *ready, struct qn_error *e);
    /* MAY, with discard. Does the work of a job that needs no step: templates, tokens, grammars.
     * *prepared is passed to start. The backend must bound the cost. QN_EBUSY: no room; serve.c
     * calls again when another job has ended. Any other error is sent as the reply. Called on
     * threads of its own, for several jobs at once and concurrently with all functions except load
     * and unload. */
    qn_err (*prepare)(void *self, const struct qn_job *job, void **prepared, struct qn_error *e);
    /* Frees prepared data that start has not taken. */
    void (*discard)(void *self, void *prepared);
    /* MUST. Starts a job. QN_OK: the backend owns what was prepared for the job (NULL without
     * prepare). QN_EBUSY: no free slot; serve.c keeps the job queued and calls again. Any other
     * error is sent as the reply. job and out stay valid until END or ERROR was sent or cancel
     * returned. */
    qn_err (*start)(void *self, const struct qn_job *job, void *prepared, struct qn_sink *out,
                    struct qn_error *e);
    /* MUST. Advances every running job by one slice (below 250 ms). False: no work is left (no
     * jobs, or all of them wait for inputs or for room in a full sink). */
    bool (*step)(void *self);
    /* MUST. Removes a job that was started; no event of it may follow. */
    void (*cancel)(void *self, const struct qn_job *job);
    /* MAY. A started job is to end its reasoning, if it reasons, and go on with its answer. */
    void (*end_reasoning)(void *self, const struct qn_job *job);
    /* MAY. Enters the sandbox (child/sandbox.h), for a backend that needs more than its model's
     * files, after starting whatever the sandbox would forbid. Called on the loop's thread before
     * load, while it is the only thread. NULL: qn_child_sandbox without needs. */
    qn_err (*confine)(const struct qn_control *load, struct qn_error *e);
    /* MAY. Tells a step that waits for something else than its own processor that there is work: a
     * new job, a cancelled job, or a sink with room. Called on the loop's thread, concurrently with
     * any other function; must not block. */
    void (*wake)(void *self);
    /* MAY. Returns one sentence of at most QN_ERROR_MESSAGE_MAX bytes if a built-in chat format
     * replaced the model's chat template; NULL: that has not happened. Borrowed until unload; a
     * different sentence has a different pointer. Called when the model is ready and when a job has
     * output, on the loop's thread, concurrently with any other function; must not block. */
    const char *(*template_warning)(void *self);
    /* MAY. Sets the number of threads that this child may use. */
    void (*threads)(void *self, int threads);
    /* MUST. */
    void (*unload)(void *self);
};

/* Runs a child process from start to end; returns its exit status. argv: --name NAME and nothing
 * else. */
int qn_child_main(int argc, char **argv, const struct qn_backend *backend);

#endif
