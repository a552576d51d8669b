/* POST audio/speech: text in, audio out, as a complete file, as bytes while they are generated, or
 * as server-sent events. Names and shapes: https://platform.openai.com/docs/api-reference/audio,
 * and Lemonade's stream_format "audio", which yields raw samples (pcm). */
#include "dialects/openai/openai.h"
#include "dialects/shared/form.h"

#include "base/str.h"
#include "contract/codec.h"
#include "digest/base64.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { INPUT_CHARS = 4096, VOICE_CHARS = 64, LANGUAGE_CHARS = 16 };

static const char *const known[] = {"input",           "voice",    "instructions",  "speed",
                                    "response_format", "language", "stream_format", NULL};

/* Content types of formats; NULL: depends on the sample rate. */
static const struct {
    const char *format, *type;
} formats[] = {
    {"mp3", "audio/mpeg"},  {"opus", "audio/opus"}, {"aac", "audio/aac"},
    {"flac", "audio/flac"}, {"wav", "audio/wav"},   {"pcm", NULL},
};
enum { FORMATS = sizeof formats / sizeof *formats };

enum way { WHOLE, BYTES, EVENTS };

struct ask {
    enum way way;
    size_t format;
};

struct spoken {
    int64_t bytes, input, output; /* input and output are tokens */
};

/* Reads a name, or an object with its id. */
static qn_err read_voice(const struct qn_jref *root, const char **out, struct qn_error *e)
{
    struct qn_jref v = qn_json_get(root, "voice"), id = qn_json_get(&v, "id");
    *out = "shimmer"; /* the default in Lemonade's document */
    qn_err err = qn_form_text(qn_json_type(&v) == QN_JSON_OBJECT ? &id : &v, VOICE_CHARS, out, e);
    if (!err && !**out)
        err = qn_json_fail(&v, e, "must not be empty");
    return err;
}

/* Reads how the reply is sent, and its file format. */
static qn_err read_way(const struct qn_jref *root, struct ask *ask, struct qn_error *e)
{
    struct qn_jref v = qn_json_get(root, "stream_format");
    const char *name = NULL;
    bool stream = false;
    qn_err err = qn_json_str_opt(&v, &name, e);
    if (err)
        return err;
    if (name && !qn_str_eq(name, "audio") && !qn_str_eq(name, "sse"))
        return qn_json_fail(&v, e, "'%.40s' is not one of audio, sse", name);
    v = qn_json_get(root, "stream");
    if ((err = qn_json_bool_opt(&v, &stream, e)))
        return err;
    ask->way = qn_str_eq(name, "sse") ? EVENTS : name || stream ? BYTES : WHOLE;
    v = qn_json_get(root, "response_format");
    name = ask->way == BYTES ? "pcm" : "mp3";
    if ((err = qn_json_str_opt(&v, &name, e)))
        return err;
    while (ask->format < FORMATS && !qn_str_eq(name, formats[ask->format].format))
        ask->format++;
    return ask->format < FORMATS
               ? QN_OK
               : qn_json_fail(&v, e, "'%.40s' is not one of mp3, opus, aac, flac, wav, pcm", name);
}

static qn_err parse(struct qn_request *rq, struct qn_error *e)
{
    struct qn_jref root = qn_json_root(rq->doc), v;
    struct ask *ask = qn_arena_alloc(rq->arena, sizeof *ask);
    struct qn_job *job;
    rq->own = ask;
    qn_err err = qn_form_job(rq, QN_TASK_SPEAK, &job, e);
    if (err)
        return err;
    struct qn_speak *speak = &job->speak;
    v = qn_json_get(&root, "input");
    if ((err = qn_form_text(&v, INPUT_CHARS, &speak->input, e)))
        return err;
    if (!speak->input || !*speak->input)
        return qn_form_missing("input", e);
    v = qn_json_get(&root, "instructions");
    if ((err = qn_form_text(&v, INPUT_CHARS, &speak->instructions, e)))
        return err;
    v = qn_json_get(&root, "language");
    if ((err = qn_form_text(&v, LANGUAGE_CHARS, &speak->language, e)))
        return err;
    v = qn_json_get(&root, "speed");
    if ((err = qn_json_f64_opt(&v, 0.25, 4, &speak->speed, e)) ||
        (err = read_voice(&root, &speak->voice, e)) || (err = read_way(&root, ask, e)))
        return err;
    speak->format = formats[ask->format].format;
    rq->stream = ask->way != WHOLE;
    qn_openai_unknown(&root, "audio/speech", known);
    return QN_OK;
}

static void begin(struct qn_reply *r)
{
    r->own = qn_xcalloc(1, sizeof(struct spoken));
}

/* Returns the content type, which for raw samples depends on their rate. */
static const char *type_of(const struct ask *ask, const struct qn_event *ev, struct qn_arena *arena)
{
    const char *type = formats[ask->format].type;
    return type ? type
                : qn_arena_fmt(arena, "audio/l16;rate=%lld;endianness=little-endian",
                               (long long)ev->rate_hz);
}

static qn_err take_audio(struct qn_reply *r, const struct qn_event *ev, struct qn_error *e)
{
    struct spoken *s = r->own;
    const struct ask *ask = r->rq->own;
    qn_err err = QN_OK;
    if (!qn_str_eq(ev->format, formats[ask->format].format))
        return qn_fail(e, QN_ECHILD, "the model's process sent %.16s instead of %s", ev->format,
                       formats[ask->format].format);
    if (ask->way == EVENTS) {
        qn_buf_str(r->out, "data: {\"type\":\"speech.audio.delta\",\"audio\":\"");
        err = qn_base64_add(r->out, ev->data, (size_t)ev->bytes);
        qn_buf_str(r->out, "\"}\n\n");
    } else {
        if (!s->bytes)
            r->type = type_of(ask, ev, r->arena);
        err = qn_buf_add(r->out, ev->data, (size_t)ev->bytes);
    }
    s->bytes += ev->bytes;
    return err ? qn_fail(e, QN_ELIMIT, "the reply is too long") : QN_OK;
}

static qn_err event(struct qn_reply *r, size_t job, const struct qn_event *ev, struct qn_error *e)
{
    struct spoken *s = r->own;
    (void)job;
    if (ev->kind == QN_EV_AUDIO)
        return take_audio(r, ev, e);
    if (ev->kind == QN_EV_DONE && !s->bytes)
        return qn_fail(e, QN_ECHILD, "the model's process sent no audio");
    if (ev->kind == QN_EV_USAGE) {
        s->input = ev->usage.prompt;
        s->output = ev->usage.output;
    }
    return QN_OK;
}

static void end(struct qn_reply *r)
{
    const struct spoken *s = r->own;
    const struct ask *ask = r->rq->own;
    if (ask->way != EVENTS)
        return;
    qn_buf_str(r->out, "data: ");
    struct qn_jw w = qn_jw_to(r->out);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "type", "speech.audio.done");
    qn_jw_key(&w, "usage");
    qn_jw_obj(&w);
    qn_jw_ki64(&w, "input_tokens", s->input);
    qn_jw_ki64(&w, "output_tokens", s->output);
    qn_jw_ki64(&w, "total_tokens", s->input + s->output);
    qn_jw_obj_end(&w);
    qn_jw_obj_end(&w);
    qn_buf_str(r->out, "\n\ndata: [DONE]\n\n");
}

/* Whether the reply is audio, in which no text can be written. */
static bool is_sound(const struct qn_request *rq)
{
    const struct ask *ask = rq->own;
    return ask && ask->way == BYTES;
}

static void failed(struct qn_reply *r, const struct qn_problem *p)
{
    if (r->started && is_sound(r->rq))
        r->cut = true;
    else
        qn_openai_fail(r, p);
}

static void ping(struct qn_reply *r)
{
    if (!is_sound(r->rq))
        qn_openai_ping(r);
}

const struct qn_dialect qn_openai_speech = {
    .task = QN_TASK_SPEAK,
    .stream_type = "text/event-stream",
    .parse = parse,
    .begin = begin,
    .event = event,
    .end = end,
    .fail = failed,
    .ping = ping,
    .free = free,
};
