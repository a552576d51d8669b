/* Chats as llama.cpp's web page exports them: {"conv": {"id","name","lastModified","currNode"},
 * "messages": [...]}, or as lines: one {"type":"session", ...} with the members of conv, then one
 * {"type":"message","message":{...}} for each message. The first message of such a chat has the
 * type "root" and is not shown. */
#include "chats/import_private.h"

#include "base/buf.h"
#include "base/str.h"

#include <string.h>
#include <strings.h>

void qn_import_llama_conv(struct qn_importing *im, const struct qn_jref *conv)
{
    struct qn_stored_chat *c = &im->out->chat;
    struct qn_jref id = qn_json_get(conv, "id"), name = qn_json_get(conv, "name"),
                   when = qn_json_get(conv, "lastModified"), node = qn_json_get(conv, "currNode"),
                   pinned = qn_json_get(conv, "pinned");
    const char *origin = qn_import_id(im, &id);
    im->out->origin = origin ? qn_arena_fmt(im->arena, "llama.cpp:%s", origin) : "";
    c->title = qn_import_name(im, &name);
    c->pinned = qn_json_raw_bool(&pinned);
    c->created_ms = c->updated_ms = qn_import_time(&when, 1);
    im->head = qn_import_id(im, &node);
}

/* Copies an attachment whose type is given in the old or the new way: "imageFile" or "IMAGE". */
static void read_extra(struct qn_importing *im, struct qn_message_draft *d,
                       const struct qn_jref *extra)
{
    struct qn_jref type = qn_json_get(extra, "type"), name = qn_json_get(extra, "name"),
                   url = qn_json_get(extra, "base64Url"), data = qn_json_get(extra, "base64Data"),
                   mime = qn_json_get(extra, "mimeType"), content = qn_json_get(extra, "content");
    const char *kind = qn_json_raw_str(&type), *file = qn_import_name(im, &name);
    if (qn_json_type(&url) == QN_JSON_STRING) {
        qn_import_url(im, d, "image", file, qn_import_text(im, &url));
    } else if (strncasecmp(kind, "audio", 5) == 0 && qn_json_type(&data) == QN_JSON_STRING) {
        const char *text = qn_import_text(im, &data);
        if (qn_str_starts(text, "data:")) {
            qn_import_url(im, d, "audio", file, text);
            return;
        }
        const struct qn_chats_imported_part part = {.kind = "audio",
                                                    .name = file,
                                                    .type = qn_import_name(im, &mime),
                                                    .data = text,
                                                    .n = strlen(text)};
        qn_import_part(im, d, &part);
    } else if (qn_json_type(&content) == QN_JSON_STRING) { /* also of a PDF: its text */
        const char *text = qn_import_text(im, &content);
        const struct qn_chats_imported_part part = {.kind = "file",
                                                    .name = file,
                                                    .type = "text/plain",
                                                    .data = text,
                                                    .n = strlen(text),
                                                    .plain = true};
        qn_import_part(im, d, &part);
    } else {
        qn_import_note(im, "the attachment '%.80s' of type '%.40s' was left out", file, kind);
    }
}

/* Tool calls are an array, or the same as text. */
static const char *read_calls(struct qn_importing *im, const struct qn_jref *calls)
{
    struct qn_json *doc = NULL;
    struct qn_jref list = *calls, it;
    struct qn_buf out;
    const char *text = qn_json_raw_str(calls), *result = "[]";
    if (qn_json_type(calls) == QN_JSON_STRING) {
        if (!*text || qn_json_parse(text, strlen(text), &doc, NULL))
            return result;
        list = qn_json_root(doc);
    }
    qn_buf_init(&out, QN_CHATS_JSON_MAX);
    struct qn_jw w = qn_jw_to(&out);
    qn_jw_arr(&w);
    for (bool more = qn_json_first(&list, &it); more && qn_json_type(&list) == QN_JSON_ARRAY;
         more = qn_json_next(&it)) {
        struct qn_jref id = qn_json_get(&it, "id"), function = qn_json_get(&it, "function"),
                       name = qn_json_get(&function, "name"),
                       arguments = qn_json_get(&function, "arguments");
        qn_jw_obj(&w);
        qn_jw_kstr(&w, "id", qn_json_raw_str(&id));
        qn_jw_kstr(&w, "name", qn_json_raw_str(&name));
        qn_jw_kstr(&w, "arguments", qn_json_raw_str(&arguments));
        qn_jw_knull(&w, "result");
        qn_jw_kstr(&w, "state", "done");
        qn_jw_obj_end(&w);
    }
    qn_jw_arr_end(&w);
    if (!out.overflow)
        result = qn_arena_strdup(im->arena, qn_buf_cstr(&out));
    else
        qn_import_note(im, "the tool calls of a message were left out: they are too long");
    qn_buf_deinit(&out);
    qn_json_free(doc);
    return result;
}

/* Members of `timings` and what they are called here. */
static const char *read_timings(struct qn_importing *im, const struct qn_jref *timings)
{
    static const char *const names[][2] = {
        {"prompt_n", "prompt"},        {"cache_n", "cached"},
        {"predicted_n", "output"},     {"prompt_ms", "prompt_ms"},
        {"predicted_ms", "output_ms"}, {"predicted_per_second", "tokens_s"}};
    struct qn_buf out;
    qn_buf_init(&out, QN_CHATS_JSON_MAX);
    struct qn_jw w = qn_jw_to(&out);
    qn_jw_obj(&w);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct qn_jref v = qn_json_get(timings, names[i][0]);
        if (qn_json_type(&v) == QN_JSON_NUMBER)
            qn_jw_kf64(&w, names[i][1], qn_json_raw_f64(&v));
    }
    qn_jw_obj_end(&w);
    const char *text = qn_arena_strdup(im->arena, qn_buf_cstr(&out));
    qn_buf_deinit(&out);
    return text;
}

/* A system message at the beginning is the chat's. */
static void take_system(struct qn_importing *im, struct qn_message_draft *d)
{
    bool first = !d->parent;
    for (size_t i = 0; i < im->n && !first; i++)
        first = im->drafts[i].left_out && qn_str_eq(im->drafts[i].id, d->parent);
    if (!first || *im->out->chat.system || strlen(d->message.m.text) > QN_CHATS_SYSTEM_MAX)
        return;
    im->out->chat.system = d->message.m.text;
    d->left_out = true;
}

qn_err qn_import_llama_message(struct qn_importing *im, const struct qn_jref *m, struct qn_error *e)
{
    struct qn_message_draft *d = qn_import_draft(im);
    if (!d)
        return qn_fail(e, QN_ELIMIT, "a chat has more than %d messages", QN_CHATS_MESSAGES_MAX);
    struct qn_chat_message *out = &d->message.m;
    struct qn_jref id = qn_json_get(m, "id"), parent = qn_json_get(m, "parent"),
                   type = qn_json_get(m, "type"), role = qn_json_get(m, "role"),
                   when = qn_json_get(m, "timestamp"), content = qn_json_get(m, "content"),
                   reasoning = qn_json_get(m, "reasoningContent"),
                   thinking = qn_json_get(m, "thinking"), calls = qn_json_get(m, "toolCalls"),
                   model = qn_json_get(m, "model"), timings = qn_json_get(m, "timings"),
                   extra = qn_json_get(m, "extra"), it;
    d->id = qn_import_id(im, &id);
    d->parent = qn_import_id(im, &parent);
    d->left_out = qn_str_eq(qn_json_raw_str(&type), "root");
    if (d->left_out)
        return QN_OK;
    if (!qn_chat_role_parse(qn_json_raw_str(&role), &out->role))
        return qn_json_fail(&role, e, "expected user, assistant, system or tool");
    if (qn_json_type(&content) != QN_JSON_STRING && qn_json_type(&content) != QN_JSON_NULL)
        return qn_json_fail(&content, e, "expected a string");
    out->created_ms = qn_import_time(&when, 1);
    out->text = qn_import_text(im, &content);
    out->reasoning = qn_import_text(im, *qn_json_raw_str(&reasoning) ? &reasoning : &thinking);
    out->calls = read_calls(im, &calls);
    out->model = qn_import_name(im, &model);
    out->stats = read_timings(im, &timings);
    if (qn_json_type(&extra) == QN_JSON_ARRAY)
        for (bool more = qn_json_first(&extra, &it); more; more = qn_json_next(&it))
            read_extra(im, d, &it);
    if (out->role == QN_CHAT_SYSTEM)
        take_system(im, d);
    if (*out->model)
        im->out->chat.model = out->model;
    return QN_OK;
}

qn_err qn_import_llama(struct qn_importing *im, const struct qn_jref *item, struct qn_error *e)
{
    struct qn_jref conv = qn_json_get(item, "conv"), messages = qn_json_get(item, "messages"), it;
    if (qn_json_type(&conv) != QN_JSON_OBJECT)
        return qn_json_fail(&conv, e, "expected an object");
    if (qn_json_type(&messages) != QN_JSON_ARRAY)
        return qn_json_fail(&messages, e, "expected an array");
    qn_import_llama_conv(im, &conv);
    qn_err err = QN_OK;
    for (bool more = qn_json_first(&messages, &it); more && !err; more = qn_json_next(&it))
        err = qn_import_llama_message(im, &it, e);
    return err;
}
