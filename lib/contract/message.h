/* A conversation as typed messages. A dialect makes them of the JSON of its chat API, codec.c
 * carries them to the child, and a backend makes of them the values of its chat template or the
 * JSON of another server. Strings and lists belong to the job's arena or to memory that outlives
 * the job. */
#ifndef QN_CONTRACT_MESSAGE_H
#define QN_CONTRACT_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    QN_MESSAGES_MAX = 10000,     /* messages of one conversation */
    QN_MESSAGE_PARTS_MAX = 16384 /* parts of one message */
};

enum qn_role {
    QN_ROLE_NONE,
    QN_ROLE_SYSTEM,
    QN_ROLE_USER,
    QN_ROLE_ASSISTANT,
    QN_ROLE_TOOL, /* the result of a tool call */
    QN_ROLE_COUNT
};

enum qn_part_kind {
    QN_PART_NONE,
    QN_PART_TEXT,      /* text */
    QN_PART_PICTURE,   /* attachment */
    QN_PART_SOUND,     /* attachment */
    QN_PART_REASONING, /* text: the reasoning of an assistant before its reply */
    QN_PART_CALL,      /* name, arguments and perhaps id of a tool call by an assistant */
    QN_PART_COUNT
};

struct qn_message_part {
    enum qn_part_kind kind;
    int64_t attachment; /* PICTURE, SOUND: index in the job's attachments; else QN_UNSET */
    const char *text;
    const char *id; /* of a call; NULL: none */
    const char *name;
    const char *arguments; /* JSON text of an object, or what a model wrote instead */
};

struct qn_message_parts {
    struct qn_message_part *v;
    size_t n;
};

/* The content of a message is its TEXT, PICTURE and SOUND parts in order; no two TEXT parts are
 * adjacent. A message without such parts has no content (null), which differs from empty
 * content. */
struct qn_message {
    enum qn_role role;
    const char *name;         /* of the speaker, or of the function of a TOOL message; or NULL */
    const char *tool_call_id; /* TOOL: the id of the call that this is the result of; or NULL */
    struct qn_message_parts parts;
};

struct qn_messages {
    struct qn_message *v;
    size_t n;
};

const char *qn_role_name(enum qn_role r);           /* "system", "user", ... */
const char *qn_part_kind_name(enum qn_part_kind k); /* "text", "picture", ... */

/* Whether the part is content of its message (TEXT, PICTURE or SOUND). */
bool qn_part_is_content(const struct qn_message_part *p);
/* The number of parts of this kind, and the first of them (NULL: none). */
size_t qn_message_count(const struct qn_message *m, enum qn_part_kind kind);
const struct qn_message_part *qn_message_find(const struct qn_message *m, enum qn_part_kind kind);

/* Total bytes of all texts, names and arguments. */
size_t qn_messages_bytes(const struct qn_messages *m);

#endif
