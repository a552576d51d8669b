/* A conversation as typed messages: what the JSON of every chat API becomes in its dialect, what
 * codec.c carries to the child, and what a backend makes its chat template's values or another
 * server's JSON of. Strings and lists belong to the job's arena or outlive it. */
#ifndef QN_CONTRACT_MESSAGE_H
#define QN_CONTRACT_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    QN_MESSAGES_MAX = 10000,     /* of one conversation */
    QN_MESSAGE_PARTS_MAX = 16384 /* of one message */
};

enum qn_role {
    QN_ROLE_NONE,
    QN_ROLE_SYSTEM,
    QN_ROLE_USER,
    QN_ROLE_ASSISTANT,
    QN_ROLE_TOOL, /* the result of a call */
    QN_ROLE_COUNT
};

enum qn_part_kind {
    QN_PART_NONE,
    QN_PART_TEXT,      /* text */
    QN_PART_PICTURE,   /* attachment */
    QN_PART_SOUND,     /* attachment */
    QN_PART_REASONING, /* text: what an assistant thought before it answered */
    QN_PART_CALL,      /* name, arguments, perhaps id: a tool that an assistant called */
    QN_PART_COUNT
};

struct qn_message_part {
    enum qn_part_kind kind;
    int64_t attachment; /* PICTURE, SOUND: the place in the job's attachments; else QN_UNSET */
    const char *text;
    const char *id; /* of a call; NULL: it has none */
    const char *name;
    const char *arguments; /* JSON text of an object, or whatever text a model wrote instead */
};

struct qn_message_parts {
    struct qn_message_part *v;
    size_t n;
};

/* The content of a message is its TEXT, PICTURE and SOUND parts in their order; no two TEXT parts
 * stand side by side. A message without any of them has no content, which is not the same as an
 * empty one. */
struct qn_message {
    enum qn_role role;
    const char *name;         /* of the speaker, or of a TOOL's function; or NULL */
    const char *tool_call_id; /* TOOL: the id of the call that it answers; or NULL */
    struct qn_message_parts parts;
};

struct qn_messages {
    struct qn_message *v;
    size_t n;
};

const char *qn_role_name(enum qn_role r);           /* "system", "user", ... */
const char *qn_part_kind_name(enum qn_part_kind k); /* "text", "picture", ... */

/* Whether the part belongs to its message's content. */
bool qn_part_is_content(const struct qn_message_part *p);
/* How many parts of a kind the message has, and the first of them (NULL: none). */
size_t qn_message_count(const struct qn_message *m, enum qn_part_kind kind);
const struct qn_message_part *qn_message_find(const struct qn_message *m, enum qn_part_kind kind);

/* Bytes of all texts, names and arguments. */
size_t qn_messages_bytes(const struct qn_messages *m);

#endif
