/* Names and queries of messages, see message.h. */
#include "contract/message.h"

#include <string.h>

static const char *const role_names[QN_ROLE_COUNT] = {
    [QN_ROLE_NONE] = "none",           [QN_ROLE_SYSTEM] = "system", [QN_ROLE_USER] = "user",
    [QN_ROLE_ASSISTANT] = "assistant", [QN_ROLE_TOOL] = "tool",
};

static const char *const kind_names[QN_PART_COUNT] = {
    [QN_PART_NONE] = "none",   [QN_PART_TEXT] = "text",           [QN_PART_PICTURE] = "picture",
    [QN_PART_SOUND] = "sound", [QN_PART_REASONING] = "reasoning", [QN_PART_CALL] = "call",
};

const char *qn_role_name(enum qn_role r)
{
    return (unsigned)r < QN_ROLE_COUNT ? role_names[r] : role_names[QN_ROLE_NONE];
}

const char *qn_part_kind_name(enum qn_part_kind k)
{
    return (unsigned)k < QN_PART_COUNT ? kind_names[k] : kind_names[QN_PART_NONE];
}

bool qn_part_is_content(const struct qn_message_part *p)
{
    return p->kind == QN_PART_TEXT || p->kind == QN_PART_PICTURE || p->kind == QN_PART_SOUND;
}

size_t qn_message_count(const struct qn_message *m, enum qn_part_kind kind)
{
    size_t n = 0;
    for (size_t i = 0; i < m->parts.n; i++)
        n += m->parts.v[i].kind == kind;
    return n;
}

const struct qn_message_part *qn_message_find(const struct qn_message *m, enum qn_part_kind kind)
{
    for (size_t i = 0; i < m->parts.n; i++)
        if (m->parts.v[i].kind == kind)
            return &m->parts.v[i];
    return NULL;
}

static size_t length(const char *s)
{
    return s ? strlen(s) : 0;
}

size_t qn_messages_bytes(const struct qn_messages *m)
{
    size_t sum = 0;
    for (size_t i = 0; i < m->n; i++) {
        sum += length(m->v[i].name) + length(m->v[i].tool_call_id);
        for (size_t k = 0; k < m->v[i].parts.n; k++) {
            const struct qn_message_part *p = &m->v[i].parts.v[k];
            sum += length(p->text) + length(p->id) + length(p->name) + length(p->arguments);
        }
    }
    return sum;
}
