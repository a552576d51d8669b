/* What a hostile server answers. The first bytes choose the task, the status, the form and how the
 * reply is cut into pieces; the rest is the reply. Whatever becomes of it: every event can cross to
 * the router, nothing follows an answer that is complete, and choices end once. */
#include "base/arena.h"
#include "bridge/hear.h"
#include "contract/codec.h"
#include "contract/frame.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD = 4, ARENA_MAX = 256 * 1024 * 1024, FRAME_MAX = 64 * 1024 * 1024 };

struct heard {
    bool ended;
    unsigned done; /* bit i: choice i has ended */
};

/* The event as the router would get it. */
static void check_crossing(const struct qn_event *ev)
{
    struct qn_buf out;
    struct qn_frame_reader reader;
    struct qn_frame frame;
    struct qn_event back;
    struct qn_error e = {0};
    struct qn_arena *arena = qn_arena_new(ARENA_MAX);
    qn_buf_init(&out, FRAME_MAX);
    qn_frame_reader_init(&reader, FRAME_MAX);
    if (qn_event_frame(ev, &out) == QN_OK) {
        if (qn_frame_feed(&reader, out.data, out.len) || qn_frame_next(&reader, &frame, &e) ||
            qn_event_take(&frame, &back, arena, &e) || back.kind != ev->kind)
            abort();
        qn_json_free(frame.json);
    }
    qn_frame_reader_deinit(&reader);
    qn_buf_deinit(&out);
    qn_arena_free(arena);
}

static void hear(void *ctx, const struct qn_event *ev)
{
    struct heard *h = ctx;
    if (h->ended || (ev->kind == QN_EV_DONE && h->done & 1u << ev->index))
        abort();
    if (ev->kind == QN_EV_DONE)
        h->done |= 1u << ev->index;
    h->ended = ev->kind == QN_EV_END;
    check_crossing(ev);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const types[] = {"text/event-stream", "application/json", "audio/wav"};
    static const int statuses[] = {200, 200, 200, 400, 401, 429, 500, 503};
    struct qn_job job;
    struct qn_hearing h;
    struct heard heard = {0};
    struct qn_error e = {0}, broken = {0};
    bool passing;
    if (size < HEAD)
        return 0;
    qn_job_init(&job);
    job.task = (enum qn_task)(1 + data[0] % (QN_TASK_COUNT - 1));
    job.sampling.n = data[1] & 1 ? 2 : QN_UNSET;
    job.sampling.logprobs = data[1] & 2 ? 1 : QN_UNSET;
    job.count_only = (data[1] & 4) != 0;
    job.chat.reasoning_in_text = (data[1] & 8) != 0;
    job.transcribe.words = (data[1] & 16) != 0;
    job.embed.count = 2;
    job.embed.query = "q";
    job.speak.input = "hi";
    job.speak.format = "wav";
    job.image.format = "png";
    struct qn_engine_call ask = {.path = "/", .inputs = 2};
    qn_hearing_init(&h, &job, hear, &heard);
    qn_hearing_begin(&h, &ask);
    int status = statuses[data[2] % 8];
    const char *type = types[data[2] / 8 % 3];
    size_t step = data[3] ? data[3] : size;
    qn_err err = QN_OK;
    for (size_t at = HEAD; at < size && !err; at += step)
        err = qn_hearing_data(&h, status, type, data + at, at + step < size ? step : size - at);
    bool cut = data[2] & 128;
    if (cut || err)
        qn_fail(&broken, QN_EIO, "it broke");
    if (qn_hearing_end(&h, status, cut || err ? &broken : NULL, "host", &passing, &e) == QN_OK)
        qn_hearing_finish(&h);
    else if (!e.code || !e.message[0])
        abort();
    qn_hearing_deinit(&h);
    return 0;
}
