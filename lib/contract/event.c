/* Names of events and of finish reasons, see event.h. */
#include "contract/event.h"

#include <math.h>
#include <string.h>

static const char *const event_names[QN_EV_COUNT] = {
    [QN_EV_NONE] = "none",       [QN_EV_PROGRESS] = "progress",   [QN_EV_TEXT] = "text",
    [QN_EV_DONE] = "done",       [QN_EV_USAGE] = "usage",         [QN_EV_END] = "end",
    [QN_EV_ERROR] = "error",     [QN_EV_REASONING] = "reasoning", [QN_EV_TOOL_CALL] = "tool_call",
    [QN_EV_VECTORS] = "vectors", [QN_EV_SCORES] = "scores",       [QN_EV_SEGMENT] = "segment",
    [QN_EV_AUDIO] = "audio",     [QN_EV_IMAGE] = "image",
};

static const char *const finish_names[QN_FINISH_COUNT] = {
    [QN_FINISH_NONE] = "none",
    [QN_FINISH_STOP] = "stop",
    [QN_FINISH_LENGTH] = "length",
    [QN_FINISH_TOOLS] = "tool_calls",
};

void qn_event_init(struct qn_event *ev, enum qn_event_kind kind)
{
    *ev = (struct qn_event){
        .kind = kind,
        .segment = {.temperature = NAN,
                    .avg_logprob = NAN,
                    .compression_ratio = NAN,
                    .no_speech_prob = NAN},
        .usage = {.audio_ms = NAN},
    };
}

const char *qn_event_name(enum qn_event_kind kind)
{
    return (unsigned)kind < QN_EV_COUNT ? event_names[kind] : event_names[QN_EV_NONE];
}

const char *qn_finish_name(enum qn_finish f)
{
    return (unsigned)f < QN_FINISH_COUNT ? finish_names[f] : finish_names[QN_FINISH_NONE];
}

float qn_event_float(const char *data, size_t i)
{
    const unsigned char *b = (const unsigned char *)data + 4 * i;
    uint32_t bits =
        (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

void qn_event_put_float(char *data, size_t i, float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    for (int k = 0; k < 4; k++)
        data[4 * i + (size_t)k] = (char)(bits >> 8 * k & 0xFF);
}
