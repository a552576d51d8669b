/* See talk.h. */
#include "dialects/shared/talk.h"

#include "base/str.h"
#include "digest/base64.h"

#include <stdlib.h>
#include <string.h>

qn_err qn_talk_check(const struct qn_jref *messages, struct qn_error *e)
{
    size_t n = qn_json_count(messages);
    return n > QN_MESSAGES_MAX
               ? qn_json_fail(messages, e, "at most %d messages are allowed, not %zu",
                              QN_MESSAGES_MAX, n)
               : QN_OK;
}

void qn_talk_init(struct qn_talk *t, struct qn_job *job, struct qn_arena *arena)
{
    *t = (struct qn_talk){.job = job, .arena = arena};
    qn_buf_init(&t->text, QN_JOB_PROMPT_BYTES_MAX);
    qn_buf_init(&t->reasoning, QN_JOB_PROMPT_BYTES_MAX);
}

void qn_talk_deinit(struct qn_talk *t)
{
    free(t->v);
    free(t->content.v);
    free(t->calls.v);
    qn_buf_deinit(&t->text);
    qn_buf_deinit(&t->reasoning);
}

/* Returns a copy in the arena, NULL for NULL. The total length of a conversation's texts is
 * limited. */
static const char *keep(struct qn_talk *t, const char *s, size_t n)
{
    t->bytes += n;
    char *copy = s && t->bytes <= QN_JOB_PROMPT_BYTES_MAX ? qn_arena_try(t->arena, n + 1) : NULL;
    if (copy)
        memcpy(copy, s, n);
    t->overflow |= s && !copy;
    return copy;
}

static const char *keep_str(struct qn_talk *t, const char *s)
{
    return keep(t, s, s ? strlen(s) : 0);
}

static void push(struct qn_talk *t, struct qn_message_parts *list, size_t *cap,
                 struct qn_message_part part)
{
    if (list->n >= QN_MESSAGE_PARTS_MAX) {
        t->overflow = true;
        return;
    }
    if (list->n == *cap) {
        *cap = *cap ? 2 * *cap : 4;
        list->v = qn_xrealloc(list->v, *cap * sizeof *list->v);
    }
    list->v[list->n++] = part;
}

/* Makes one part of the texts collected so far; called before an image and at the end. */
static void part_of_text(struct qn_talk *t)
{
    if (!t->texts)
        return;
    t->overflow |= t->text.overflow;
    push(t, &t->content, &t->content_cap,
         (struct qn_message_part){.kind = QN_PART_TEXT,
                                  .attachment = QN_UNSET,
                                  .text = keep(t, qn_buf_cstr(&t->text), t->text.len)});
    qn_buf_clear(&t->text);
    t->texts = 0;
}

static void close_message(struct qn_talk *t)
{
    if (!t->open)
        return;
    t->open = false;
    if (t->text.len || !t->content.n) /* an empty text beside an image is not a part */
        part_of_text(t);
    struct qn_message_parts *all = &t->v[t->n - 1].parts;
    size_t n = (t->reasoning.len > 0) + t->content.n + t->calls.n;
    all->v = n <= QN_MESSAGE_PARTS_MAX ? qn_arena_try(t->arena, n * sizeof *all->v) : NULL;
    t->overflow |= t->reasoning.overflow || (n && !all->v);
    if (n && all->v && t->reasoning.len)
        all->v[all->n++] =
            (struct qn_message_part){.kind = QN_PART_REASONING,
                                     .attachment = QN_UNSET,
                                     .text = keep(t, qn_buf_cstr(&t->reasoning), t->reasoning.len)};
    for (size_t i = 0; all->v && i < t->content.n; i++)
        all->v[all->n++] = t->content.v[i];
    for (size_t i = 0; all->v && i < t->calls.n; i++)
        all->v[all->n++] = t->calls.v[i];
    qn_buf_clear(&t->text);
    qn_buf_clear(&t->reasoning);
    t->content.n = t->calls.n = t->texts = 0;
}

void qn_talk_message(struct qn_talk *t, enum qn_role role)
{
    close_message(t);
    if (t->n == t->cap) {
        t->cap = t->cap ? 2 * t->cap : 16;
        t->v = qn_xrealloc(t->v, t->cap * sizeof *t->v);
    }
    t->v[t->n++] = (struct qn_message){.role = role};
    t->open = true;
}

void qn_talk_name(struct qn_talk *t, const char *name)
{
    t->v[t->n - 1].name = keep_str(t, name);
}

void qn_talk_answers(struct qn_talk *t, const char *call_id)
{
    t->v[t->n - 1].tool_call_id = keep_str(t, call_id);
}

void qn_talk_text(struct qn_talk *t, const char *text)
{
    if (t->texts++)
        qn_buf_char(&t->text, '\n');
    qn_buf_str(&t->text, text);
}

void qn_talk_reasoning(struct qn_talk *t, const char *text)
{
    qn_buf_str(&t->reasoning, text);
}

/* Makes room for one more attachment of the job; NULL past a limit. The array doubles when it is
 * full. */
static struct qn_attachment *attachment_new(struct qn_talk *t)
{
    struct qn_attachments *a = &t->job->attachments;
    if (a->n >= QN_JOB_ATTACHMENTS_MAX)
        return NULL;
    if ((a->n & (a->n - 1)) == 0) {
        struct qn_attachment *v = qn_arena_try(t->arena, 2 * (a->n + 1) * sizeof *v);
        if (!v)
            return NULL;
        if (a->n)
            memcpy(v, a->v, a->n * sizeof *v);
        a->v = v;
    }
    return &a->v[a->n++];
}

/* Detects the media type of an image by its first bytes. */
static const char *type_of(const char *data, size_t n)
{
    static const struct {
        const char *begin, *type;
    } known[] = {{"\x89PNG", "image/png"},
                 {"\xff\xd8\xff", "image/jpeg"},
                 {"GIF", "image/gif"},
                 {"RIFF", "image/webp"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (n >= strlen(known[i].begin) && !memcmp(data, known[i].begin, strlen(known[i].begin)))
            return known[i].type;
    return "application/octet-stream";
}

/* Adds a file in base64 as a part of the open message. what: for messages. */
static qn_err add_file(struct qn_talk *t, const struct qn_jref *at, enum qn_part_kind kind,
                       const char *type, const char *base64, const char *what, struct qn_error *e)
{
    size_t n = strlen(base64), len = 0, sum = 0;
    if (type && !qn_media_type_valid(type))
        return qn_json_fail(at, e, "'%.40s' is not a media type", type);
    for (size_t i = 0; i < t->job->attachments.n; i++)
        sum += (size_t)t->job->attachments.v[i].bytes;
    if (n / 4 * 3 > QN_TALK_FILE_BYTES_MAX - sum)
        return qn_json_fail(at, e, "too long: the %s of a request have at most %d bytes", what,
                            QN_TALK_FILE_BYTES_MAX);
    char *data = qn_arena_try(t->arena, n / 4 * 3 + 3);
    if (!data)
        return qn_json_fail(at, e, "too long");
    if (!qn_base64_decode(base64, n, data, &len) || !len)
        return qn_json_fail(at, e, "this is not base64");
    struct qn_attachment *a = attachment_new(t);
    if (!a)
        return qn_json_fail(at, e, "at most %d %s are allowed", QN_JOB_ATTACHMENTS_MAX, what);
    *a = (struct qn_attachment){
        .role = kind == QN_PART_SOUND ? QN_ATTACHMENT_AUDIO : QN_ATTACHMENT_IMAGE,
        .type = type ? qn_arena_strdup(t->arena, type) : type_of(data, len),
        .data = data,
        .bytes = (int64_t)len,
    };
    if (t->text.len)
        part_of_text(t);
    t->texts = 0;
    push(t, &t->content, &t->content_cap,
         (struct qn_message_part){.kind = kind, .attachment = a - t->job->attachments.v});
    return QN_OK;
}

qn_err qn_talk_picture(struct qn_talk *t, const struct qn_jref *at, const char *type,
                       const char *base64, struct qn_error *e)
{
    return add_file(t, at, QN_PART_PICTURE, type, base64, "images", e);
}

qn_err qn_talk_sound(struct qn_talk *t, const struct qn_jref *at, const char *type,
                     const char *base64, struct qn_error *e)
{
    return add_file(t, at, QN_PART_SOUND, type, base64, "files", e);
}

qn_err qn_talk_data_url(struct qn_talk *t, const struct qn_jref *at, const char *url,
                        struct qn_error *e)
{
    static const char mark[] = ";base64";
    const char *comma = strchr(url, ','), *type = url + strlen("data:");
    size_t head = comma ? (size_t)(comma - type) : 0, n = sizeof mark - 1;
    if (!qn_str_starts(url, "data:") || !comma || head < n || strncasecmp(comma - n, mark, n) != 0)
        return qn_json_fail(at, e, "expected a data URL in base64: data:image/png;base64,...");
    /* further parameters of the media type follow after a semicolon */
    size_t len = strcspn(type, ";,");
    if (len > QN_JOB_MEDIA_TYPE_MAX)
        return qn_json_fail(at, e, "'%.40s' is not a media type", type);
    char *copy = len ? qn_arena_strndup(t->arena, type, len) : NULL;
    return qn_talk_picture(t, at, copy, comma + 1, e);
}

void qn_talk_call(struct qn_talk *t, const char *id, const char *name,
                  const struct qn_jref *arguments)
{
    struct qn_buf text;
    qn_buf_init(&text, QN_JOB_PROMPT_BYTES_MAX);
    if (qn_json_type(arguments) == QN_JSON_STRING)
        qn_buf_str(&text, qn_json_raw_str(arguments));
    else if (qn_json_type(arguments) > QN_JSON_NULL)
        qn_json_print(arguments, &text);
    else
        qn_buf_str(&text, "{}");
    t->overflow |= text.overflow;
    push(t, &t->calls, &t->calls_cap,
         (struct qn_message_part){.kind = QN_PART_CALL,
                                  .attachment = QN_UNSET,
                                  .id = keep_str(t, id),
                                  .name = keep_str(t, name),
                                  .arguments = keep(t, qn_buf_cstr(&text), text.len)});
    qn_buf_deinit(&text);
}

qn_err qn_talk_end(struct qn_talk *t, const char *what, struct qn_error *e)
{
    close_message(t);
    if (t->n == 0)
        return qn_fail_param(e, QN_EINVAL, what, "%s: at least one message is needed", what);
    if (t->n > QN_MESSAGES_MAX)
        return qn_fail_param(e, QN_EINVAL, what, "%s: at most %d messages are allowed, not %zu",
                             what, QN_MESSAGES_MAX, t->n);
    struct qn_message *v = qn_arena_try(t->arena, t->n * sizeof *v);
    if (!v || t->overflow)
        return qn_fail_param(e, QN_EINVAL, what,
                             "%s: too long: at most %d bytes, and %d parts of a message", what,
                             QN_JOB_PROMPT_BYTES_MAX, QN_MESSAGE_PARTS_MAX);
    memcpy(v, t->v, t->n * sizeof *v);
    t->job->chat.messages = (struct qn_messages){v, t->n};
    return QN_OK;
}
