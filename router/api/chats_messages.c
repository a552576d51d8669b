/* internal/messages: the messages of stored chats. A deleted message can be restored for
 * QN_CHATS_KEPT_DAYS, with all that was deleted with it. */
#include "api/api.h"

#include "api/chat_json.h"
#include "api/chats_ask.h"
#include "base/buf.h"
#include "base/str.h"
#include "chats/blobs.h"

#include <string.h>

/* A text of QN_CHATS_TEXT_MAX with most of its bytes escaped, and parts. */
enum { MESSAGE_BODY_MAX = 16 * 1024 * 1024 };

static void write_message(struct qn_jw *w, const struct qn_chats_found *found)
{
    qn_api_chat_message_write(w, &found->messages[0]);
}

static void write_deleted(struct qn_jw *w, const struct qn_chats_found *found)
{
    const struct qn_chat_message *m = &found->messages[0];
    qn_jw_obj(w);
    qn_jw_kstr(w, "id", m->id);
    qn_jw_kstr(w, "chat", m->chat);
    qn_jw_ki64(w, "deleted", m->deleted_ms);
    qn_jw_obj_end(w);
}

/* ---- adding ---- */

/* Reads one file of a message, and writes it as it is stored. */
static qn_err read_part(const struct qn_jref *part, struct qn_jw *w, const char **blob,
                        struct qn_error *e)
{
    static const char *const known[] = {"kind", "blob", "name", "type", "bytes", NULL};
    static const char *const kinds[] = {"image", "audio", "file", NULL};
    const char *kind = NULL, *name = "", *type = "application/octet-stream";
    int64_t bytes = 0;
    size_t i = 0;
    if (qn_json_type(part) != QN_JSON_OBJECT)
        return qn_json_fail(part, e, "expected an object");
    struct qn_jref k = qn_json_get(part, "kind"), b = qn_json_get(part, "blob"),
                   n = qn_json_get(part, "name"), t = qn_json_get(part, "type"),
                   s = qn_json_get(part, "bytes");
    qn_err err = qn_api_members_known(part, known, e);
    if (!err)
        err = qn_json_str(&k, &kind, e);
    while (!err && kinds[i] && !qn_str_eq(kinds[i], kind))
        i++;
    if (!err && !kinds[i])
        err = qn_json_fail(&k, e, "expected image, audio or file");
    if (!err)
        err = qn_json_str(&b, blob, e);
    if (!err && !qn_chats_blob_is_id(*blob))
        err = qn_json_fail(&b, e, "expected the id of a file, %d hexadecimal digits",
                           QN_CHATS_BLOB_DIGITS);
    if (!err)
        err = qn_json_str_opt(&n, &name, e);
    if (!err && strlen(name) > QN_CHATS_NAME_MAX)
        err = qn_json_fail(&n, e, "at most %d bytes are possible", QN_CHATS_NAME_MAX);
    if (!err)
        err = qn_json_str_opt(&t, &type, e);
    if (!err && strlen(type) > QN_CHATS_BLOB_TYPE_MAX)
        err = qn_json_fail(&t, e, "at most %d bytes are possible", QN_CHATS_BLOB_TYPE_MAX);
    if (!err)
        err = qn_json_i64_opt(&s, 0, QN_CHATS_BLOB_MAX, &bytes, e);
    if (err)
        return err;
    qn_jw_obj(w);
    qn_jw_kstr(w, "kind", kind);
    qn_jw_kstr(w, "blob", *blob);
    qn_jw_kstr(w, "name", name);
    qn_jw_kstr(w, "type", type);
    qn_jw_ki64(w, "bytes", bytes);
    qn_jw_obj_end(w);
    return QN_OK;
}

static qn_err read_parts(const struct qn_jref *root, struct qn_buf *out, const char **blobs,
                         size_t *n, struct qn_error *e)
{
    struct qn_jref parts = qn_json_get(root, "parts"), it;
    struct qn_jw w = qn_jw_to(out);
    enum qn_json_type type = qn_json_type(&parts);
    qn_err err = QN_OK;
    if (type > QN_JSON_NULL && type != QN_JSON_ARRAY)
        return qn_json_fail(&parts, e, "expected an array");
    if (qn_json_count(&parts) > QN_CHATS_PARTS_MAX)
        return qn_json_fail(&parts, e, "at most %d files are possible", QN_CHATS_PARTS_MAX);
    qn_jw_arr(&w);
    for (bool more = qn_json_first(&parts, &it); more && !err; more = qn_json_next(&it))
        err = read_part(&it, &w, &blobs[(*n)++], e);
    qn_jw_arr_end(&w);
    return err;
}

static qn_err read_message(const struct qn_jref *root, struct qn_chat_message *m,
                           struct qn_error *e)
{
    static const char *const known[] = {"chat", "parent", "role", "text", "parts", NULL};
    const char *role = NULL;
    struct qn_jref chat = qn_json_get(root, "chat"), parent = qn_json_get(root, "parent"),
                   r = qn_json_get(root, "role"), text = qn_json_get(root, "text");
    qn_err err = qn_api_members_known(root, known, e);
    if (!err)
        err = qn_json_str(&chat, &m->chat, e);
    if (!err)
        err = qn_api_chat_id_check(m->chat, "chat", e);
    if (!err)
        err = qn_json_str_opt(&parent, &m->parent, e);
    if (!err && m->parent && qn_api_chat_id_check(m->parent, "parent", NULL))
        err = qn_json_fail(&parent, e, "expected the id of a message");
    if (!err)
        err = qn_json_str(&r, &role, e);
    if (!err && !qn_chat_role_parse(role, &m->role))
        err = qn_json_fail(&r, e, "expected user, assistant, system or tool");
    return err ? err : qn_json_str(&text, &m->text, e);
}

static void add(struct qn_chats_ask *a, const struct qn_jref *root)
{
    const char *blobs[QN_CHATS_PARTS_MAX];
    struct qn_chat_message m = {.blobs = blobs};
    struct qn_buf parts;
    struct qn_error e = {0};
    qn_buf_init(&parts, QN_CHATS_JSON_MAX);
    a->status = 201;
    qn_err err = read_message(root, &m, &e);
    if (!err)
        err = read_parts(root, &parts, blobs, &m.n_blobs, &e);
    m.parts = qn_buf_cstr(&parts);
    if (err)
        qn_chats_ask_fail(a, &e);
    else
        qn_chats_add_message(a->api->chats, a->owner, &m, qn_chats_ask_found, a);
    qn_buf_deinit(&parts);
}

void qn_api_chat_message_add(const struct qn_chats_api *api, struct qn_http *h, const char *id)
{
    qn_chats_ask_body(qn_chats_ask_new(api, h, id, write_message), MESSAGE_BODY_MAX, add);
}

/* ---- reading and changing ---- */

/* A request about one message; NULL: it has been answered, because the id is invalid. */
static struct qn_chats_ask *ask(const struct qn_chats_api *api, struct qn_http *h, const char *id,
                                void (*write)(struct qn_jw *w, const struct qn_chats_found *found))
{
    struct qn_chats_ask *a = qn_chats_ask_new(api, h, id, write);
    struct qn_error e = {0};
    if (!qn_api_chat_id_check(id, "message", &e))
        return a;
    qn_chats_ask_fail(a, &e);
    return NULL;
}

void qn_api_chat_message(const struct qn_chats_api *api, struct qn_http *h, const char *id)
{
    struct qn_chats_ask *a = ask(api, h, id, write_message);
    if (a)
        qn_chats_read_message(api->chats, a->owner, id, qn_chats_ask_found, a);
}

static void change(struct qn_chats_ask *a, const struct qn_jref *root)
{
    static const char *const known[] = {"text", "deleted", NULL};
    const char *text = NULL;
    bool deleted = false;
    struct qn_error e = {0};
    struct qn_jref t = qn_json_get(root, "text"), d = qn_json_get(root, "deleted");
    qn_err err = qn_api_members_known(root, known, &e);
    if (!err && qn_json_type(&t) != QN_JSON_ABSENT)
        err = qn_json_str(&t, &text, &e);
    if (!err && qn_json_type(&d) != QN_JSON_ABSENT)
        err = qn_json_bool(&d, &deleted, &e);
    if (err)
        qn_chats_ask_fail(a, &e);
    else
        qn_chats_change_message(a->api->chats, a->owner, a->id, text,
                                qn_json_type(&d) == QN_JSON_ABSENT ? NULL : &deleted,
                                qn_chats_ask_found, a);
}

void qn_api_chat_message_change(const struct qn_chats_api *api, struct qn_http *h, const char *id)
{
    struct qn_chats_ask *a = ask(api, h, id, write_message);
    if (a)
        qn_chats_ask_body(a, MESSAGE_BODY_MAX, change);
}

void qn_api_chat_message_remove(const struct qn_chats_api *api, struct qn_http *h, const char *id)
{
    const bool deleted = true;
    struct qn_chats_ask *a = ask(api, h, id, write_deleted);
    if (a)
        qn_chats_change_message(api->chats, a->owner, id, NULL, &deleted, qn_chats_ask_found, a);
}
