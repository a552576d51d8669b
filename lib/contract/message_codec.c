/* See message_codec.h. */
#include "contract/message_codec.h"

#include "contract/frame.h"

#include <stdio.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))

static const char *role_name(int v)
{
    return qn_role_name((enum qn_role)v);
}

static const char *part_kind_name(int v)
{
    return qn_part_kind_name((enum qn_part_kind)v);
}

#define R(name, type, ...)                                                                         \
    {                                                                                              \
#name, type, offsetof(struct qn_message_part, name), __VA_ARGS__                           \
    }
static const struct qn_field part_fields[] = {
    R(kind, QN_F_ENUM, .enum_name = part_kind_name, .enum_count = QN_PART_COUNT),
    R(text, QN_F_STR, .max = QN_JOB_PROMPT_BYTES_MAX),
    R(attachment, QN_F_I64, .min = 0, .max = QN_JOB_ATTACHMENTS_MAX - 1),
    R(id, QN_F_STR, .max = QN_JOB_PROMPT_BYTES_MAX),
    R(name, QN_F_STR, .max = QN_JOB_PROMPT_BYTES_MAX),
    R(arguments, QN_F_STR, .max = QN_JOB_PROMPT_BYTES_MAX),
};
static const struct qn_field_items parts = {part_fields, COUNT(part_fields),
                                            sizeof(struct qn_message_part)};

#define G(name, type, ...)                                                                         \
    {                                                                                              \
#name, type, offsetof(struct qn_message, name), __VA_ARGS__                                \
    }
static const struct qn_field message_fields[] = {
    G(role, QN_F_ENUM, .enum_name = role_name, .enum_count = QN_ROLE_COUNT),
    G(name, QN_F_STR, .max = QN_JOB_PROMPT_BYTES_MAX),
    G(tool_call_id, QN_F_STR, .max = QN_JOB_PROMPT_BYTES_MAX),
    G(parts, QN_F_LIST, .max = QN_MESSAGE_PARTS_MAX, .items = &parts),
};
const struct qn_field_items qn_message_items = {message_fields, COUNT(message_fields),
                                                sizeof(struct qn_message)};

static const char *attachment_role_name(int v)
{
    return qn_attachment_role_name((enum qn_attachment_role)v);
}

#define A(name, type, ...)                                                                         \
    {                                                                                              \
#name, type, offsetof(struct qn_attachment, name), __VA_ARGS__                             \
    }
static const struct qn_field attachment_fields[] = {
    A(role, QN_F_ENUM, .enum_name = attachment_role_name, .enum_count = QN_ATTACHMENT_COUNT),
    A(type, QN_F_STR, .max = QN_JOB_MEDIA_TYPE_MAX),
    A(bytes, QN_F_I64, .min = 1, .max = QN_FRAME_BYTES_MAX),
};
const struct qn_field_items qn_attachment_items = {attachment_fields, COUNT(attachment_fields),
                                                   sizeof(struct qn_attachment)};

qn_err qn_attachments_check(const struct qn_attachments *a, struct qn_error *e)
{
    char param[64];
    for (size_t i = 0; i < a->n; i++) {
        if (a->v[i].role != QN_ATTACHMENT_NONE && a->v[i].bytes > 0 &&
            (!a->v[i].type || qn_media_type_valid(a->v[i].type)))
            continue;
        snprintf(param, sizeof param, "attachments[%zu]", i);
        return qn_fail_param(e, QN_EINVAL, param, "%s: expected role, bytes and a media type",
                             param);
    }
    return QN_OK;
}

/* Whether a part has the fields that its kind needs. */
static bool is_part(const struct qn_job *job, const struct qn_message_part *p)
{
    enum qn_attachment_role role =
        p->kind == QN_PART_PICTURE ? QN_ATTACHMENT_IMAGE : QN_ATTACHMENT_AUDIO;
    switch (p->kind) {
    case QN_PART_TEXT:
    case QN_PART_REASONING:
        return p->text;
    case QN_PART_CALL:
        return p->name && p->arguments;
    case QN_PART_PICTURE:
    case QN_PART_SOUND:
        return p->attachment >= 0 && (size_t)p->attachment < job->attachments.n &&
               job->attachments.v[p->attachment].role == role;
    case QN_PART_NONE:
    case QN_PART_COUNT:
        break;
    }
    return false;
}

qn_err qn_messages_check(const struct qn_job *job, struct qn_error *e)
{
    char param[64];
    if (!job->chat.messages.n)
        return qn_fail_param(e, QN_EINVAL, "messages", "messages is missing");
    for (size_t i = 0; i < job->chat.messages.n; i++) {
        const struct qn_message *m = &job->chat.messages.v[i];
        if (m->role == QN_ROLE_NONE) {
            snprintf(param, sizeof param, "messages[%zu].role", i);
            return qn_fail_param(e, QN_EINVAL, param, "%s: it is missing", param);
        }
        for (size_t k = 0; k < m->parts.n; k++) {
            if (is_part(job, &m->parts.v[k]))
                continue;
            snprintf(param, sizeof param, "messages[%zu].parts[%zu]", i, k);
            return qn_fail_param(e, QN_EINVAL, param, "%s: it lacks what its kind needs", param);
        }
    }
    return QN_OK;
}
