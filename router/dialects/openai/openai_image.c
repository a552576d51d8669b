/* POST images/generations (JSON), images/edits and images/variations (forms): descriptions and
 * images in, images out. Names and shapes: https://platform.openai.com/docs/api-reference/images;
 * width, height, steps, cfg_scale, sample_method, flow_shift and upscaling are Lemonade's. An image
 * is written as base64; a client that asks for a URL gets a data URL (RFC 2397), because the server
 * stores no images. */
#include "dialects/openai/openai.h"
#include "dialects/shared/form.h"

#include "answers/answer.h"
#include "base/str.h"
#include "contract/codec.h"
#include "digest/base64.h"
#include "formats/magic.h"

#include <stdlib.h>
#include <string.h>

enum {
    PROMPT_CHARS = 32000,
    METHOD_CHARS = 32,
    N_MAX = 10,
    PICTURES_MAX = QN_JOB_EDIT_PICTURES_MAX,
    SIZE_TEXT = 16
};

/* Members read here, and OpenAI's members without effect: the end user, and features of its own
 * models. */
static const char *const known[] = {"prompt",
                                    "negative_prompt",
                                    "size",
                                    "width",
                                    "height",
                                    "n",
                                    "response_format",
                                    "steps",
                                    "cfg_scale",
                                    "strength",
                                    "seed",
                                    "sample_method",
                                    "flow_shift",
                                    "output_format",
                                    "image",
                                    "mask",
                                    "user",
                                    "background",
                                    "quality",
                                    "input_fidelity",
                                    "style",
                                    "moderation",
                                    "output_compression",
                                    "partial_images",
                                    NULL};

struct ask {
    enum qn_image_kind kind;
    bool url;
    const char *format; /* "png" */
    const char *size;   /* "512x512", or NULL */
};

/* A generated image. */
struct picture {
    char *data; /* NULL: not received yet */
    size_t len;
};

struct pictures {
    size_t n;
    struct picture v[QN_JOB_CHOICES_MAX];
};

/* ---- parse ---- */

/* Reads "512x512"; "auto" is the model's own size. */
static qn_err read_size(const struct qn_request *rq, const struct qn_jref *root,
                        struct qn_image *image, struct qn_error *e)
{
    struct qn_jref v = qn_json_get(root, "size"), side;
    const char *text = NULL;
    qn_err err = qn_json_str_opt(&v, &text, e);
    if (!err && text && *text && !qn_str_eq(text, "auto")) {
        char w[SIZE_TEXT], *h = NULL;
        if (strlen(text) < sizeof w) {
            strcpy(w, text);
            h = strchr(w, 'x');
        }
        if (h)
            *h++ = '\0';
        if (!h || !qn_parse_i64(w, &image->width) || !qn_parse_i64(h, &image->height))
            return qn_json_fail(
                &v, e, "'%.40s' is not a size: give WIDTHxHEIGHT, for example 512x512", text);
        if (image->width < QN_JOB_SIDE_MIN || image->width > QN_JOB_SIDE_MAX ||
            image->height < QN_JOB_SIDE_MIN || image->height > QN_JOB_SIDE_MAX)
            return qn_json_fail(&v, e, "each side has %d to %d pixels", QN_JOB_SIDE_MIN,
                                QN_JOB_SIDE_MAX);
    }
    /* width and height override size */
    int64_t width = image->width, height = image->height;
    side = qn_json_get(root, "width");
    if (!err)
        err = qn_form_i64(rq, &side, QN_JOB_SIDE_MIN, QN_JOB_SIDE_MAX, &width, e);
    side = qn_json_get(root, "height");
    if (!err)
        err = qn_form_i64(rq, &side, QN_JOB_SIDE_MIN, QN_JOB_SIDE_MAX, &height, e);
    if (!err && (width == QN_UNSET) != (height == QN_UNSET))
        err = qn_fail_param(e, QN_EINVAL, width == QN_UNSET ? "width" : "height",
                            "give both width and height, or size");
    image->width = width;
    image->height = height;
    return err;
}

/* Reads the number of denoising steps, under any of its names. */
static qn_err read_steps(const struct qn_request *rq, const struct qn_jref *root,
                         struct qn_job *job, struct qn_error *e)
{
    struct qn_image *image = &job->image;
    int64_t seed = -1;
    struct qn_jref v = qn_json_get(root, "steps");
    qn_err err = qn_form_i64(rq, &v, 1, QN_JOB_STEPS_MAX, &image->steps, e);
    const struct {
        const char *name;
        double max, *to;
    } numbers[] = {{"cfg_scale", 100, &image->cfg_scale},
                   {"strength", 1, &image->strength},
                   {"flow_shift", 100, &image->flow_shift}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && !err; i++) {
        v = qn_json_get(root, numbers[i].name);
        err = qn_form_f64(rq, &v, 0, numbers[i].max, numbers[i].to, e);
    }
    v = qn_json_get(root, "seed");
    if (!err)
        err = qn_form_i64(rq, &v, -1, INT64_C(1) << 53, &seed, e);
    if (seed >= 0) /* -1 means random */
        job->sampling.seed = seed;
    v = qn_json_get(root, "sample_method");
    return err ? err : qn_form_text(&v, METHOD_CHARS, &image->sample_method, e);
}

/* Reads the form in which images are returned. */
static qn_err read_answer(struct qn_request *rq, const struct qn_jref *root, struct ask *ask,
                          struct qn_job *job, struct qn_error *e)
{
    static const char *const formats[] = {"png", "jpeg", "webp"};
    struct qn_jref v = qn_json_get(root, "response_format");
    const char *name = "b64_json";
    int64_t n = 1, partial = 0;
    qn_err err = qn_json_str_opt(&v, &name, e);
    ask->url = qn_str_eq(name, "url");
    if (!err && !ask->url && !qn_str_eq(name, "b64_json"))
        err = qn_json_fail(&v, e, "'%.40s' is not one of b64_json, url", name);
    v = qn_json_get(root, "output_format");
    name = "png";
    if (!err)
        err = qn_json_str_opt(&v, &name, e);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (qn_str_eq(name, formats[i]))
            ask->format = job->image.format = formats[i];
    if (!err && !ask->format)
        err = qn_json_fail(&v, e, "'%.40s' is not one of png, jpeg, webp", name);
    v = qn_json_get(root, "n");
    if (!err && qn_form_i64(rq, &v, 1, N_MAX, &n, NULL))
        err = qn_fail_param(e, QN_EINVAL, "n", "Invalid value for 'n': must be between 1 and %d",
                            N_MAX);
    job->sampling.n = n;
    v = qn_json_get(root, "partial_images"); /* an upper limit, which no partial images satisfy */
    if (!err)
        err = qn_form_i64(rq, &v, 0, 3, &partial, e);
    v = qn_json_get(root, "stream");
    return err ? err : qn_form_bool(rq, &v, &rq->stream, e);
}

static qn_err read_prompts(const struct qn_jref *root, struct qn_image *image, struct qn_error *e)
{
    struct qn_jref v = qn_json_get(root, "prompt");
    if (image->kind == QN_IMAGE_VARIATION)
        return QN_OK; /* only the images are needed */
    qn_err err = qn_form_text(&v, PROMPT_CHARS, &image->prompt, e);
    if (!err && (!image->prompt || !*image->prompt))
        err = qn_form_missing("prompt", e);
    v = qn_json_get(root, "negative_prompt");
    return err ? err : qn_form_text(&v, PROMPT_CHARS, &image->negative_prompt, e);
}

static qn_err check_picture(const char *name, const char *data, size_t len, struct qn_error *e)
{
    if (!len)
        return qn_fail_param(e, QN_EINVAL, name, "%s: it is empty", name);
    if (!qn_magic_image(data, len))
        return qn_fail_param(e, QN_EINVAL, name, "%s: this is not a PNG, JPEG or WebP image", name);
    return QN_OK;
}

/* Adds the form's images of one field to those of the job. */
static qn_err read_pictures(const struct qn_request *rq, const char *name,
                            enum qn_attachment_role role, size_t max, struct qn_job *job,
                            struct qn_error *e)
{
    const struct qn_part *files[PICTURES_MAX];
    size_t n = qn_form_files(rq, name, files, max);
    if (n > max)
        return qn_fail_param(e, QN_EINVAL, name, "%s: at most %zu may be given, not %zu", name, max,
                             n);
    for (size_t i = 0; i < n; i++) {
        qn_err err = check_picture(name, files[i]->data, files[i]->len, e);
        if (err)
            return err;
        job->attachments.v[job->attachments.n++] = (struct qn_attachment){
            .role = role, .data = files[i]->data, .bytes = (int64_t)files[i]->len};
    }
    return QN_OK;
}

static qn_err parse_as(struct qn_request *rq, enum qn_image_kind kind, struct qn_error *e)
{
    struct qn_jref root = qn_json_root(rq->doc);
    struct ask *ask = qn_arena_alloc(rq->arena, sizeof *ask);
    struct qn_job *job;
    rq->own = ask;
    ask->kind = kind;
    qn_err err = qn_form_job(rq, QN_TASK_IMAGE, &job, e);
    if (err)
        return err;
    struct qn_image *image = &job->image;
    image->kind = kind;
    job->attachments.v = qn_arena_alloc(rq->arena, (PICTURES_MAX + 1) * sizeof *job->attachments.v);
    if (kind != QN_IMAGE_GENERATE) {
        size_t most = kind == QN_IMAGE_EDIT ? PICTURES_MAX : 1;
        err = read_pictures(rq, "image", QN_ATTACHMENT_IMAGE, most, job, e);
        if (!err && !job->attachments.n)
            err = qn_form_missing("image", e);
    }
    if (!err && kind == QN_IMAGE_EDIT)
        err = read_pictures(rq, "mask", QN_ATTACHMENT_MASK, 1, job, e);
    if (err || (err = read_prompts(&root, image, e)) || (err = read_size(rq, &root, image, e)) ||
        (err = read_steps(rq, &root, job, e)))
        return err;
    if ((err = read_answer(rq, &root, ask, job, e))) {
        rq->stream = false; /* not streamed */
        return err;
    }
    if (image->width != QN_UNSET)
        ask->size =
            qn_arena_fmt(rq->arena, "%lldx%lld", (long long)image->width, (long long)image->height);
    qn_openai_unknown(&root, "images", known);
    return QN_OK;
}

static qn_err parse_generate(struct qn_request *rq, struct qn_error *e)
{
    return parse_as(rq, QN_IMAGE_GENERATE, e);
}

static qn_err parse_edit(struct qn_request *rq, struct qn_error *e)
{
    return parse_as(rq, QN_IMAGE_EDIT, e);
}

static qn_err parse_vary(struct qn_request *rq, struct qn_error *e)
{
    return parse_as(rq, QN_IMAGE_VARIATION, e);
}

/* Decodes the image of an upscaling: base64, possibly in a data URL. */
static qn_err decode_picture(struct qn_request *rq, const char *text, struct qn_job *job,
                             struct qn_error *e)
{
    const char *comma = qn_str_starts(text, "data:") ? strchr(text, ',') : NULL;
    if (comma)
        text = comma + 1;
    size_t n = strlen(text), len;
    char *data = qn_arena_try(rq->arena, n / 4 * 3 + 3);
    if (!data)
        return qn_fail_param(e, QN_ELIMIT, "image", "image: it is too large");
    if (!qn_base64_decode(text, n, data, &len))
        return qn_fail_param(e, QN_EINVAL, "image", "image: this is not base64");
    qn_err err = check_picture("image", data, len, e);
    struct qn_attachment *picture = qn_arena_alloc(rq->arena, sizeof *picture);
    *picture =
        (struct qn_attachment){.role = QN_ATTACHMENT_IMAGE, .data = data, .bytes = (int64_t)len};
    job->attachments = (struct qn_attachments){picture, 1};
    return err;
}

/* Messages for missing members are Lemonade's. */
static qn_err parse_upscale(struct qn_request *rq, struct qn_error *e)
{
    struct qn_jref root = qn_json_root(rq->doc), v = qn_json_get(&root, "image");
    struct ask *ask = qn_arena_alloc(rq->arena, sizeof *ask);
    struct qn_job *job;
    const char *text = NULL, *model = NULL;
    rq->own = ask;
    ask->kind = QN_IMAGE_UPSCALE;
    qn_err err = qn_json_str_opt(&v, &text, e);
    if (err)
        return err;
    if (!text || !*text)
        return qn_fail_param(e, QN_EINVAL, "image", "Missing 'image' field (base64 encoded)");
    v = qn_json_get(&root, "model");
    if ((err = qn_json_str_opt(&v, &model, e)))
        return err;
    if (!model || !*model)
        return qn_fail_param(e, QN_EINVAL, "model", "Missing 'model' field");
    if ((err = qn_form_job(rq, QN_TASK_IMAGE, &job, e)))
        return err;
    job->image.kind = QN_IMAGE_UPSCALE;
    if ((err = read_answer(rq, &root, ask, job, e)) || (err = decode_picture(rq, text, job, e))) {
        rq->stream = false;
        return err;
    }
    job->sampling.n = 1;
    qn_openai_unknown(&root, "images/upscale", known);
    return QN_OK;
}

/* ---- reply ---- */

static void begin(struct qn_reply *r)
{
    struct pictures *p = qn_xcalloc(1, sizeof *p);
    p->n = (size_t)r->rq->jobs->sampling.n;
    r->own = p;
}

static void free_pictures(void *own)
{
    struct pictures *p = own;
    for (size_t i = 0; p && i < p->n; i++)
        free(p->v[i].data);
    free(p);
}

/* Writes "b64_json" or "url" directly into the reply, because images are large. */
static void write_picture(struct qn_reply *r, const struct picture *p, struct qn_jw *w)
{
    const struct ask *ask = r->rq->own;
    qn_jw_key(w, ask->url ? "url" : "b64_json");
    qn_jw_raw(w, "\"", 1);
    if (ask->url)
        qn_buf_fmt(r->out, "data:image/%s;base64,", ask->format);
    qn_base64_add(r->out, p->data, p->len);
    qn_buf_char(r->out, '"');
}

static void write_facts(const struct qn_reply *r, struct qn_jw *w)
{
    const struct ask *ask = r->rq->own;
    qn_jw_kstr(w, "output_format", ask->format);
    if (ask->size)
        qn_jw_kstr(w, "size", ask->size);
}

/* Streams: writes one event for each image. */
static void tell_picture(struct qn_reply *r, const struct picture *p)
{
    const struct ask *ask = r->rq->own;
    const char *type =
        ask->kind == QN_IMAGE_GENERATE ? "image_generation.completed" : "image_edit.completed";
    qn_buf_fmt(r->out, "event: %s\ndata: ", type);
    struct qn_jw w = qn_jw_to(r->out);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "type", type);
    qn_jw_ki64(&w, "created_at", r->created_s);
    write_facts(r, &w);
    write_picture(r, p, &w);
    qn_jw_obj_end(&w);
    qn_buf_str(r->out, "\n\n");
}

static qn_err take_picture(struct qn_reply *r, const struct qn_event *ev, struct qn_error *e)
{
    struct pictures *p = r->own;
    const struct ask *ask = r->rq->own;
    if (ev->index < 0 || (size_t)ev->index >= p->n || p->v[ev->index].data)
        return qn_fail(e, QN_ECHILD, "the model's process sent an image that was not requested");
    if (!qn_str_eq(ev->format, ask->format))
        return qn_fail(e, QN_ECHILD, "the model's process sent %.16s instead of %s", ev->format,
                       ask->format);
    struct picture *it = &p->v[ev->index];
    it->len = (size_t)ev->bytes;
    it->data = qn_alloc_sized(it->len, 1, QN_REPLY_MAX);
    if (!it->data)
        return qn_fail(e, QN_ENOMEM, "there is no memory for an image of %zu bytes", it->len);
    memcpy(it->data, ev->data, it->len);
    if (r->rq->stream)
        tell_picture(r, it);
    return QN_OK;
}

static qn_err event(struct qn_reply *r, size_t job, const struct qn_event *ev, struct qn_error *e)
{
    struct pictures *p = r->own;
    (void)job;
    if (ev->kind == QN_EV_IMAGE)
        return take_picture(r, ev, e);
    if (ev->kind == QN_EV_DONE &&
        (ev->index < 0 || (size_t)ev->index >= p->n || !p->v[ev->index].data))
        return qn_fail(e, QN_ECHILD, "the model's process sent too few images");
    return QN_OK;
}

static void end(struct qn_reply *r)
{
    const struct pictures *p = r->own;
    if (r->rq->stream)
        return; /* every image has been written */
    struct qn_jw w = qn_jw_to(r->out);
    qn_jw_obj(&w);
    qn_jw_ki64(&w, "created", r->created_s);
    qn_jw_key(&w, "data");
    qn_jw_arr(&w);
    for (size_t i = 0; i < p->n; i++) {
        qn_jw_obj(&w);
        write_picture(r, &p->v[i], &w);
        qn_jw_obj_end(&w);
    }
    qn_jw_arr_end(&w);
    write_facts(r, &w);
    qn_jw_obj_end(&w);
}

/* Replaces messages of failures by those that Lemonade's clients expect for upscaling. The cause is
 * in the log; errors of the request, and of loading the model, are reported as elsewhere. */
static void reword_upscale(const struct qn_request *rq, struct qn_problem *p,
                           struct qn_error *words)
{
    (void)rq;
    if (p->loading)
        return;
    if (p->error->code == QN_ENOTFOUND) {
        qn_fail_param(words, QN_ENOTFOUND, "model", "Upscale model not found: %s", p->model);
        p->type = "invalid_request_error";
        p->error = words;
    } else if (p->error->code == QN_ECHILD || p->error->code == QN_EINTERNAL ||
               p->error->code == QN_EIO) {
        qn_fail(words, QN_EINTERNAL, "ESRGAN upscale failed");
        p->error = words;
    }
}

#define IMAGE_DIALECT                                                                              \
    .task = QN_TASK_IMAGE, .stream_type = "text/event-stream", .begin = begin, .event = event,     \
    .end = end, .fail = qn_openai_fail, .ping = qn_openai_ping, .free = free_pictures

const struct qn_dialect qn_openai_generate = {IMAGE_DIALECT, .parse = parse_generate};
const struct qn_dialect qn_openai_edit = {IMAGE_DIALECT, .parse = parse_edit, .form = true};
const struct qn_dialect qn_openai_vary = {IMAGE_DIALECT, .parse = parse_vary, .form = true};
const struct qn_dialect qn_upscale = {IMAGE_DIALECT, .parse = parse_upscale,
                                      .reword = reword_upscale};
