/* Chats as Open WebUI exports them: {"id","title","chat":{...},"created_at","updated_at","pinned"},
 * where chat has "title", "models", "system" and "history": {"currentId", "messages": {ID: {"id",
 * "parentId","role","content","timestamp", ...}}}. Times are seconds. Reasoning is part of the
 * text, in an element <details type="reasoning">. */
#include "chats/import_private.h"

#include "base/buf.h"
#include "base/str.h"

#include <string.h>

/* Appends text with its character references replaced, those that the program writes. */
static void add_unescaped(struct qn_buf *out, const char *text, size_t n)
{
    static const struct {
        const char *name, *is;
    } references[] = {{"&gt;", ">"},    {"&lt;", "<"},   {"&amp;", "&"},
                      {"&quot;", "\""}, {"&#x27;", "'"}, {"&#39;", "'"}};
    for (size_t i = 0; i < n;) {
        size_t k = 0;
        while (k < sizeof references / sizeof *references &&
               (strlen(references[k].name) > n - i ||
                strncmp(text + i, references[k].name, strlen(references[k].name)) != 0))
            k++;
        if (k < sizeof references / sizeof *references) {
            qn_buf_str(out, references[k].is);
            i += strlen(references[k].name);
        } else {
            qn_buf_char(out, text[i++]);
        }
    }
}

/* Appends the lines of an element without the marks of a quotation, "> ", and without its summary.
 */
static void add_lines(struct qn_buf *out, const char *text, size_t n)
{
    static const char summary[] = "</summary>";
    struct qn_buf plain;
    const char *end = memmem(text, n, summary, sizeof summary - 1);
    if (end) {
        end += sizeof summary - 1;
        n -= (size_t)(end - text);
        text = end;
    }
    qn_buf_init(&plain, n + 1);
    add_unescaped(&plain, text, n);
    const char *p = qn_buf_cstr(&plain);
    p += strspn(p, "\n");
    while (*p) {
        if (*p == '>')
            p += p[1] == ' ' ? 2 : 1;
        size_t line = strcspn(p, "\n");
        qn_buf_add(out, p, line);
        p += line;
        if (*p && p[1])
            qn_buf_char(out, '\n');
        p += *p != '\0';
    }
    qn_buf_deinit(&plain);
}

/* Splits a text into reasoning, of the elements at its beginning, and the rest. */
static void split_reasoning(struct qn_importing *im, const char *text, struct qn_chat_message *m)
{
    static const char begin[] = "<details type=\"reasoning\"", close[] = "</details>";
    struct qn_buf reasoning;
    qn_buf_init(&reasoning, strlen(text) + 1);
    while (qn_str_starts(text, begin)) {
        const char *inner = strchr(text, '>'), *end = strstr(text, close);
        if (!inner || !end || inner > end)
            break;
        if (reasoning.len)
            qn_buf_str(&reasoning, "\n");
        add_lines(&reasoning, inner + 1, (size_t)(end - inner - 1));
        text = end + sizeof close - 1;
        text += strspn(text, "\n");
    }
    m->reasoning = qn_arena_strdup(im->arena, qn_buf_cstr(&reasoning));
    m->text = qn_arena_strdup(im->arena, text);
    qn_buf_deinit(&reasoning);
}

/* The content is a text, or an array of parts as in OpenAI's API. */
static void read_content(struct qn_importing *im, struct qn_message_draft *d,
                         const struct qn_jref *content)
{
    struct qn_jref it;
    struct qn_buf text;
    if (qn_json_type(content) == QN_JSON_STRING) {
        split_reasoning(im, qn_json_raw_str(content), &d->message.m);
        return;
    }
    qn_buf_init(&text, QN_CHATS_IMPORT_ONE_MAX);
    for (bool more = qn_json_first(content, &it); more && qn_json_type(content) == QN_JSON_ARRAY;
         more = qn_json_next(&it)) {
        struct qn_jref part = qn_json_get(&it, "text"), image = qn_json_get(&it, "image_url"),
                       url = qn_json_get(&image, "url");
        qn_buf_str(&text, qn_json_raw_str(&part));
        if (*qn_json_raw_str(&url))
            qn_import_url(im, d, "image", "", qn_import_text(im, &url));
    }
    d->message.m.text = qn_arena_strdup(im->arena, qn_buf_cstr(&text));
    qn_buf_deinit(&text);
}

static void read_files(struct qn_importing *im, struct qn_message_draft *d,
                       const struct qn_jref *files)
{
    struct qn_jref it;
    if (qn_json_type(files) != QN_JSON_ARRAY)
        return;
    for (bool more = qn_json_first(files, &it); more; more = qn_json_next(&it)) {
        struct qn_jref type = qn_json_get(&it, "type"), name = qn_json_get(&it, "name"),
                       url = qn_json_get(&it, "url");
        const char *kind = qn_str_eq(qn_json_raw_str(&type), "image") ? "image" : "file";
        qn_import_url(im, d, kind, qn_import_name(im, &name), qn_import_text(im, &url));
    }
}

static const char *read_usage(struct qn_importing *im, const struct qn_jref *usage)
{
    struct qn_jref prompt = qn_json_get(usage, "prompt_tokens"),
                   output = qn_json_get(usage, "completion_tokens");
    if (qn_json_type(&prompt) != QN_JSON_NUMBER || qn_json_type(&output) != QN_JSON_NUMBER)
        return "{}";
    return qn_arena_fmt(im->arena, "{\"prompt\":%.0f,\"output\":%.0f}", qn_json_raw_f64(&prompt),
                        qn_json_raw_f64(&output));
}

/* An error is an object with "content", or true and the message is the text. */
static void read_error(struct qn_importing *im, const struct qn_jref *error,
                       struct qn_chat_message *m)
{
    enum { SHOWN_MAX = 4096 };
    struct qn_jref content = qn_json_get(error, "content");
    struct qn_buf out;
    const char *text = qn_json_raw_str(&content);
    if (qn_json_type(error) != QN_JSON_OBJECT && !qn_json_raw_bool(error))
        return;
    qn_buf_init(&out, 16 * SHOWN_MAX);
    struct qn_jw w = qn_jw_to(&out);
    qn_jw_obj(&w);
    qn_jw_key(&w, "message");
    qn_jw_strn(&w, text, qn_utf8_whole(text, strnlen(text, SHOWN_MAX)));
    qn_jw_knull(&w, "code");
    qn_jw_knull(&w, "report");
    qn_jw_obj_end(&w);
    m->error = qn_arena_strdup(im->arena, qn_buf_cstr(&out));
    m->state = QN_CHAT_FAILED;
    qn_buf_deinit(&out);
}

static qn_err read_message(struct qn_importing *im, const struct qn_jref *m, struct qn_error *e)
{
    struct qn_message_draft *d = qn_import_draft(im);
    if (!d)
        return qn_fail(e, QN_ELIMIT, "a chat has more than %d messages", QN_CHATS_MESSAGES_MAX);
    struct qn_chat_message *out = &d->message.m;
    struct qn_jref id = qn_json_get(m, "id"), parent = qn_json_get(m, "parentId"),
                   role = qn_json_get(m, "role"), when = qn_json_get(m, "timestamp"),
                   content = qn_json_get(m, "content"), model = qn_json_get(m, "model"),
                   files = qn_json_get(m, "files"), done = qn_json_get(m, "done"),
                   usage = qn_json_get(m, "usage"), info = qn_json_get(m, "info"),
                   error = qn_json_get(m, "error");
    if (!qn_chat_role_parse(qn_json_raw_str(&role), &out->role))
        return qn_json_fail(&role, e, "expected user, assistant, system or tool");
    d->id = qn_import_id(im, &id);
    if (!d->id && m->key) /* the members of `messages` are named by their ids */
        d->id = qn_arena_strndup(im->arena, m->key, strnlen(m->key, QN_CHATS_NAME_MAX));
    d->parent = qn_import_id(im, &parent);
    out->created_ms = qn_import_time(&when, 1000);
    out->model = qn_import_name(im, &model);
    out->stats = read_usage(im, qn_json_type(&usage) == QN_JSON_OBJECT ? &usage : &info);
    read_content(im, d, &content);
    read_files(im, d, &files);
    if (qn_json_type(&done) == QN_JSON_BOOL && !qn_json_raw_bool(&done))
        out->state = QN_CHAT_INTERRUPTED;
    read_error(im, &error, out);
    return QN_OK;
}

qn_err qn_import_openwebui(struct qn_importing *im, const struct qn_jref *item,
                           const struct qn_jref *chat, struct qn_error *e)
{
    struct qn_stored_chat *c = &im->out->chat;
    struct qn_jref id = qn_json_get(item ? item : chat, "id"), title = qn_json_get(chat, "title"),
                   models = qn_json_get(chat, "models"), model,
                   system = qn_json_get(chat, "system"),
                   created = qn_json_get(item ? item : chat, "created_at"),
                   updated = qn_json_get(item ? item : chat, "updated_at"),
                   pinned = qn_json_get(item ? item : chat, "pinned"),
                   history = qn_json_get(chat, "history"),
                   current = qn_json_get(&history, "currentId"),
                   messages = qn_json_get(&history, "messages"), it;
    if (qn_json_type(&messages) != QN_JSON_OBJECT)
        return qn_json_fail(&messages, e, "expected an object");
    const char *origin = qn_import_id(im, &id);
    im->out->origin = origin ? qn_arena_fmt(im->arena, "openwebui:%s", origin) : "";
    c->title = qn_import_name(im, &title);
    c->pinned = qn_json_raw_bool(&pinned);
    c->created_ms = qn_import_time(&created, 1000);
    c->updated_ms = qn_import_time(&updated, 1000);
    c->system = qn_import_text(im, &system);
    if (qn_json_type(&models) == QN_JSON_ARRAY && qn_json_first(&models, &model))
        c->model = qn_import_name(im, &model);
    im->head = qn_import_id(im, &current);
    qn_err err = QN_OK;
    for (bool more = qn_json_first(&messages, &it); more && !err; more = qn_json_next(&it))
        err = read_message(im, &it, e);
    return err;
}
