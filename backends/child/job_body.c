/* See job_body.h. */
#include "child/job_body.h"

#include "contract/codec.h"

#include <stdlib.h>

enum { JOB_ARENA_MAX = 3 * QN_FRAME_LINE_MAX };

void qn_job_body_init(struct qn_job_body *b)
{
    *b = (struct qn_job_body){0};
    b->end = &b->batches;
    qn_frame_reader_init(&b->in, QN_FRAME_LINE_MAX);
}

void qn_job_body_deinit(struct qn_job_body *b)
{
    struct qn_input_batch *batch;
    while ((batch = qn_job_body_take_inputs(b)) != NULL)
        free(batch);
    qn_frame_reader_deinit(&b->in);
    qn_arena_free(b->arena);
    b->arena = NULL;
}

static qn_err take_job(struct qn_job_body *b, const struct qn_frame *f, struct qn_error *e)
{
    b->arena = qn_arena_new((size_t)JOB_ARENA_MAX + QN_FRAME_BYTES_MAX);
    qn_err err = qn_job_take(f, &b->job, b->arena, e);
    b->has_job = err == QN_OK;
    return err;
}

static qn_err take_inputs(struct qn_job_body *b, const struct qn_frame *f, struct qn_error *e)
{
    struct qn_input_batch *batch;
    qn_err err = qn_inputs_take(f, b->n_inputs, &batch, e);
    if (err)
        return err;
    if (batch->n > (size_t)b->job.embed.count - b->n_inputs) {
        free(batch);
        return qn_fail(e, QN_EINVAL, "there are more inputs than the %lld of the job",
                       (long long)b->job.embed.count);
    }
    b->n_inputs += batch->n;
    *b->end = batch;
    b->end = &batch->next;
    return QN_OK;
}

/* The kinds of frames that may follow the job's frame. Each is recognised by a member of its
 * line. */
static const struct {
    const char *member;
    qn_err (*take)(struct qn_job_body *b, const struct qn_frame *f, struct qn_error *e);
} followers[] = {
    {"inputs", take_inputs},
};

static qn_err take_follower(struct qn_job_body *b, const struct qn_frame *f, struct qn_error *e)
{
    struct qn_jref root = qn_json_root(f->json);
    for (size_t i = 0; i < sizeof followers / sizeof *followers; i++) {
        struct qn_jref v = qn_json_get(&root, followers[i].member);
        if (qn_json_type(&v) != QN_JSON_ABSENT)
            return followers[i].take(b, f, e);
    }
    return qn_fail(e, QN_EFORMAT, "the frame after the job is of no known kind");
}

qn_err qn_job_body_add(struct qn_job_body *b, const char *p, size_t n, struct qn_error *e)
{
    struct qn_frame f;
    b->bytes += n;
    if (qn_frame_feed(&b->in, p, n))
        return qn_fail(e, QN_ELIMIT, "a frame is larger than %d MiB",
                       (QN_FRAME_LINE_MAX + QN_FRAME_BYTES_MAX) >> 20);
    qn_err err;
    while ((err = qn_frame_next(&b->in, &f, e)) == QN_OK) {
        err = b->has_job ? take_follower(b, &f, e) : take_job(b, &f, e);
        qn_json_free(f.json);
        if (err)
            return err;
    }
    return err == QN_EBUSY ? QN_OK : err;
}

qn_err qn_job_body_end(struct qn_job_body *b, struct qn_error *e)
{
    if (!b->has_job || qn_frame_pending(&b->in))
        return qn_fail(e, QN_EFORMAT, "the body ends in the middle of a frame");
    if (b->n_inputs != (size_t)b->job.embed.count)
        return qn_fail(e, QN_EINVAL, "%zu inputs arrived, the job has %lld", b->n_inputs,
                       (long long)b->job.embed.count);
    b->ended = true;
    return QN_OK;
}

bool qn_job_body_is_ready(const struct qn_job_body *b)
{
    return b->ended || b->n_inputs > 0;
}

struct qn_input_batch *qn_job_body_take_inputs(struct qn_job_body *b)
{
    struct qn_input_batch *batch = b->batches;
    if (!batch)
        return NULL;
    b->batches = batch->next;
    if (!b->batches)
        b->end = &b->batches;
    batch->next = NULL;
    return batch;
}
