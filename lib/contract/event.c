/* Names of events and of the ways a choice ends, see event.h. */
#include "contract/event.h"

#include <math.h>

static const char *const event_names[QN_EV_COUNT] = {
    [QN_EV_NONE] = "none",     [QN_EV_PROGRESS] = "progress",   [QN_EV_TEXT] = "text",
    [QN_EV_DONE] = "done",     [QN_EV_USAGE] = "usage",         [QN_EV_END] = "end",
    [QN_EV_ERROR] = "error",   [QN_EV_REASONING] = "reasoning", [QN_EV_TOOL_CALL] = "tool_call",
    [QN_EV_VECTOR] = "vector", [QN_EV_SCORE] = "score",         [QN_EV_SEGMENT] = "segment",
    [QN_EV_AUDIO] = "audio",   [QN_EV_IMAGE] = "image",
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
