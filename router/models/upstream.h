/* One job on one child: encodes it, sends it with POST /run, decodes the event frames that come
 * back. Loop thread only. */
#ifndef QN_MODELS_UPSTREAM_H
#define QN_MODELS_UPSTREAM_H

#include "base/error.h"
#include "contract/event.h"
#include "contract/frame.h"
#include "contract/job.h"
#include "models/child_process.h"

#include <stdbool.h>

struct qn_upstream;

/* Called for every event of the job in order; the last is QN_EV_END or QN_EV_ERROR, exactly once,
 * and the upstream is freed when that call returns. A child that ends, breaks the connection or
 * sends invalid data gives QN_EV_ERROR with code QN_ECHILD. Strings in ev are lent for the call.
 * The callback may pause or cancel the upstream. Never called from within qn_upstream_start. */
typedef void (*qn_upstream_fn)(void *ctx, const struct qn_event *ev);

/* The child must be READY (QN_EBUSY otherwise: load it, wait, try again). The job is encoded before
 * this returns and need not outlive it, except for the document that holds job.embed.inputs,
 * which is read until the last event: inputs are sent as the child accepts them. */
qn_err qn_upstream_start(struct qn_child *c, const struct qn_job *job, qn_upstream_fn fn, void *ctx,
                         struct qn_upstream **out, struct qn_error *e);

/* The same for an encoded job (qn_job_frame, which any thread may call): takes ownership of frame's
 * bytes, also on failure. */
qn_err qn_upstream_send(struct qn_child *c, const struct qn_job *job, struct qn_buf *frame,
                        qn_upstream_fn fn, void *ctx, struct qn_upstream **out, struct qn_error *e);
/* The limit for qn_buf_init of a frame, and the error for a job that exceeds it. */
enum { QN_UPSTREAM_FRAME_MAX = QN_FRAME_LINE_MAX + QN_FRAME_BYTES_MAX };
qn_err qn_upstream_too_large(struct qn_error *e);

/* paused: stops reading from the child because the client's connection is full; the job then makes
 * no steps. Events that had already arrived are held back until it is resumed. */
void qn_upstream_pause(struct qn_upstream *u, bool paused);

/* The client has gone: closes the connection, which cancels the job; frees u, no callback
 * follows. */
void qn_upstream_cancel(struct qn_upstream *u);

#endif
