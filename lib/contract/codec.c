/* The field tables of jobs and events, see codec.h. Names, types and ranges of the fields that
 * router and child exchange stand here and in message_codec.c, and in no other place. */
#include "contract/codec.h"

#include "base/str.h"
#include "contract/fields.h"
#include "contract/message_codec.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))

enum { SECONDS_MAX = 1000000000, RATE_HZ_MAX = 768000 };

#define S(name, type, ...)                                                                         \
    {                                                                                              \
#name, type, offsetof(struct qn_sampling, name), __VA_ARGS__                               \
    }
static const struct qn_field sampling_fields[] = {
#define WHOLE(name, least, most) S(name, QN_F_I64, .min = least, .max = most),
#define REAL(name, least, most) S(name, QN_F_F64, .min = least, .max = most),
    /* clang-format off */
    QN_SAMPLING_NUMBERS(WHOLE, REAL)
    /* clang-format on */
    S(max_with_prompt, QN_F_BOOL, .min = 0),
    S(stop, QN_F_STRS, .max = QN_JOB_STOPS_MAX),
    S(logit_bias, QN_F_BIASES, .max = QN_JOB_LOGIT_BIAS_MAX),
    S(ignore_eos, QN_F_BOOL, .min = 0),
    S(no_reuse, QN_F_BOOL, .min = 0),
    S(lora, QN_F_LORAS, .max = QN_JOB_LORAS_MAX),
};

static const char *tool_choice_name(int v)
{
    return qn_tool_choice_name((enum qn_tool_choice)v);
}

#define C(name, type, ...)                                                                         \
    {                                                                                              \
#name, type, offsetof(struct qn_chat, name), __VA_ARGS__                                   \
    }
static const struct qn_field chat_fields[] = {
    C(messages, QN_F_LIST, .max = QN_MESSAGES_MAX, .items = &qn_message_items),
    C(tools, QN_F_ARRAY, .min = 0),
    C(documents, QN_F_ARRAY, .min = 0),
    C(template_vars, QN_F_OBJECT, .min = 0),
    C(template_text, QN_F_STR, .max = QN_JOB_PROMPT_BYTES_MAX),
    C(before, QN_F_I64S, .max = QN_JOB_PROMPT_BYTES_MAX),
    C(continue_last, QN_F_BOOL, .min = 0),
    C(tool_choice, QN_F_ENUM, .enum_name = tool_choice_name, .enum_count = QN_TOOLS_COUNT),
    C(tool_name, QN_F_STR, .max = QN_JOB_TOOL_NAME_MAX),
    C(single_call, QN_F_BOOL, .min = 0),
    C(think, QN_F_I64, .min = 0, .max = 1),
    C(think_budget, QN_F_I64, .min = 0, .max = INT32_MAX),
    C(effort, QN_F_STR, .max = QN_JOB_EFFORT_MAX),
    C(reasoning_in_text, QN_F_BOOL, .min = 0),
};

#define P(name, type, ...)                                                                         \
    {                                                                                              \
#name, type, offsetof(struct qn_complete, name), __VA_ARGS__                               \
    }
static const struct qn_field complete_fields[] = {
    P(prompt, QN_F_STR, .max = QN_JOB_PROMPT_BYTES_MAX),
    P(prompt_tokens, QN_F_I64S, .max = QN_JOB_PROMPT_BYTES_MAX),
    P(echo, QN_F_BOOL, .min = 0),
    P(suffix, QN_F_STR, .max = QN_JOB_PROMPT_BYTES_MAX),
    P(bare, QN_F_BOOL, .min = 0),
};

#define M(name, type, ...)                                                                         \
    {                                                                                              \
#name, type, offsetof(struct qn_embed, name), __VA_ARGS__                                  \
    }
static const struct qn_field embed_fields[] = {
    M(count, QN_F_I64, .min = 0, .max = QN_JOB_INPUTS_MAX),
    M(query, QN_F_STR, .max = QN_JOB_PROMPT_BYTES_MAX),
    M(dimensions, QN_F_I64, .min = 1, .max = QN_JOB_DIMENSIONS_MAX),
};

#define T(name, type, ...)                                                                         \
    {                                                                                              \
#name, type, offsetof(struct qn_transcribe, name), __VA_ARGS__                             \
    }
static const struct qn_field transcribe_fields[] = {
    T(translate, QN_F_BOOL, .min = 0),
    T(language, QN_F_STR, .max = QN_JOB_LANGUAGE_MAX),
    T(prompt, QN_F_STR, .max = QN_JOB_PROMPT_BYTES_MAX),
    T(words, QN_F_BOOL, .min = 0),
};

#define V(name, type, ...)                                                                         \
    {                                                                                              \
#name, type, offsetof(struct qn_speak, name), __VA_ARGS__                                  \
    }
static const struct qn_field speak_fields[] = {
    V(input, QN_F_STR, .max = QN_JOB_PROMPT_BYTES_MAX),
    V(voice, QN_F_STR, .max = QN_JOB_VOICE_MAX),
    V(instructions, QN_F_STR, .max = QN_JOB_PROMPT_BYTES_MAX),
    V(language, QN_F_STR, .max = QN_JOB_LANGUAGE_MAX),
    V(speed, QN_F_F64, .min = 0.25, .max = 4),
    V(format, QN_F_STR, .max = QN_JOB_FORMAT_MAX),
};

static const char *image_kind_name(int v)
{
    return qn_image_kind_name((enum qn_image_kind)v);
}

#define I(name, type, ...)                                                                         \
    {                                                                                              \
#name, type, offsetof(struct qn_image, name), __VA_ARGS__                                  \
    }
static const struct qn_field image_fields[] = {
    I(kind, QN_F_ENUM, .enum_name = image_kind_name, .enum_count = QN_IMAGE_COUNT),
    I(prompt, QN_F_STR, .max = QN_JOB_PROMPT_BYTES_MAX),
    I(negative_prompt, QN_F_STR, .max = QN_JOB_PROMPT_BYTES_MAX),
    I(width, QN_F_I64, .min = QN_JOB_SIDE_MIN, .max = QN_JOB_SIDE_MAX),
    I(height, QN_F_I64, .min = QN_JOB_SIDE_MIN, .max = QN_JOB_SIDE_MAX),
    I(steps, QN_F_I64, .min = 1, .max = QN_JOB_STEPS_MAX),
    I(cfg_scale, QN_F_F64, .min = 0, .max = 100),
    I(strength, QN_F_F64, .min = 0, .max = 1),
    I(flow_shift, QN_F_F64, .min = 0, .max = 100),
    I(sample_method, QN_F_STR, .max = QN_JOB_METHOD_MAX),
    I(format, QN_F_STR, .max = QN_JOB_FORMAT_MAX),
};

#define J(wire, member, type, ...)                                                                 \
    {                                                                                              \
        wire, type, offsetof(struct qn_job, member), __VA_ARGS__                                   \
    }
static const struct qn_field job_fields[] = {
    J("schema", constrain.schema, QN_F_OBJECT, .min = 0),
    J("grammar", constrain.grammar, QN_F_STR, .max = QN_JOB_CONSTRAINT_BYTES_MAX),
    J("truncate", truncate, QN_F_BOOL, .min = 0),
    J("count_only", count_only, QN_F_BOOL, .min = 0),
    J("want_tokens", want_tokens, QN_F_BOOL, .min = 0),
    J("owner_salt", owner_salt, QN_F_HEX64, .min = 0),
    J("attachments", attachments, QN_F_LIST, .max = QN_JOB_ATTACHMENTS_MAX,
      .items = &qn_attachment_items),
};

static const char *finish_name(int v)
{
    return qn_finish_name((enum qn_finish)v);
}

#define E(wire, member, type, ...)                                                                 \
    {                                                                                              \
        wire, type, offsetof(struct qn_event, member), __VA_ARGS__                                 \
    }
static const struct qn_field progress_fields[] = {
    E("done", done, QN_F_I64, .min = 0, .max = QN_JOB_WHOLE_MAX),
    E("total", total, QN_F_I64, .min = 0, .max = QN_JOB_WHOLE_MAX),
    E("reused", reused, QN_F_I64, .min = 0, .max = QN_JOB_WHOLE_MAX),
};
static const struct qn_field text_fields[] = {
    E("index", index, QN_F_I64, .min = 0, .max = QN_JOB_CHOICES_MAX - 1),
    E("text", text, QN_F_STR, .min = 0),
    E("logprobs", logprobs, QN_F_ARRAY, .min = 0),
};
static const struct qn_field tool_call_fields[] = {
    E("index", index, QN_F_I64, .min = 0, .max = QN_JOB_CHOICES_MAX - 1),
    E("call", call, QN_F_I64, .min = 0, .max = QN_EVENT_CALLS_MAX - 1),
    E("id", call_id, QN_F_STR, .max = QN_EVENT_CALL_ID_MAX),
    E("name", name, QN_F_STR, .max = QN_JOB_TOOL_NAME_MAX),
    E("arguments", arguments, QN_F_STR, .min = 0),
};
static const struct qn_field done_fields[] = {
    E("index", index, QN_F_I64, .min = 0, .max = QN_JOB_CHOICES_MAX - 1),
    E("reason", finish, QN_F_ENUM, .enum_name = finish_name, .enum_count = QN_FINISH_COUNT),
    E("stop", stop, QN_F_STR, .min = 0),
    E("tokens", tokens, QN_F_ARRAY, .min = 0),
    E("language", language, QN_F_STR, .max = QN_JOB_LANGUAGE_MAX),
};
static const struct qn_field segment_fields[] = {
    E("text", text, QN_F_STR, .min = 0),
    E("start", segment.start_s, QN_F_F64, .min = 0, .max = SECONDS_MAX),
    E("end", segment.end_s, QN_F_F64, .min = 0, .max = SECONDS_MAX),
    E("temperature", segment.temperature, QN_F_F64, .min = 0, .max = 100),
    E("avg_logprob", segment.avg_logprob, QN_F_F64, .min = -DBL_MAX, .max = 0),
    E("compression_ratio", segment.compression_ratio, QN_F_F64, .min = 0, .max = DBL_MAX),
    E("no_speech_prob", segment.no_speech_prob, QN_F_F64, .min = 0, .max = 1),
    E("words", segment.words, QN_F_ARRAY, .min = 0),
    E("tokens", tokens, QN_F_ARRAY, .min = 0),
    E("logprobs", logprobs, QN_F_ARRAY, .min = 0),
};
static const struct qn_field audio_fields[] = {
    E("format", format, QN_F_STR, .max = QN_JOB_FORMAT_MAX),
    E("rate_hz", rate_hz, QN_F_I64, .min = 1, .max = RATE_HZ_MAX),
    E("bytes", bytes, QN_F_I64, .min = 1, .max = QN_FRAME_BYTES_MAX),
};
static const struct qn_field image_event_fields[] = {
    E("index", index, QN_F_I64, .min = 0, .max = QN_JOB_CHOICES_MAX - 1),
    E("format", format, QN_F_STR, .max = QN_JOB_FORMAT_MAX),
    E("bytes", bytes, QN_F_I64, .min = 1, .max = QN_FRAME_BYTES_MAX),
};
static const struct qn_field results_fields[] = {
    E("index", index, QN_F_I64, .min = 0, .max = QN_JOB_INPUTS_MAX - 1),
    E("count", count, QN_F_I64, .min = 1, .max = QN_EVENT_RESULTS_MAX),
    E("bytes", bytes, QN_F_I64, .min = 4, .max = QN_EVENT_RESULTS_BYTES_MAX),
};
static const struct qn_field usage_fields[] = {
    E("prompt", usage.prompt, QN_F_I64, .min = 0, .max = QN_JOB_WHOLE_MAX),
    E("cached", usage.cached, QN_F_I64, .min = 0, .max = QN_JOB_WHOLE_MAX),
    E("output", usage.output, QN_F_I64, .min = 0, .max = QN_JOB_WHOLE_MAX),
    E("reasoning", usage.reasoning, QN_F_I64, .min = 0, .max = QN_JOB_WHOLE_MAX),
    E("prompt_ms", usage.prompt_ms, QN_F_F64, .min = 0, .max = DBL_MAX),
    E("output_ms", usage.output_ms, QN_F_F64, .min = 0, .max = DBL_MAX),
    E("audio_ms", usage.audio_ms, QN_F_F64, .min = 0, .max = DBL_MAX),
};
static const struct qn_field error_fields[] = {
    E("error", error, QN_F_ERROR, .min = 0),
};

static const struct {
    const struct qn_field *fields;
    size_t n;
} event_tables[QN_EV_COUNT] = {
    [QN_EV_PROGRESS] = {progress_fields, COUNT(progress_fields)},
    [QN_EV_TEXT] = {text_fields, COUNT(text_fields)},
    [QN_EV_REASONING] = {text_fields, COUNT(text_fields)},
    [QN_EV_TOOL_CALL] = {tool_call_fields, COUNT(tool_call_fields)},
    [QN_EV_DONE] = {done_fields, COUNT(done_fields)},
    [QN_EV_VECTORS] = {results_fields, COUNT(results_fields)},
    [QN_EV_SCORES] = {results_fields, COUNT(results_fields)},
    [QN_EV_SEGMENT] = {segment_fields, COUNT(segment_fields)},
    [QN_EV_AUDIO] = {audio_fields, COUNT(audio_fields)},
    [QN_EV_IMAGE] = {image_event_fields, COUNT(image_event_fields)},
    [QN_EV_USAGE] = {usage_fields, COUNT(usage_fields)},
    [QN_EV_END] = {NULL, 0},
    [QN_EV_ERROR] = {error_fields, COUNT(error_fields)},
};

static qn_err section_read(const struct qn_jref *job, const char *name,
                           const struct qn_field *table, size_t n, void *base,
                           struct qn_arena *arena, struct qn_error *e)
{
    struct qn_jref section = qn_json_get(job, name);
    if (qn_json_type(&section) <= QN_JSON_NULL)
        return QN_OK;
    return qn_fields_read(table, n, &section, base, arena, e);
}

static void section_write(const char *name, const struct qn_field *table, size_t n,
                          const void *base, struct qn_jw *w)
{
    qn_jw_key(w, name);
    qn_jw_obj(w);
    qn_fields_write(table, n, base, w);
    qn_jw_obj_end(w);
}

static size_t attachments_bytes(const struct qn_attachments *a)
{
    size_t sum = 0; /* at most QN_JOB_ATTACHMENTS_MAX times the memory: no overflow */
    for (size_t i = 0; i < a->n; i++)
        sum += (size_t)a->v[i].bytes;
    return sum;
}

qn_err qn_job_encode(const struct qn_job *job, struct qn_buf *out)
{
    struct qn_jw w = qn_jw_to(out);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "task", qn_task_name(job->task));
    qn_jw_kstr(&w, "id", job->id ? job->id : "");
    section_write("sampling", sampling_fields, COUNT(sampling_fields), &job->sampling, &w);
    section_write("chat", chat_fields, COUNT(chat_fields), &job->chat, &w);
    section_write("complete", complete_fields, COUNT(complete_fields), &job->complete, &w);
    if (job->task == QN_TASK_EMBED || job->task == QN_TASK_RERANK)
        section_write("embed", embed_fields, COUNT(embed_fields), &job->embed, &w);
    if (job->task == QN_TASK_TRANSCRIBE)
        section_write("transcribe", transcribe_fields, COUNT(transcribe_fields), &job->transcribe,
                      &w);
    if (job->task == QN_TASK_SPEAK)
        section_write("speak", speak_fields, COUNT(speak_fields), &job->speak, &w);
    if (job->task == QN_TASK_IMAGE)
        section_write("image", image_fields, COUNT(image_fields), &job->image, &w);
    qn_fields_write(job_fields, COUNT(job_fields), job, &w);
    if (job->attachments.n)
        qn_jw_ki64(&w, "bytes", (int64_t)attachments_bytes(&job->attachments));
    qn_jw_obj_end(&w);
    return out->overflow ? QN_ELIMIT : QN_OK;
}

qn_err qn_job_frame(const struct qn_job *job, struct qn_buf *out)
{
    if (attachments_bytes(&job->attachments) > QN_FRAME_BYTES_MAX)
        return QN_ELIMIT;
    qn_job_encode(job, out);
    qn_buf_char(out, '\n');
    for (size_t i = 0; i < job->attachments.n; i++)
        qn_buf_add(out, job->attachments.v[i].data, (size_t)job->attachments.v[i].bytes);
    return out->overflow ? QN_ELIMIT : QN_OK;
}

static size_t count_role(const struct qn_job *job, enum qn_attachment_role role)
{
    size_t n = 0;
    for (size_t i = 0; i < job->attachments.n; i++)
        n += job->attachments.v[i].role == role;
    return n;
}

/* Checks that attachments and texts of a job are those that its task takes. */
static qn_err check_media(const struct qn_job *job, struct qn_error *e)
{
    const struct qn_image *image = &job->image;
    size_t sounds = count_role(job, QN_ATTACHMENT_AUDIO);
    size_t pictures = count_role(job, QN_ATTACHMENT_IMAGE),
           masks = count_role(job, QN_ATTACHMENT_MASK);
    bool of_image = job->task == QN_TASK_IMAGE;
    if (job->task == QN_TASK_CHAT)
        return qn_messages_check(job, e);
    if (sounds != (job->task == QN_TASK_TRANSCRIBE))
        return qn_fail_param(e, QN_EINVAL, "file",
                             "a transcription needs one audio file, other tasks none");
    if (job->task == QN_TASK_SPEAK && (!job->speak.input || !job->speak.format))
        return qn_fail_param(e, QN_EINVAL, "input", "speech needs input and format");
    if (of_image && (image->kind == QN_IMAGE_NONE || !image->format))
        return qn_fail_param(e, QN_EINVAL, "image", "an image needs kind and format");
    if (of_image && !image->prompt &&
        (image->kind == QN_IMAGE_GENERATE || image->kind == QN_IMAGE_EDIT))
        return qn_fail_param(e, QN_EINVAL, "prompt", "prompt is missing");
    if (of_image && (image->width == QN_UNSET) != (image->height == QN_UNSET))
        return qn_fail_param(e, QN_EINVAL, "size", "width and height go together");
    size_t least = of_image && image->kind != QN_IMAGE_GENERATE;
    size_t most = of_image && image->kind == QN_IMAGE_EDIT ? QN_JOB_EDIT_PICTURES_MAX : least;
    if (pictures < least || pictures > most)
        return qn_fail_param(e, QN_EINVAL, "image", "%zu pictures where %zu to %zu belong",
                             pictures, least, most);
    if (masks > (of_image && image->kind == QN_IMAGE_EDIT))
        return qn_fail_param(e, QN_EINVAL, "mask", "this task takes no mask, or only one");
    return QN_OK;
}

/* Checks what backends rely on, independently of what the router sent. */
static qn_err check_job(const struct qn_job *job, struct qn_error *e)
{
    if (job->task == QN_TASK_COMPLETE && !job->complete.prompt &&
        job->complete.prompt_tokens.n == 0)
        return qn_fail_param(e, QN_EINVAL, "prompt", "prompt is missing");
    bool takes_inputs = job->task == QN_TASK_EMBED || job->task == QN_TASK_RERANK;
    if (takes_inputs != (job->embed.count > 0))
        return qn_fail_param(e, QN_EINVAL, "input",
                             "embeddings and reranking need inputs, other tasks have none");
    if (job->task == QN_TASK_RERANK && !job->embed.query)
        return qn_fail_param(e, QN_EINVAL, "query", "query is missing");
    if (job->chat.tool_choice == QN_TOOLS_NAMED && !job->chat.tool_name)
        return qn_fail_param(e, QN_EINVAL, "tool_choice", "tool_choice: the tool has no name");
    if (job->constrain.schema && job->constrain.grammar)
        return qn_fail_param(e, QN_EINVAL, "grammar",
                             "grammar: there is a schema already; give only one of them");
    for (size_t i = 0; i < job->sampling.stop.n; i++) {
        size_t n = strlen(job->sampling.stop.v[i]);
        if (n == 0 || n > QN_JOB_STOP_BYTES_MAX)
            return qn_fail_param(e, QN_EINVAL, "stop",
                                 "stop: each string must have 1 to %d bytes, not %zu",
                                 QN_JOB_STOP_BYTES_MAX, n);
    }
    qn_err err = qn_attachments_check(&job->attachments, e);
    return err ? err : check_media(job, e);
}

qn_err qn_job_decode(const struct qn_jref *object, struct qn_job *job, struct qn_arena *arena,
                     struct qn_error *e)
{
    qn_job_init(job);
    struct qn_jref v = qn_json_get(object, "task");
    const char *text;
    qn_err err = qn_json_str(&v, &text, e);
    if (err)
        return err;
    job->task = qn_task_parse(text);
    if (job->task == QN_TASK_NONE)
        return qn_json_fail(&v, e, "unknown task '%.40s'", text);
    v = qn_json_get(object, "id");
    err = qn_json_str(&v, &text, e);
    if (err)
        return err;
    if (strlen(text) > QN_JOB_ID_MAX)
        return qn_json_fail(&v, e, "has more than %d bytes", QN_JOB_ID_MAX);
    job->id = qn_arena_strdup(arena, text);
    err = section_read(object, "sampling", sampling_fields, COUNT(sampling_fields), &job->sampling,
                       arena, e);
    if (!err)
        err = section_read(object, "chat", chat_fields, COUNT(chat_fields), &job->chat, arena, e);
    if (!err)
        err = section_read(object, "complete", complete_fields, COUNT(complete_fields),
                           &job->complete, arena, e);
    if (!err)
        err =
            section_read(object, "embed", embed_fields, COUNT(embed_fields), &job->embed, arena, e);
    if (!err)
        err = section_read(object, "transcribe", transcribe_fields, COUNT(transcribe_fields),
                           &job->transcribe, arena, e);
    if (!err)
        err =
            section_read(object, "speak", speak_fields, COUNT(speak_fields), &job->speak, arena, e);
    if (!err)
        err =
            section_read(object, "image", image_fields, COUNT(image_fields), &job->image, arena, e);
    if (!err)
        err = qn_fields_read(job_fields, COUNT(job_fields), object, job, arena, e);
    return err ? err : check_job(job, e);
}

qn_err qn_job_take(const struct qn_frame *f, struct qn_job *job, struct qn_arena *arena,
                   struct qn_error *e)
{
    struct qn_jref root = qn_json_root(f->json);
    qn_err err = qn_job_decode(&root, job, arena, e);
    if (err)
        return err;
    if (attachments_bytes(&job->attachments) != f->bytes_len)
        return qn_fail(e, QN_EFORMAT, "%zu bytes follow the job's line, its attachments have %zu",
                       f->bytes_len, attachments_bytes(&job->attachments));
    char *copy = qn_arena_try(arena, f->bytes_len + 1);
    if (!copy)
        return qn_fail(e, QN_ELIMIT, "the job's files are too large");
    if (f->bytes_len)
        memcpy(copy, f->bytes, f->bytes_len);
    for (size_t i = 0; i < job->attachments.n; i++) {
        job->attachments.v[i].data = copy;
        copy += job->attachments.v[i].bytes;
    }
    return QN_OK;
}

static bool has_bytes(enum qn_event_kind kind)
{
    return kind == QN_EV_AUDIO || kind == QN_EV_IMAGE || kind == QN_EV_VECTORS ||
           kind == QN_EV_SCORES;
}

static bool has_results(enum qn_event_kind kind)
{
    return kind == QN_EV_VECTORS || kind == QN_EV_SCORES;
}

/* Checks that the event's bytes are a whole number of floats for each input, equally many for all;
 * for a score exactly one. */
static qn_err check_results(const struct qn_event *ev, struct qn_error *e)
{
    const char *name = qn_event_name(ev->kind);
    if (ev->count < 1 || ev->bytes < 1)
        return qn_fail(e, QN_EINVAL, "a %s event without count or bytes", name);
    if (ev->index + ev->count > QN_JOB_INPUTS_MAX)
        return qn_fail(e, QN_EINVAL, "a %s event of inputs beyond %d", name, QN_JOB_INPUTS_MAX);
    int64_t each = ev->bytes / ev->count;
    if (each * ev->count != ev->bytes || each < 4 || each % 4 ||
        (ev->kind == QN_EV_SCORES && each != 4))
        return qn_fail(e, QN_EINVAL, "a %s event with %lld bytes for %lld inputs", name,
                       (long long)ev->bytes, (long long)ev->count);
    return QN_OK;
}

static qn_err check_finite(const struct qn_event *ev, struct qn_error *e)
{
    for (size_t i = 0; i < (size_t)ev->bytes / 4; i++)
        if (!isfinite(qn_event_float(ev->data, i)))
            return qn_fail(e, QN_EINVAL, "a %s event with a number that is not finite",
                           qn_event_name(ev->kind));
    return QN_OK;
}

qn_err qn_event_encode(const struct qn_event *ev, struct qn_buf *out)
{
    assert(ev->kind > QN_EV_NONE && ev->kind < QN_EV_COUNT);
    struct qn_jw w = qn_jw_to(out);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "ev", qn_event_name(ev->kind));
    qn_fields_write(event_tables[ev->kind].fields, event_tables[ev->kind].n, ev, &w);
    qn_jw_obj_end(&w);
    return out->overflow ? QN_ELIMIT : QN_OK;
}

qn_err qn_event_frame(const struct qn_event *ev, struct qn_buf *out)
{
    qn_event_encode(ev, out);
    qn_buf_char(out, '\n');
    if (has_bytes(ev->kind))
        qn_buf_add(out, ev->data, (size_t)ev->bytes);
    return out->overflow ? QN_ELIMIT : QN_OK;
}

qn_err qn_event_take(const struct qn_frame *f, struct qn_event *ev, struct qn_arena *arena,
                     struct qn_error *e)
{
    struct qn_jref root = qn_json_root(f->json);
    qn_err err = qn_event_decode(&root, ev, arena, e);
    if (err)
        return err;
    ev->data = f->bytes; /* qn_frame_next has made sure that there are ev->bytes of them */
    if (f->bytes && !has_bytes(ev->kind))
        return qn_fail(e, QN_EINVAL, "a %s event with bytes", qn_event_name(ev->kind));
    return has_results(ev->kind) ? check_finite(ev, e) : QN_OK;
}

qn_err qn_event_decode(const struct qn_jref *object, struct qn_event *ev, struct qn_arena *arena,
                       struct qn_error *e)
{
    struct qn_jref v = qn_json_get(object, "ev");
    const char *name;
    qn_err err = qn_json_str(&v, &name, e);
    if (err)
        return err;
    qn_event_init(ev, QN_EV_NONE);
    for (int k = QN_EV_NONE + 1; k < QN_EV_COUNT; k++)
        if (qn_str_eq(name, qn_event_name((enum qn_event_kind)k)))
            ev->kind = (enum qn_event_kind)k;
    if (ev->kind == QN_EV_NONE)
        return qn_json_fail(&v, e, "unknown event '%.40s'", name);
    err = qn_fields_read(event_tables[ev->kind].fields, event_tables[ev->kind].n, object, ev, arena,
                         e);
    if (err)
        return err;
    if ((ev->kind == QN_EV_AUDIO || ev->kind == QN_EV_IMAGE) && (!ev->bytes || !ev->format))
        return qn_fail(e, QN_EINVAL, "an %s event without bytes or format", name);
    if (ev->kind == QN_EV_AUDIO && !ev->rate_hz)
        return qn_fail(e, QN_EINVAL, "an audio event without a rate");
    if (ev->kind == QN_EV_SEGMENT && ev->segment.end_s < ev->segment.start_s)
        return qn_fail(e, QN_EINVAL, "a segment that ends before it begins");
    if ((ev->kind == QN_EV_TEXT || ev->kind == QN_EV_REASONING || ev->kind == QN_EV_SEGMENT) &&
        !ev->text)
        return qn_fail(e, QN_EINVAL, "a %s event without text", name);
    if (ev->kind == QN_EV_TOOL_CALL && !ev->arguments)
        return qn_fail(e, QN_EINVAL, "a tool_call event without arguments");
    if (has_results(ev->kind) && check_results(ev, e))
        return QN_EINVAL;
    if (ev->kind == QN_EV_DONE && ev->finish == QN_FINISH_NONE)
        return qn_fail(e, QN_EINVAL, "a done event without a reason");
    if (ev->kind == QN_EV_ERROR && ev->error.code == QN_OK)
        return qn_fail(e, QN_EINVAL, "an error event without an error");
    return QN_OK;
}

qn_err qn_sampling_read(struct qn_sampling *s, const char *field, const struct qn_jref *v,
                        struct qn_error *e)
{
    for (size_t i = 0; i < COUNT(sampling_fields); i++) {
        const struct qn_field *f = &sampling_fields[i];
        if (!qn_str_eq(f->name, field))
            continue;
        if (f->type != QN_F_I64 && f->type != QN_F_F64 && f->type != QN_F_BOOL)
            break;
        return qn_field_read(f, v, s, NULL, e);
    }
    return qn_fail(e, QN_ENOTFOUND, "no sampling field %s", field);
}
