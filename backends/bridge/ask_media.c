/* Requests for audio and images: multipart forms if they contain files, else JSON. See ask.h. */
#include "bridge/ask_private.h"

#include "base/json.h"
#include "base/rand.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BOUNDARY_DIGITS = 32, SIZE_BYTES = 48 };

/* A multipart form that is written to a buffer. The field names are constants of this file; values
 * and files may have any content except the boundary, which is random. */
struct form {
    struct qn_buf *out;
    char boundary[BOUNDARY_DIGITS + 1];
};

static void form_begin(struct form *f, struct qn_engine_call *ask)
{
    f->out = &ask->body;
    qn_random_hex(f->boundary, BOUNDARY_DIGITS);
    snprintf(ask->content_type, sizeof ask->content_type, "multipart/form-data; boundary=%s",
             f->boundary);
}

static void form_text(struct form *f, const char *name, const char *value)
{
    qn_buf_fmt(f->out, "--%s\r\nContent-Disposition: form-data; name=\"%s\"\r\n\r\n", f->boundary,
               name);
    qn_buf_str(f->out, value);
    qn_buf_str(f->out, "\r\n");
}

static void form_number(struct form *f, const char *name, double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.9g", value);
    form_text(f, name, text);
}

static void form_file(struct form *f, const char *name, const char *filename, const char *type,
                      const struct qn_attachment *p)
{
    qn_buf_fmt(f->out,
               "--%s\r\nContent-Disposition: form-data; name=\"%s\"; filename=\"%s\"\r\n"
               "Content-Type: %s\r\n\r\n",
               f->boundary, name, filename, type);
    qn_buf_add(f->out, p->data, (size_t)p->bytes);
    qn_buf_str(f->out, "\r\n");
}

static void form_end(struct form *f)
{
    qn_buf_fmt(f->out, "--%s--\r\n", f->boundary);
}

/* A file name for audio data, with the extension that its first bytes imply, because servers
 * recognise the format by the extension. */
static const char *sound_name(const struct qn_attachment *p)
{
    static const struct {
        size_t at;
        const char *magic, *name;
    } kinds[] = {
        {8, "WAVE", "sound.wav"},     {0, "OggS", "sound.ogg"},
        {0, "fLaC", "sound.flac"},    {0, "ID3", "sound.mp3"},
        {4, "ftyp", "sound.m4a"},     {0, "\x1a\x45\xdf\xa3", "sound.webm"},
        {0, "\xff\xfb", "sound.mp3"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t n = strlen(kinds[i].magic);
        if ((size_t)p->bytes >= kinds[i].at + n &&
            !memcmp(p->data + kinds[i].at, kinds[i].magic, n))
            return kinds[i].name;
    }
    return "sound.wav";
}

qn_err qn_ask_transcribe(const struct qn_job *job, const struct qn_ask_to *to,
                         struct qn_engine_call *out, struct qn_error *e)
{
    const struct qn_transcribe *t = &job->transcribe;
    bool whisper = to->api == QN_API_WHISPER;
    struct form f;
    if (job->attachments.n < 1)
        return qn_fail(e, QN_EINVAL, "a transcription without audio");
    out->path = whisper        ? "/inference"
                : t->translate ? "/audio/translations"
                               : "/audio/transcriptions";
    form_begin(&f, out);
    if (to->model && !whisper)
        form_text(&f, "model", to->model);
    form_text(&f, "response_format", "verbose_json");
    if (whisper && t->translate)
        form_text(&f, "translate", "true");
    if (t->language || whisper)
        form_text(&f, "language", t->language ? t->language : "auto");
    if (t->prompt)
        form_text(&f, "prompt", t->prompt);
    if (!isnan(job->sampling.temperature))
        form_number(&f, "temperature", job->sampling.temperature);
    if (t->words && !whisper) {
        form_text(&f, "timestamp_granularities[]", "word");
        form_text(&f, "timestamp_granularities[]", "segment");
    }
    form_file(&f, "file", sound_name(&job->attachments.v[0]), "application/octet-stream",
              &job->attachments.v[0]);
    form_end(&f);
    return QN_OK;
}

qn_err qn_ask_speak(const struct qn_job *job, const struct qn_ask_to *to,
                    struct qn_engine_call *out, struct qn_error *e)
{
    const struct qn_speak *s = &job->speak;
    struct qn_jw w = qn_jw_to(&out->body);
    (void)e;
    out->path = "/audio/speech";
    qn_jw_obj(&w);
    if (to->model)
        qn_jw_kstr(&w, "model", to->model);
    qn_jw_kstr(&w, "input", s->input);
    if (s->voice)
        qn_jw_kstr(&w, "voice", s->voice);
    if (s->instructions)
        qn_jw_kstr(&w, "instructions", s->instructions);
    if (!isnan(s->speed))
        qn_jw_kf64(&w, "speed", s->speed);
    qn_jw_kstr(&w, "response_format", s->format);
    qn_jw_obj_end(&w);
    return QN_OK;
}

/* Appends the parameters that OpenAI's image API lacks, in the form in which sd-server extracts
 * them from the prompt. */
static void write_extra(const struct qn_job *job, struct qn_buf *prompt)
{
    const struct qn_image *i = &job->image;
    struct qn_jw w = qn_jw_to(prompt);
    qn_buf_str(prompt, " <sd_cpp_extra_args>");
    qn_jw_obj(&w);
    if (i->negative_prompt)
        qn_jw_kstr(&w, "negative_prompt", i->negative_prompt);
    if (job->sampling.seed != QN_UNSET)
        qn_jw_ki64(&w, "seed", job->sampling.seed);
    if (!isnan(i->strength))
        qn_jw_kf64(&w, "strength", i->strength);
    qn_jw_key(&w, "sample_params");
    qn_jw_obj(&w);
    if (i->steps != QN_UNSET)
        qn_jw_ki64(&w, "sample_steps", i->steps);
    if (i->sample_method)
        qn_jw_kstr(&w, "sample_method", i->sample_method);
    if (!isnan(i->flow_shift))
        qn_jw_kf64(&w, "flow_shift", i->flow_shift);
    if (!isnan(i->cfg_scale)) {
        qn_jw_key(&w, "guidance");
        qn_jw_obj(&w);
        qn_jw_kf64(&w, "txt_cfg", i->cfg_scale);
        qn_jw_obj_end(&w);
    }
    qn_jw_obj_end(&w);
    qn_jw_obj_end(&w);
    qn_buf_str(prompt, "</sd_cpp_extra_args>");
}

static const char *size_of(const struct qn_image *i, char out[static SIZE_BYTES])
{
    if (i->width == QN_UNSET || i->height == QN_UNSET)
        return NULL;
    snprintf(out, SIZE_BYTES, "%lldx%lld", (long long)i->width, (long long)i->height);
    return out;
}

static void ask_picture(const struct qn_job *job, const struct qn_ask_to *to, const char *prompt,
                        struct qn_engine_call *out)
{
    struct qn_jw w = qn_jw_to(&out->body);
    char size[SIZE_BYTES];
    out->path = "/images/generations";
    qn_jw_obj(&w);
    if (to->model)
        qn_jw_kstr(&w, "model", to->model);
    qn_jw_kstr(&w, "prompt", prompt);
    if (job->sampling.n != QN_UNSET)
        qn_jw_ki64(&w, "n", job->sampling.n);
    if (size_of(&job->image, size))
        qn_jw_kstr(&w, "size", size);
    if (to->api == QN_API_SD)
        qn_jw_kstr(&w, "output_format", job->image.format);
    else
        qn_jw_kstr(&w, "response_format", "b64_json");
    qn_jw_obj_end(&w);
}

static void ask_changed_picture(const struct qn_job *job, const struct qn_ask_to *to,
                                const char *prompt, struct qn_engine_call *out)
{
    struct form f;
    char size[SIZE_BYTES];
    bool edit = job->image.kind == QN_IMAGE_EDIT || to->api == QN_API_SD;
    out->path = edit ? "/images/edits" : "/images/variations";
    form_begin(&f, out);
    if (to->model)
        form_text(&f, "model", to->model);
    if (edit)
        form_text(&f, "prompt", prompt);
    if (job->sampling.n != QN_UNSET)
        form_number(&f, "n", (double)job->sampling.n);
    if (size_of(&job->image, size))
        form_text(&f, "size", size);
    if (to->api == QN_API_SD)
        form_text(&f, "output_format", job->image.format);
    else
        form_text(&f, "response_format", "b64_json");
    for (size_t i = 0; i < job->attachments.n; i++) {
        const struct qn_attachment *p = &job->attachments.v[i];
        const char *name = p->role == QN_ATTACHMENT_MASK ? "mask" : edit ? "image[]" : "image";
        form_file(&f, name, "picture.png", "image/png", p);
    }
    form_end(&f);
}

qn_err qn_ask_image(const struct qn_job *job, const struct qn_ask_to *to,
                    struct qn_engine_call *out, struct qn_error *e)
{
    struct qn_buf prompt;
    if (job->image.kind == QN_IMAGE_UPSCALE)
        return qn_fail(e, QN_EUNSUPPORTED, "the server behind this model cannot upscale images");
    qn_buf_init(&prompt, QN_ASK_BODY_MAX);
    qn_buf_str(&prompt, job->image.prompt ? job->image.prompt : "");
    if (to->api == QN_API_SD)
        write_extra(job, &prompt);
    if (job->image.kind == QN_IMAGE_GENERATE)
        ask_picture(job, to, qn_buf_cstr(&prompt), out);
    else
        ask_changed_picture(job, to, qn_buf_cstr(&prompt), out);
    qn_buf_deinit(&prompt);
    return QN_OK;
}
