/* POST audio/transcriptions and audio/translations: an audio file in, the transcript out, as JSON,
 * text, subtitles (SubRip, WebVTT) or, streamed, as server-sent events. Names and shapes:
 * https://platform.openai.com/docs/api-reference/audio; WebVTT: https://www.w3.org/TR/webvtt1/. */
#include "dialects/openai/openai.h"
#include "dialects/shared/form.h"
#include "dialects/shared/languages.h"
#include "dialects/shared/logprobs.h"

#include "base/str.h"
#include "contract/codec.h"
#include "formats/magic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LANGUAGE_TEXT = 8 };

enum form { AS_JSON, AS_TEXT, AS_SRT, AS_VTT, AS_VERBOSE, FORMS };

static const char *const form_names[FORMS] = {"json", "text", "srt", "vtt", "verbose_json"};

static const char *const known[] = {"file", "language", "prompt", "response_format", "temperature",
                                    "include", "stream", "timestamp_granularities",
                                    /* OpenAI's, without effect here: audio is split as the model
                                     * needs */
                                    "chunking_strategy", NULL};

struct ask {
    enum form form;
    bool words, segments; /* members of a verbose reply */
    bool logprobs;
    double temperature;
};

/* The transcript received so far. */
struct heard {
    struct qn_buf text;     /* concatenated texts of the segments */
    struct qn_buf list;     /* segments as JSON items, or as subtitles */
    struct qn_buf words;    /* as JSON items */
    struct qn_buf logprobs; /* as JSON items */
    size_t n;               /* number of segments */
    size_t told;            /* streams: bytes of text that are written or dropped */
    double end_s, audio_ms; /* audio_ms NAN: unknown */
    const char *language;   /* NULL: unknown */
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* A list of words that each set a flag. */
struct flag {
    const char *word;
    bool *flag;
};

static qn_err read_flags(const struct qn_jref *v, const struct flag *flags, size_t n,
                         struct qn_error *e)
{
    struct qn_jref it = *v;
    bool one = qn_json_type(v) == QN_JSON_STRING;
    if (qn_json_type(v) <= QN_JSON_NULL)
        return QN_OK;
    if (!one && qn_json_type(v) != QN_JSON_ARRAY)
        return qn_json_fail(v, e, "expected an array of strings");
    bool more = one || qn_json_first(v, &it);
    while (more) {
        const char *word;
        size_t i = 0;
        qn_err err = qn_json_str(&it, &word, e);
        if (err)
            return err;
        while (i < n && !qn_str_eq(word, flags[i].word))
            i++;
        if (i == n)
            return qn_json_fail(&it, e, "'%.40s' is not known here", word);
        *flags[i].flag = true;
        more = !one && qn_json_next(&it);
    }
    return QN_OK;
}

static qn_err read_format(const struct qn_jref *root, struct ask *ask, struct qn_error *e)
{
    struct qn_jref v = qn_json_get(root, "response_format");
    const char *name = form_names[AS_JSON];
    qn_err err = qn_json_str_opt(&v, &name, e);
    if (err)
        return err;
    int f = 0;
    while (f < FORMS && !qn_str_eq(name, form_names[f]))
        f++;
    if (f == FORMS)
        return qn_json_fail(&v, e, "'%.40s' is not one of json, text, srt, vtt, verbose_json",
                            name);
    ask->form = (enum form)f;
    v = qn_json_get(root, "timestamp_granularities");
    const struct flag flags[] = {{"word", &ask->words}, {"segment", &ask->segments}};
    err = read_flags(&v, flags, sizeof flags / sizeof *flags, e);
    if (!err && (ask->words || ask->segments) && ask->form != AS_VERBOSE)
        err = qn_json_fail(&v, e, "only with response_format verbose_json");
    if (!ask->words)
        ask->segments = true;
    v = qn_json_get(root, "include");
    const struct flag includes[] = {{"logprobs", &ask->logprobs}};
    if (!err)
        err = read_flags(&v, includes, 1, e);
    if (!err && ask->logprobs && ask->form != AS_JSON)
        err = qn_json_fail(&v, e, "logprobs come with response_format json only");
    return err;
}

static qn_err read_language(const struct qn_jref *root, struct qn_request *rq,
                            struct qn_transcribe *t, struct qn_error *e)
{
    struct qn_jref v = qn_json_get(root, "language");
    const char *text = NULL;
    char code[LANGUAGE_TEXT];
    qn_err err = qn_json_str_opt(&v, &text, e);
    if (err || !text || !*text || qn_str_eq(text, "auto"))
        return err;
    const char *found = qn_language_code(text, code, sizeof code);
    if (!found)
        return qn_json_fail(
            &v, e, "'%.40s' is not a language: give its ISO 639-1 code, for example en", text);
    t->language = qn_arena_strdup(rq->arena, found);
    return QN_OK;
}

static qn_err read_file(struct qn_request *rq, struct qn_job *job, struct qn_error *e)
{
    const struct qn_part *file;
    size_t n = qn_form_files(rq, "file", &file, 1);
    if (n == 0)
        return qn_form_missing("file", e);
    if (n > 1)
        return qn_fail_param(e, QN_EINVAL, "file", "file: expected one audio file, not %zu", n);
    if (!file->len)
        return qn_fail_param(e, QN_EINVAL, "file", "file: it is empty");
    if (!qn_magic_sound(file->data, file->len))
        return qn_fail_param(
            e, QN_EINVAL, "file",
            "file: unknown audio format: wav, mp3, flac, ogg, webm, m4a and aac are supported");
    struct qn_attachment *sound = qn_arena_alloc(rq->arena, sizeof *sound);
    *sound = (struct qn_attachment){
        .role = QN_ATTACHMENT_AUDIO, .data = file->data, .bytes = (int64_t)file->len};
    job->attachments = (struct qn_attachments){sound, 1};
    return QN_OK;
}

static qn_err parse_as(struct qn_request *rq, bool translate, struct qn_error *e)
{
    struct qn_jref root = qn_json_root(rq->doc), v;
    struct ask *ask = qn_arena_alloc(rq->arena, sizeof *ask);
    struct qn_job *job;
    rq->own = ask;
    qn_err err = qn_form_job(rq, QN_TASK_TRANSCRIBE, &job, e);
    if (err || (err = read_file(rq, job, e)))
        return err;
    job->transcribe.translate = translate;
    if ((err = read_format(&root, ask, e)) || (err = read_language(&root, rq, &job->transcribe, e)))
        return err;
    v = qn_json_get(&root, "prompt");
    if ((err = qn_form_text(&v, QN_FORM_TEXT_MAX, &job->transcribe.prompt, e)))
        return err;
    v = qn_json_get(&root, "temperature");
    if ((err = qn_form_f64(rq, &v, 0, 1, &job->sampling.temperature, e)))
        return err;
    v = qn_json_get(&root, "stream");
    if ((err = qn_form_bool(rq, &v, &rq->stream, e)))
        return err;
    if (rq->stream && ask->form != AS_JSON && ask->form != AS_TEXT) {
        rq->stream = false; /* the error is not streamed */
        return qn_json_fail(&v, e, "response_format %s cannot be streamed: json and text can",
                            form_names[ask->form]);
    }
    ask->temperature = isnan(job->sampling.temperature) ? 0 : job->sampling.temperature;
    job->transcribe.words = ask->words;
    if (ask->logprobs)
        job->sampling.logprobs = 0;
    qn_openai_unknown(&root, "audio", known);
    return QN_OK;
}

static qn_err parse_transcribe(struct qn_request *rq, struct qn_error *e)
{
    return parse_as(rq, false, e);
}

static qn_err parse_translate(struct qn_request *rq, struct qn_error *e)
{
    return parse_as(rq, true, e);
}

static void begin(struct qn_reply *r)
{
    struct heard *h = qn_xcalloc(1, sizeof *h);
    qn_buf_init(&h->text, QN_REPLY_MAX);
    qn_buf_init(&h->list, QN_REPLY_MAX);
    qn_buf_init(&h->words, QN_REPLY_MAX);
    qn_buf_init(&h->logprobs, QN_REPLY_MAX);
    h->audio_ms = NAN;
    r->own = h;
}

static void free_heard(void *own)
{
    struct heard *h = own;
    if (!h)
        return;
    qn_buf_deinit(&h->text);
    qn_buf_deinit(&h->list);
    qn_buf_deinit(&h->words);
    qn_buf_deinit(&h->logprobs);
    free(h);
}

/* Returns the text from `from` on without blanks at either end; *from becomes its end. */
static const char *stripped(struct qn_buf *text, size_t *from, size_t *n)
{
    const char *p = qn_buf_cstr(text);
    size_t end = text->len, at = *from;
    while (end > at && is_blank(p[end - 1]))
        end--;
    if (at == 0) /* blanks of later segments are within the text */
        while (at < end && is_blank(p[at]))
            at++;
    *n = end - at;
    *from = end;
    return p + at;
}

static void write_optional(struct qn_jw *w, const char *key, double v)
{
    if (!isnan(v))
        qn_jw_kf64(w, key, v);
}

static void add_segment(struct heard *h, const struct ask *ask, const struct qn_event *ev)
{
    if (h->n)
        qn_buf_char(&h->list, ',');
    struct qn_jw w = qn_jw_to(&h->list);
    qn_jw_obj(&w);
    qn_jw_ki64(&w, "id", (int64_t)h->n);
    qn_jw_ki64(&w, "seek", (int64_t)(ev->segment.start_s * 100)); /* in hundredths of a second */
    qn_jw_kf64(&w, "start", ev->segment.start_s);
    qn_jw_kf64(&w, "end", ev->segment.end_s);
    qn_jw_kstr(&w, "text", ev->text);
    qn_jw_key(&w, "tokens");
    qn_jw_raw(&w, ev->tokens ? ev->tokens : "[]", ev->tokens ? strlen(ev->tokens) : 2);
    qn_jw_kf64(&w, "temperature",
               isnan(ev->segment.temperature) ? ask->temperature : ev->segment.temperature);
    write_optional(&w, "avg_logprob", ev->segment.avg_logprob);
    write_optional(&w, "compression_ratio", ev->segment.compression_ratio);
    write_optional(&w, "no_speech_prob", ev->segment.no_speech_prob);
    qn_jw_obj_end(&w);
}

/* "01:02:03,004" */
static void write_time(double s, char point, struct qn_buf *out)
{
    long long ms = llround(s * 1000);
    qn_buf_fmt(out, "%02lld:%02lld:%02lld%c%03lld", ms / 3600000, ms / 60000 % 60, ms / 1000 % 60,
               point, ms % 1000);
}

/* Appends one subtitle. An empty line would end it, and an arrow would look like times, so blanks
 * are collapsed to one space. WebVTT's three mark-up characters are written as character
 * references, which SubRip does not have. */
static void add_subtitle(struct heard *h, bool vtt, const struct qn_event *ev)
{
    struct qn_buf *out = &h->list;
    size_t n = strlen(ev->text), at = 0;
    if (!vtt)
        qn_buf_fmt(out, "%zu\n", h->n + 1);
    write_time(ev->segment.start_s, vtt ? '.' : ',', out);
    qn_buf_str(out, " --> ");
    write_time(ev->segment.end_s, vtt ? '.' : ',', out);
    qn_buf_char(out, '\n');
    while (n > 0 && is_blank(ev->text[n - 1]))
        n--;
    while (at < n && is_blank(ev->text[at]))
        at++;
    while (at < n) {
        char c = ev->text[at];
        if (is_blank(c)) {
            qn_buf_char(out, ' ');
            while (is_blank(ev->text[at]))
                at++;
            continue;
        }
        if (vtt && c == '&')
            qn_buf_str(out, "&amp;");
        else if (vtt && c == '<')
            qn_buf_str(out, "&lt;");
        else if (vtt && c == '>')
            qn_buf_str(out, "&gt;");
        else if (vtt || strncmp(ev->text + at, "-->", 3) != 0) /* removes a dash of an arrow */
            qn_buf_char(out, c);
        at++;
    }
    qn_buf_str(out, "\n\n");
}

static struct qn_jw open_event(struct qn_reply *r, const char *type)
{
    qn_buf_str(r->out, "data: ");
    struct qn_jw w = qn_jw_to(r->out);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "type", type);
    return w;
}

static void close_event(struct qn_reply *r, struct qn_jw *w)
{
    qn_jw_obj_end(w);
    qn_buf_str(r->out, "\n\n");
}

/* Writes the new text of a stream. Blanks at its end are held back, as the text may end there. */
static qn_err tell_delta(struct qn_reply *r, const struct qn_event *ev, struct qn_error *e)
{
    struct heard *h = r->own;
    const struct ask *ask = r->rq->own;
    size_t n;
    const char *delta = stripped(&h->text, &h->told, &n);
    if (n == 0)
        return QN_OK;
    struct qn_jw w = open_event(r, "transcript.text.delta");
    qn_jw_key(&w, "delta");
    qn_jw_strn(&w, delta, n);
    if (ask->logprobs && ev->logprobs) {
        struct qn_buf items;
        qn_buf_init(&items, QN_REPLY_MAX);
        qn_err err = qn_logprobs_add(ev->logprobs, false, &items, e);
        qn_jw_kitems(&w, "logprobs", &items);
        qn_buf_deinit(&items);
        if (err)
            return err;
    }
    close_event(r, &w);
    return QN_OK;
}

/* Appends the items of a JSON array to those in out. */
static void add_items(struct qn_buf *out, const char *array)
{
    size_t n = strlen(array);
    if (n <= 2) /* the codec writes an empty array as "[]" */
        return;
    if (out->len)
        qn_buf_char(out, ',');
    qn_buf_add(out, array + 1, n - 2);
}

static qn_err take_segment(struct qn_reply *r, const struct qn_event *ev, struct qn_error *e)
{
    struct heard *h = r->own;
    const struct ask *ask = r->rq->own;
    qn_err err = QN_OK;
    qn_buf_str(&h->text, ev->text);
    if (ask->form == AS_VERBOSE)
        add_segment(h, ask, ev);
    if (ask->form == AS_SRT || ask->form == AS_VTT)
        add_subtitle(h, ask->form == AS_VTT, ev);
    if (ask->words && ev->segment.words)
        add_items(&h->words, ev->segment.words);
    if (ask->logprobs && ev->logprobs)
        err = qn_logprobs_add(ev->logprobs, false, &h->logprobs, e);
    h->n++;
    if (ev->segment.end_s > h->end_s)
        h->end_s = ev->segment.end_s;
    if (!err && r->rq->stream)
        err = tell_delta(r, ev, e);
    if (!err && (h->text.overflow || h->list.overflow || h->words.overflow))
        err = qn_fail(e, QN_ELIMIT, "the reply is too long");
    return err;
}

static qn_err event(struct qn_reply *r, size_t job, const struct qn_event *ev, struct qn_error *e)
{
    struct heard *h = r->own;
    (void)job;
    if (ev->kind == QN_EV_SEGMENT)
        return take_segment(r, ev, e);
    if (ev->kind == QN_EV_DONE && ev->language)
        h->language = qn_arena_strdup(r->arena, ev->language);
    if (ev->kind == QN_EV_USAGE)
        h->audio_ms = ev->usage.audio_ms;
    return QN_OK;
}

static void write_usage(const struct heard *h, struct qn_jw *w)
{
    if (isnan(h->audio_ms))
        return;
    qn_jw_key(w, "usage");
    qn_jw_obj(w);
    qn_jw_kstr(w, "type", "duration");
    qn_jw_ki64(w, "seconds", (int64_t)ceil(h->audio_ms / 1000));
    qn_jw_obj_end(w);
}

static void end(struct qn_reply *r)
{
    struct heard *h = r->own;
    const struct ask *ask = r->rq->own;
    const struct qn_transcribe *t = &r->rq->jobs->transcribe;
    const char *language = t->translate ? "en" : h->language ? h->language : t->language;
    size_t from = 0, n;
    const char *text = stripped(&h->text, &from, &n);
    if (ask->form >= AS_TEXT && ask->form <= AS_VTT && !r->rq->stream) {
        r->type = "text/plain; charset=utf-8";
        if (ask->form == AS_VTT)
            qn_buf_str(r->out, "WEBVTT\n\n");
        qn_buf_add(r->out, ask->form == AS_TEXT ? text : qn_buf_cstr(&h->list),
                   ask->form == AS_TEXT ? n : h->list.len);
        if (ask->form == AS_TEXT)
            qn_buf_char(r->out, '\n');
        return;
    }
    struct qn_jw w;
    if (r->rq->stream) {
        w = open_event(r, "transcript.text.done");
    } else {
        w = qn_jw_to(r->out);
        qn_jw_obj(&w);
    }
    if (ask->form == AS_VERBOSE) {
        qn_jw_kstr(&w, "task", t->translate ? "translate" : "transcribe");
        if (language)
            qn_jw_kstr(&w, "language", qn_language_name(language));
        qn_jw_kf64(&w, "duration", isnan(h->audio_ms) ? h->end_s : h->audio_ms / 1000);
    }
    qn_jw_key(&w, "text");
    qn_jw_strn(&w, text, n);
    if (ask->form == AS_VERBOSE && ask->words)
        qn_jw_kitems(&w, "words", &h->words);
    if (ask->form == AS_VERBOSE && ask->segments)
        qn_jw_kitems(&w, "segments", &h->list);
    if (ask->logprobs)
        qn_jw_kitems(&w, "logprobs", &h->logprobs);
    write_usage(h, &w);
    if (!r->rq->stream) {
        qn_jw_obj_end(&w);
        return;
    }
    close_event(r, &w);
    qn_buf_str(r->out, "data: [DONE]\n\n");
}

const struct qn_dialect qn_openai_transcribe = {
    .task = QN_TASK_TRANSCRIBE,
    .stream_type = "text/event-stream",
    .form = true,
    .installs = true,
    .parse = parse_transcribe,
    .begin = begin,
    .event = event,
    .end = end,
    .fail = qn_openai_fail,
    .ping = qn_openai_ping,
    .free = free_heard,
};

const struct qn_dialect qn_openai_translate = {
    .task = QN_TASK_TRANSCRIBE,
    .stream_type = "text/event-stream",
    .form = true,
    .installs = true,
    .parse = parse_translate,
    .begin = begin,
    .event = event,
    .end = end,
    .fail = qn_openai_fail,
    .ping = qn_openai_ping,
    .free = free_heard,
};
