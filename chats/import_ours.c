/* Chats as quince exports them (export.h). */
#include "chats/import_private.h"

#include "base/str.h"

#include <string.h>

static bool is_kind(const char *kind)
{
    return qn_str_eq(kind, "image") || qn_str_eq(kind, "audio") || qn_str_eq(kind, "file");
}

static void read_parts(struct qn_importing *im, struct qn_message_draft *d,
                       const struct qn_jref *message)
{
    struct qn_jref parts = qn_json_get(message, "parts"), it;
    for (bool more = qn_json_first(&parts, &it); more; more = qn_json_next(&it)) {
        struct qn_jref kind = qn_json_get(&it, "kind"), name = qn_json_get(&it, "name"),
                       type = qn_json_get(&it, "type"), data = qn_json_get(&it, "data"),
                       blob = qn_json_get(&it, "blob");
        struct qn_chats_imported_part part = {
            .kind = is_kind(qn_json_raw_str(&kind)) ? qn_import_text(im, &kind) : "file",
            .name = qn_import_name(im, &name),
            .type = qn_import_name(im, &type)};
        if (qn_json_type(&data) == QN_JSON_STRING) {
            part.data = qn_import_text(im, &data);
            part.n = strlen(part.data);
        } else if (qn_chats_blob_is_id(qn_json_raw_str(&blob))) {
            part.blob = qn_import_text(im, &blob);
        } else {
            qn_import_note(im, "the file '%.80s' is not part of the export: it was left out",
                           part.name);
            continue;
        }
        qn_import_part(im, d, &part);
    }
}

static qn_err read_message(struct qn_importing *im, const struct qn_jref *m, struct qn_error *e)
{
    struct qn_message_draft *d = qn_import_draft(im);
    if (!d)
        return qn_fail(e, QN_ELIMIT, "a chat has more than %d messages", QN_CHATS_MESSAGES_MAX);
    struct qn_chat_message *out = &d->message.m;
    struct qn_jref id = qn_json_get(m, "id"), parent = qn_json_get(m, "parent"),
                   role = qn_json_get(m, "role"), created = qn_json_get(m, "created"),
                   text = qn_json_get(m, "text"), reasoning = qn_json_get(m, "reasoning"),
                   calls = qn_json_get(m, "calls"), model = qn_json_get(m, "model"),
                   params = qn_json_get(m, "params"), stats = qn_json_get(m, "stats"),
                   state = qn_json_get(m, "state"), finish = qn_json_get(m, "finish"),
                   error = qn_json_get(m, "error");
    if (qn_json_type(&text) != QN_JSON_STRING)
        return qn_json_fail(&text, e, "expected a string");
    if (!qn_chat_role_parse(qn_json_raw_str(&role), &out->role))
        return qn_json_fail(&role, e, "expected user, assistant, system or tool");
    d->id = qn_import_id(im, &id);
    d->parent = qn_import_id(im, &parent);
    out->created_ms = qn_import_time(&created, 1);
    out->text = qn_import_text(im, &text);
    out->reasoning = qn_import_text(im, &reasoning);
    out->calls = qn_import_json(im, &calls, QN_JSON_ARRAY, "[]");
    out->model = qn_import_name(im, &model);
    out->params = qn_import_json(im, &params, QN_JSON_OBJECT, "{}");
    out->stats = qn_import_json(im, &stats, QN_JSON_OBJECT, "{}");
    out->finish = qn_import_name(im, &finish);
    out->error = qn_import_json(im, &error, QN_JSON_OBJECT, NULL);
    if (!qn_chat_state_parse(qn_json_raw_str(&state), &out->state))
        out->state = QN_CHAT_DONE;
    if (out->state == QN_CHAT_QUEUED || out->state == QN_CHAT_ANSWERING)
        out->state = QN_CHAT_INTERRUPTED;
    read_parts(im, d, m);
    return QN_OK;
}

qn_err qn_import_ours(struct qn_importing *im, const struct qn_jref *chat, struct qn_error *e)
{
    struct qn_stored_chat *c = &im->out->chat;
    struct qn_jref id = qn_json_get(chat, "id"), title = qn_json_get(chat, "title"),
                   folder = qn_json_get(chat, "folder"), pinned = qn_json_get(chat, "pinned"),
                   created = qn_json_get(chat, "created"), updated = qn_json_get(chat, "updated"),
                   model = qn_json_get(chat, "model"), system = qn_json_get(chat, "system"),
                   params = qn_json_get(chat, "params"), head = qn_json_get(chat, "head"),
                   messages = qn_json_get(chat, "messages"), it;
    if (qn_json_type(&messages) != QN_JSON_ARRAY)
        return qn_json_fail(&messages, e, "expected an array");
    if (qn_json_type(&id) == QN_JSON_STRING)
        im->out->origin = qn_import_name(im, &id);
    c->title = qn_import_name(im, &title);
    c->folder = qn_import_name(im, &folder);
    c->pinned = qn_json_raw_bool(&pinned);
    c->created_ms = qn_import_time(&created, 1);
    c->updated_ms = qn_import_time(&updated, 1);
    c->model = qn_import_name(im, &model);
    c->system = qn_import_text(im, &system);
    c->params = qn_import_json(im, &params, QN_JSON_OBJECT, "{}");
    im->head = qn_import_id(im, &head);
    qn_err err = QN_OK;
    for (bool more = qn_json_first(&messages, &it); more && !err; more = qn_json_next(&it))
        err = read_message(im, &it, e);
    return err;
}
