/* Encodes and decodes jobs and events as JSON lines. One field table per struct serves both
 * directions: a field's name on the wire, its type and its range are written once for both
 * processes. Decoding checks everything, because the peer may be faulty. Unknown members are
 * ignored (the peer may be newer); wrong types are errors. */
#ifndef QN_CONTRACT_CODEC_H
#define QN_CONTRACT_CODEC_H

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "contract/event.h"
#include "contract/frame.h"
#include "contract/job.h"

/* Appends the job as one JSON object without a newline. */
qn_err qn_job_encode(const struct qn_job *job, struct qn_buf *out);

/* Appends the job's whole frame: the object, a newline, the bytes of its attachments. */
qn_err qn_job_frame(const struct qn_job *job, struct qn_buf *out);

/* Fills *job from its frame; everything is copied into arena. Errors: QN_EINVAL, QN_EFORMAT,
 * QN_ELIMIT. */
qn_err qn_job_take(const struct qn_frame *f, struct qn_job *job, struct qn_arena *arena,
                   struct qn_error *e);

/* Fills *job from an object; attachments are without their bytes. Strings are copied into arena.
 * Errors: QN_EINVAL with the field's path in param. */
qn_err qn_job_decode(const struct qn_jref *object, struct qn_job *job, struct qn_arena *arena,
                     struct qn_error *e);

qn_err qn_event_encode(const struct qn_event *ev, struct qn_buf *out);

/* Appends the event's whole frame: the object, a newline, its bytes. */
qn_err qn_event_frame(const struct qn_event *ev, struct qn_buf *out);

/* Fills *ev from a frame; ev->data is borrowed from the frame. */
qn_err qn_event_take(const struct qn_frame *f, struct qn_event *ev, struct qn_arena *arena,
                     struct qn_error *e);

/* Fills *ev from an object, without the event's bytes; strings are copied into arena. */
qn_err qn_event_decode(const struct qn_jref *object, struct qn_event *ev, struct qn_arena *arena,
                       struct qn_error *e);

/* Reads the sampling field with this wire name from v (a member of a dialect's request) into s,
 * with the type and range of the field table. Dialects use this so that ranges are defined in the
 * table alone. Absent or null leaves the field unset. QN_ENOTFOUND if no scalar field has this
 * name. */
qn_err qn_sampling_read(struct qn_sampling *s, const char *field, const struct qn_jref *v,
                        struct qn_error *e);

#endif
