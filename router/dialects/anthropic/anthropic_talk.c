/* Converts Anthropic's messages to a conversation for chat templates (talk.h). One of its messages
 * may become several here: each tool_result is a message of the tool. Adjacent messages of one role
 * are one turn, as the API defines. */
#include "dialects/anthropic/anthropic.h"

#include "base/str.h"
#include "dialects/shared/talk.h"

#include <string.h>

enum { BLOCKS_MAX = 10000 };

/* Where a block is allowed. */
enum { USER = 1, ASSISTANT = 2, SYSTEM = 4, RESULT = 8, DOCUMENT = 16 };

struct reader {
    struct qn_talk talk;
    enum qn_role role; /* of the open message */
    bool called;       /* the open message calls tools */
};

static qn_err add_content(struct reader *r, const struct qn_jref *content, int place,
                          struct qn_error *e);

/* Makes the open message one of this role. */
static void speak(struct reader *r, enum qn_role role)
{
    if (r->role == role && role != QN_ROLE_TOOL)
        return;
    r->role = role;
    r->called = false;
    qn_talk_message(&r->talk, role);
}

static qn_err read_str(const struct qn_jref *object, const char *key, const char **out,
                       struct qn_error *e)
{
    struct qn_jref v = qn_json_get(object, key);
    return qn_json_str(&v, out, e);
}

static qn_err add_text(struct reader *r, const struct qn_jref *block, struct qn_error *e)
{
    const char *text;
    qn_err err = read_str(block, "text", &text, e);
    if (!err)
        qn_talk_text(&r->talk, text);
    return err;
}

/* Adds an optional text member as a line of its own. */
static qn_err add_line(struct reader *r, const struct qn_jref *object, const char *key,
                       struct qn_error *e)
{
    struct qn_jref v = qn_json_get(object, key);
    const char *text = NULL;
    qn_err err = qn_json_str_opt(&v, &text, e);
    if (!err && text && *text)
        qn_talk_text(&r->talk, text);
    return err;
}

static qn_err add_data(struct reader *r, const struct qn_jref *source, struct qn_error *e)
{
    static const char *const types[] = {"image/jpeg", "image/png", "image/gif", "image/webp"};
    struct qn_jref data = qn_json_get(source, "data"), media = qn_json_get(source, "media_type");
    const char *type, *text;
    qn_err err = qn_json_str(&media, &type, e);
    if (!err)
        err = qn_json_str(&data, &text, e);
    if (err)
        return err;
    size_t k = 0;
    while (k < sizeof types / sizeof *types && !qn_str_eq(types[k], type))
        k++;
    if (k == sizeof types / sizeof *types)
        return qn_json_fail(&media, e,
                            "'%.40s' is not supported: image/jpeg, image/png, image/gif and "
                            "image/webp are",
                            type);
    return qn_talk_picture(&r->talk, &data, type, text, e);
}

static qn_err add_image(struct reader *r, const struct qn_jref *block, struct qn_error *e)
{
    struct qn_jref source = qn_json_get(block, "source"), type = qn_json_get(&source, "type");
    struct qn_jref url = qn_json_get(&source, "url");
    const char *name;
    qn_err err = qn_json_str(&type, &name, e);
    if (err)
        return err;
    if (qn_str_eq(name, "base64"))
        return add_data(r, &source, e);
    if (qn_str_eq(name, "url") && qn_str_starts(qn_json_raw_str(&url), "data:"))
        return qn_talk_data_url(&r->talk, &url, qn_json_raw_str(&url), e);
    return qn_json_fail(&type, e,
                        "only images in the request itself are accepted: give a source of type "
                        "base64 with media_type and data");
}

static qn_err add_document(struct reader *r, const struct qn_jref *block, struct qn_error *e)
{
    struct qn_jref source = qn_json_get(block, "source"), type = qn_json_get(&source, "type");
    struct qn_jref content = qn_json_get(&source, "content");
    const char *name, *text;
    qn_err err = qn_json_str(&type, &name, e);
    if (err)
        return err;
    if (!qn_str_eq(name, "text") && !qn_str_eq(name, "content"))
        return qn_json_fail(&type, e,
                            "'%.40s' is not supported: give the document's text (a source of type "
                            "text or content)",
                            name);
    err = add_line(r, block, "title", e);
    if (!err)
        err = add_line(r, block, "context", e);
    if (!err && qn_str_eq(name, "content"))
        return add_content(r, &content, DOCUMENT, e);
    if (!err)
        err = read_str(&source, "data", &text, e);
    if (!err)
        qn_talk_text(&r->talk, text);
    return err;
}

static qn_err add_search_result(struct reader *r, const struct qn_jref *block, struct qn_error *e)
{
    struct qn_jref content = qn_json_get(block, "content");
    qn_err err = add_line(r, block, "title", e);
    if (!err)
        err = add_line(r, block, "source", e);
    return err ? err : add_content(r, &content, SYSTEM, e);
}

static qn_err add_tool_result(struct reader *r, const struct qn_jref *block, struct qn_error *e)
{
    struct qn_jref content = qn_json_get(block, "content"), flag = qn_json_get(block, "is_error");
    const char *id;
    bool failed = false;
    qn_err err = read_str(block, "tool_use_id", &id, e);
    if (!err)
        err = qn_json_bool_opt(&flag, &failed, e);
    if (err)
        return err;
    speak(r, QN_ROLE_TOOL);
    qn_talk_answers(&r->talk, id);
    if (failed) /* because templates read results as text only */
        qn_talk_text(&r->talk, "Error:");
    if (qn_json_type(&content) <= QN_JSON_NULL) {
        qn_talk_text(&r->talk, "");
        return QN_OK;
    }
    return add_content(r, &content, RESULT, e);
}

static qn_err add_tool_use(struct reader *r, const struct qn_jref *block, struct qn_error *e)
{
    struct qn_jref input = qn_json_get(block, "input");
    const char *id, *name;
    qn_err err = read_str(block, "id", &id, e);
    if (!err)
        err = read_str(block, "name", &name, e);
    if (!err && qn_json_type(&input) != QN_JSON_OBJECT)
        err = qn_json_fail(&input, e, "expected an object");
    if (err)
        return err;
    qn_talk_call(&r->talk, id, name, &input);
    r->called = true;
    return QN_OK;
}

static qn_err add_thinking(struct reader *r, const struct qn_jref *block, struct qn_error *e)
{
    const char *text;
    qn_err err = read_str(block, "thinking", &text, e);
    if (!err)
        qn_talk_reasoning(&r->talk, text);
    return err;
}

/* Checks a block of reasoning that its server has encrypted, and ignores it, because only that
 * server can read it. */
static qn_err add_redacted(struct reader *r, const struct qn_jref *block, struct qn_error *e)
{
    const char *data;
    (void)r;
    return read_str(block, "data", &data, e);
}

static const struct {
    const char *type;
    int places;
    qn_err (*add)(struct reader *r, const struct qn_jref *block, struct qn_error *e);
} blocks[] = {
    {"text", USER | ASSISTANT | SYSTEM | RESULT | DOCUMENT, add_text},
    {"image", USER | RESULT | DOCUMENT, add_image},
    {"document", USER | RESULT, add_document},
    {"search_result", USER | RESULT, add_search_result},
    {"tool_result", USER, add_tool_result},
    {"tool_use", ASSISTANT, add_tool_use},
    {"thinking", ASSISTANT, add_thinking},
    {"redacted_thinking", ASSISTANT, add_redacted},
};

static qn_err add_block(struct reader *r, const struct qn_jref *block, int place,
                        struct qn_error *e)
{
    struct qn_jref type = qn_json_get(block, "type");
    const char *name;
    if (qn_json_type(block) != QN_JSON_OBJECT)
        return qn_json_fail(block, e, "expected an object");
    qn_err err = qn_json_str(&type, &name, e);
    if (err)
        return err;
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        if (!(blocks[i].places & place) || !qn_str_eq(blocks[i].type, name))
            continue;
        if (place == USER && blocks[i].add != add_tool_result)
            speak(r, QN_ROLE_USER);
        return blocks[i].add(r, block, e);
    }
    return qn_json_fail(&type, e, "a block of type '%.40s' is not allowed here", name);
}

/* Reads a string, or an array of blocks. */
static qn_err add_content(struct reader *r, const struct qn_jref *content, int place,
                          struct qn_error *e)
{
    enum qn_json_type type = qn_json_type(content);
    if (type != QN_JSON_STRING && type != QN_JSON_ARRAY)
        return qn_json_fail(content, e, "expected a string or an array of blocks");
    if (qn_json_count(content) > BLOCKS_MAX)
        return qn_json_fail(content, e, "at most %d blocks are allowed", BLOCKS_MAX);
    if (place == USER && (type == QN_JSON_STRING || qn_json_count(content) == 0))
        speak(r, QN_ROLE_USER);
    if (type == QN_JSON_STRING || qn_json_count(content) == 0) {
        qn_talk_text(&r->talk, type == QN_JSON_STRING ? qn_json_raw_str(content) : "");
        return QN_OK;
    }
    qn_err err = QN_OK;
    struct qn_jref block;
    for (bool more = qn_json_first(content, &block); more && !err; more = qn_json_next(&block))
        err = add_block(r, &block, place, e);
    return err;
}

static qn_err add_message(struct reader *r, const struct qn_jref *m, struct qn_error *e)
{
    struct qn_jref role = qn_json_get(m, "role"), content = qn_json_get(m, "content");
    const char *name;
    if (qn_json_type(m) != QN_JSON_OBJECT)
        return qn_json_fail(m, e, "expected an object");
    qn_err err = qn_json_str(&role, &name, e);
    if (err)
        return err;
    if (qn_str_eq(name, "user"))
        return add_content(r, &content, USER, e);
    if (!qn_str_eq(name, "assistant") && !qn_str_eq(name, "system"))
        return qn_json_fail(&role, e, "'%.40s' is not a role: expected user or assistant", name);
    bool assistant = qn_str_eq(name, "assistant");
    speak(r, assistant ? QN_ROLE_ASSISTANT : QN_ROLE_SYSTEM);
    return add_content(r, &content, assistant ? ASSISTANT : SYSTEM, e);
}

qn_err qn_anthropic_talk(const struct qn_jref *system, const struct qn_jref *messages,
                         struct qn_arena *arena, struct qn_job *job, struct qn_error *e)
{
    struct reader r = {.role = QN_ROLE_NONE};
    struct qn_jref m;
    if (qn_json_type(messages) != QN_JSON_ARRAY)
        return qn_json_fail(messages, e, "expected an array of messages");
    if (qn_json_count(messages) == 0)
        return qn_json_fail(messages, e, "at least one message is needed");
    qn_err err = qn_talk_check(messages, e);
    qn_talk_init(&r.talk, job, arena);
    if (!err && qn_json_type(system) > QN_JSON_NULL) {
        speak(&r, QN_ROLE_SYSTEM);
        err = add_content(&r, system, SYSTEM, e);
    }
    for (bool more = qn_json_first(messages, &m); more && !err; more = qn_json_next(&m))
        err = add_message(&r, &m, e);
    /* A last message of the assistant is the beginning of the reply, unless it waits for tools. */
    job->chat.continue_last = !err && r.role == QN_ROLE_ASSISTANT && !r.called;
    if (!err)
        err = qn_talk_end(&r.talk, "messages", e);
    qn_talk_deinit(&r.talk);
    return err;
}
