/* See chat_json.h. */
#include "api/chat_json.h"

#include "answers/answer.h"
#include "base/str.h"

#include <ctype.h>
#include <string.h>

enum { MESSAGE_MAX = 6 * (2 * QN_CHATS_TEXT_MAX + 5 * QN_CHATS_JSON_MAX) };

static void write_json(struct qn_jw *w, const char *key, const char *json)
{
    qn_jw_key(w, key);
    if (json && *json)
        qn_jw_raw(w, json, strlen(json));
    else
        qn_jw_null(w);
}

void qn_api_chat_write(struct qn_jw *w, const struct qn_stored_chat *c)
{
    qn_jw_obj(w);
    qn_jw_kstr(w, "id", c->id);
    qn_jw_kstr(w, "title", c->title);
    qn_jw_kstr(w, "folder", c->folder);
    qn_jw_kbool(w, "pinned", c->pinned);
    qn_jw_ki64(w, "created", c->created_ms);
    qn_jw_ki64(w, "updated", c->updated_ms);
    qn_jw_kstr(w, "model", c->model);
    if (c->system)
        qn_jw_kstr(w, "system", c->system);
    if (c->params)
        write_json(w, "params", c->params);
    qn_jw_kstr(w, "head", c->head);
    qn_jw_ki64(w, "messages", c->messages);
    qn_jw_kbool(w, "answering", c->answering);
    qn_jw_kbool(w, "asking", c->asking);
    if (c->deleted_ms)
        qn_jw_ki64(w, "deleted", c->deleted_ms);
    else
        qn_jw_knull(w, "deleted");
    qn_jw_obj_end(w);
}

void qn_api_chat_message_write(struct qn_jw *w, const struct qn_chat_message *m)
{
    qn_jw_obj(w);
    qn_jw_kstr(w, "id", m->id);
    qn_jw_kstr(w, "chat", m->chat);
    qn_jw_kstr(w, "parent", m->parent);
    qn_jw_kstr(w, "role", qn_chat_role_name(m->role));
    qn_jw_ki64(w, "created", m->created_ms);
    qn_jw_kstr(w, "text", m->text);
    qn_jw_kstr(w, "reasoning", m->reasoning);
    write_json(w, "parts", m->parts);
    write_json(w, "calls", m->calls);
    qn_jw_kstr(w, "model", m->model);
    write_json(w, "params", m->params);
    write_json(w, "stats", m->stats);
    qn_jw_kstr(w, "state", qn_chat_state_name(m->state));
    qn_jw_kstr(w, "finish", m->finish);
    write_json(w, "error", m->error);
    qn_jw_obj_end(w);
}

void qn_api_chat_message_answer(struct qn_http *h, int status, const struct qn_chat_message *m)
{
    struct qn_buf body;
    qn_buf_init(&body, MESSAGE_MAX);
    struct qn_jw w = qn_jw_to(&body);
    qn_api_chat_message_write(&w, m);
    qn_answer_json(h, status, &body);
    qn_buf_deinit(&body);
}

qn_err qn_api_chat_id_check(const char *id, const char *what, struct qn_error *e)
{
    if (strlen(id) == QN_CHATS_ID_DIGITS && strspn(id, "0123456789abcdef") == QN_CHATS_ID_DIGITS)
        return QN_OK;
    return qn_fail_param(e, QN_ENOTFOUND, what, "there is no %s with this id", what);
}

qn_err qn_api_members_known(const struct qn_jref *object, const char *const *known,
                            struct qn_error *e)
{
    struct qn_jref it;
    for (bool more = qn_json_first(object, &it); more; more = qn_json_next(&it)) {
        size_t i = 0;
        while (known[i] && !qn_str_eq(known[i], it.key))
            i++;
        if (!known[i])
            return qn_json_fail(&it, e, "this member is not known here");
    }
    return QN_OK;
}

void qn_api_chat_media_type(const char *text, char out[static QN_CHATS_BLOB_TYPE_MAX + 1])
{
    size_t n = text ? strcspn(text, "; \t") : 0, slashes = 0;
    bool valid = n > 0 && n <= QN_CHATS_BLOB_TYPE_MAX;
    for (size_t i = 0; valid && i < n; i++) {
        char c = text[i];
        slashes += c == '/';
        valid = isalnum((unsigned char)c) || (c && strchr("!#$&^_.+-", c)) ||
                (c == '/' && i > 0 && i + 1 < n);
        out[i] = (char)tolower((unsigned char)c);
    }
    out[valid ? n : 0] = '\0';
    if (!valid || slashes != 1)
        strcpy(out, "application/octet-stream");
}

void qn_api_chat_problem(struct qn_http *h, const struct qn_error *e)
{
    struct qn_problem p = {.error = e};
    if ((e->code == QN_EFORMAT || e->code == QN_EUNSUPPORTED) && !*e->param) {
        p.status = 500;
        p.type = "server_error";
        p.code = "storage_error";
    }
    qn_answer_problem(h, &p);
}
