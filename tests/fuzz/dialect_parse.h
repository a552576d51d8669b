/* What a dialect's parse accepts must encode as jobs for a child, and decode there: one body for
 * the fuzz targets of all dialects. */
#ifndef QN_TESTS_FUZZ_DIALECT_PARSE_H
#define QN_TESTS_FUZZ_DIALECT_PARSE_H

#include "contract/codec.h"
#include "contract/inputs.h"
#include "dialects/dialect.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Aborts when the job does not cross to a child with its files. */
static inline void fuzz_dialect_cross(const struct qn_job *job, struct qn_arena *arena)
{
    struct qn_buf wire;
    struct qn_frame_reader reader;
    struct qn_frame frame;
    struct qn_job back;
    struct qn_error e;
    qn_buf_init(&wire, 64 * 1024 * 1024);
    qn_frame_reader_init(&reader, 64 * 1024 * 1024);
    if (qn_job_frame(job, &wire) || qn_frame_feed(&reader, wire.data, wire.len) ||
        qn_frame_next(&reader, &frame, &e) || qn_job_take(&frame, &back, arena, &e) ||
        back.attachments.n != job->attachments.n || back.chat.messages.n != job->chat.messages.n)
        abort();
    for (size_t i = 0; i < job->attachments.n; i++)
        if (back.attachments.v[i].role != job->attachments.v[i].role ||
            back.attachments.v[i].bytes != job->attachments.v[i].bytes ||
            memcmp(back.attachments.v[i].data, job->attachments.v[i].data,
                   (size_t)job->attachments.v[i].bytes) != 0)
            abort();
    if (qn_messages_bytes(&back.chat.messages) != qn_messages_bytes(&job->chat.messages))
        abort();
    qn_json_free(frame.json);
    qn_frame_reader_deinit(&reader);
    qn_buf_deinit(&wire);
}

/* Every input that a job announces can be packed, and read by the child. */
static inline void fuzz_inputs_cross(const struct qn_job *job)
{
    struct qn_input_cursor at;
    struct qn_frame_reader reader;
    struct qn_frame frame;
    struct qn_buf wire;
    struct qn_error e = {0};
    size_t n = 0;
    qn_buf_init(&wire, 64 * 1024 * 1024);
    qn_frame_reader_init(&reader, 4096);
    qn_inputs_begin(&job->embed, &at);
    for (qn_inputs_pack(&at, &wire); wire.len; qn_inputs_pack(&at, &wire)) {
        struct qn_input_batch *batch;
        if (qn_frame_feed(&reader, wire.data, wire.len) || qn_frame_next(&reader, &frame, &e) ||
            qn_inputs_take(&frame, n, &batch, &e))
            abort();
        n += batch->n;
        free(batch);
        qn_json_free(frame.json);
        qn_buf_clear(&wire);
    }
    if (n != (size_t)job->embed.count)
        abort();
    qn_frame_reader_deinit(&reader);
    qn_buf_deinit(&wire);
}

/* Parses n bytes as a request's body; aborts when an accepted request's jobs do not cross. */
static inline int fuzz_dialect_parse(const struct qn_dialect *dialect, const uint8_t *data,
                                     size_t n)
{
    struct qn_json *doc;
    struct qn_error e = {0};
    if (qn_json_parse((const char *)data, n, &doc, &e))
        return 0;
    struct qn_arena *arena = qn_arena_new(64 * 1024 * 1024);
    struct qn_request rq = {.doc = doc, .arena = arena, .profile = qn_profile_main()};
    if (dialect->parse(&rq, &e) == QN_OK) {
        if (rq.n_jobs > QN_REQUEST_JOBS_MAX) /* none: the model is to be loaded */
            abort();
        for (size_t i = 0; i < rq.n_jobs; i++) {
            fuzz_dialect_cross(&rq.jobs[i], arena);
            fuzz_inputs_cross(&rq.jobs[i]);
        }
    }
    qn_arena_free(arena);
    qn_json_free(doc);
    return 0;
}

#endif
