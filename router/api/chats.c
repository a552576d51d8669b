/* internal/chats: lists of stored chats, one chat with its messages, changes, search. Each client
 * sees the chats of its owner (access/owner.h) alone. */
#include "api/api.h"

#include "api/chat_json.h"
#include "api/chats_ask.h"
#include "api/chats_load.h"
#include "base/buf.h"
#include "base/str.h"

#include <string.h>

enum {
    CHAT_BODY_MAX = 2 * 1024 * 1024, /* a system message of QN_CHATS_SYSTEM_MAX, and its escapes */
    PAGE = 50,
    HITS = 30
};

/* ---- replies ---- */

static void write_chat(struct qn_jw *w, const struct qn_chats_found *found)
{
    qn_api_chat_write(w, &found->chats[0]);
}

static void write_list(struct qn_jw *w, const struct qn_chats_found *found)
{
    qn_jw_obj(w);
    qn_jw_key(w, "chats");
    qn_jw_arr(w);
    for (size_t i = 0; i < found->n_chats; i++)
        qn_api_chat_write(w, &found->chats[i]);
    qn_jw_arr_end(w);
    qn_jw_key(w, "folders");
    qn_jw_arr(w);
    for (size_t i = 0; i < found->n_folders; i++) {
        qn_jw_obj(w);
        qn_jw_kstr(w, "name", found->folders[i].name);
        qn_jw_ki64(w, "n", found->folders[i].n);
        qn_jw_obj_end(w);
    }
    qn_jw_arr_end(w);
    qn_jw_kstr(w, "next", found->next);
    qn_jw_obj_end(w);
}

static void write_tree(struct qn_jw *w, const struct qn_chats_found *found)
{
    qn_jw_obj(w);
    qn_jw_key(w, "chat");
    qn_api_chat_write(w, &found->chats[0]);
    qn_jw_key(w, "messages");
    qn_jw_arr(w);
    for (size_t i = 0; i < found->n_messages; i++)
        qn_api_chat_message_write(w, &found->messages[i]);
    qn_jw_arr_end(w);
    qn_jw_obj_end(w);
}

static void write_hits(struct qn_jw *w, const struct qn_chats_found *found)
{
    qn_jw_obj(w);
    qn_jw_key(w, "hits");
    qn_jw_arr(w);
    for (size_t i = 0; i < found->n_hits; i++) {
        const struct qn_chat_hit *hit = &found->hits[i];
        qn_jw_obj(w);
        qn_jw_kstr(w, "chat", hit->chat);
        qn_jw_kstr(w, "message", hit->message);
        qn_jw_kstr(w, "title", hit->title);
        qn_jw_key(w, "snippet");
        qn_jw_arr(w);
        for (size_t k = 0; k < hit->n_segments; k++) {
            qn_jw_obj(w);
            qn_jw_kstr(w, "text", hit->segments[k].text);
            qn_jw_kbool(w, "mark", hit->segments[k].mark);
            qn_jw_obj_end(w);
        }
        qn_jw_arr_end(w);
        qn_jw_ki64(w, "when", hit->when_ms);
        qn_jw_obj_end(w);
    }
    qn_jw_arr_end(w);
    qn_jw_kbool(w, "incomplete", found->incomplete);
    qn_jw_obj_end(w);
}

/* ---- reading ---- */

/* The query parameter `limit`, 1 to max. */
static qn_err read_limit(struct qn_http *h, int64_t max, int64_t *limit, struct qn_error *e)
{
    const char *text = qn_http_query(h, "limit");
    if (text && (!qn_parse_i64(text, limit) || *limit < 1 || *limit > max))
        return qn_fail_param(e, QN_EINVAL, "limit", "limit: expected a number from 1 to %lld",
                             (long long)max);
    return QN_OK;
}

static qn_err read_flag(struct qn_http *h, const char *name, bool *out, struct qn_error *e)
{
    const char *text = qn_http_query(h, name);
    *out = qn_str_eq(text, "true");
    return !text || *out || qn_str_eq(text, "false")
               ? QN_OK
               : qn_fail_param(e, QN_EINVAL, name, "%s: expected true or false", name);
}

void qn_api_chats(const struct qn_chats_api *api, struct qn_http *h, const char *id)
{
    struct qn_chats_ask *a = qn_chats_ask_new(api, h, id, write_list);
    struct qn_error e = {0};
    int64_t limit = PAGE;
    struct qn_chats_list wish = {.folder = qn_http_query(h, "folder"),
                                 .before = qn_http_query(h, "before")};
    qn_err err = read_limit(h, QN_CHATS_PAGE_MAX, &limit, &e);
    if (!err)
        err = read_flag(h, "deleted", &wish.deleted, &e);
    wish.limit = (size_t)limit;
    if (err)
        qn_chats_ask_fail(a, &e);
    else
        qn_chats_list(api->chats, a->owner, &wish, qn_chats_ask_found, a);
}

void qn_api_chat(const struct qn_chats_api *api, struct qn_http *h, const char *id)
{
    struct qn_chats_ask *a = qn_chats_ask_new(api, h, id, write_tree);
    struct qn_error e = {0};
    qn_err err = qn_api_chat_id_check(id, "chat", &e);
    if (!err)
        err = qn_chats_load_begin(api->load, QN_CHATS_READING, a->owner, &e);
    a->heavy = !err;
    if (err)
        qn_chats_ask_fail(a, &e);
    else
        qn_chats_read(api->chats, a->owner, id, qn_chats_ask_found, a);
}

void qn_api_chat_search(const struct qn_chats_api *api, struct qn_http *h, const char *id)
{
    struct qn_chats_ask *a = qn_chats_ask_new(api, h, id, write_hits);
    struct qn_error e = {0};
    int64_t limit = HITS;
    const char *query = qn_http_query(h, "q");
    qn_err err = read_limit(h, QN_CHATS_HITS_MAX, &limit, &e);
    if (!err && !query)
        err = qn_fail_param(&e, QN_EINVAL, "q", "q: the words to search for are missing");
    if (err)
        qn_chats_ask_fail(a, &e);
    else
        qn_chats_search(api->chats, a->owner, query, (size_t)limit, qn_chats_ask_found, a);
}

/* ---- changing ---- */

/* Values of a patch that have no place in the parsed body. */
struct patch_values {
    struct qn_chat_patch patch;
    bool pinned, deleted;
    struct qn_buf params;
};

/* A text member; null is the empty text. Absent: *out stays NULL. */
static qn_err read_text(const struct qn_jref *root, const char *key, const char **out,
                        struct qn_error *e)
{
    struct qn_jref v = qn_json_get(root, key);
    if (qn_json_type(&v) == QN_JSON_NULL)
        *out = "";
    return qn_json_str_opt(&v, out, e);
}

static qn_err read_bool(const struct qn_jref *root, const char *key, bool *value, const bool **out,
                        struct qn_error *e)
{
    struct qn_jref v = qn_json_get(root, key);
    if (qn_json_type(&v) == QN_JSON_ABSENT)
        return QN_OK;
    *out = value;
    return qn_json_bool(&v, value, e);
}

static qn_err read_params(const struct qn_jref *root, struct patch_values *v, struct qn_error *e)
{
    struct qn_jref params = qn_json_get(root, "params");
    enum qn_json_type type = qn_json_type(&params);
    if (type == QN_JSON_ABSENT)
        return QN_OK;
    if (type != QN_JSON_OBJECT && type != QN_JSON_NULL)
        return qn_json_fail(&params, e, "expected an object");
    v->patch.params = "{}";
    if (type == QN_JSON_NULL)
        return QN_OK;
    if (qn_json_print(&params, &v->params))
        return qn_fail_param(e, QN_ELIMIT, "params", "params: at most %d bytes are possible",
                             QN_CHATS_JSON_MAX);
    v->patch.params = qn_buf_cstr(&v->params);
    return QN_OK;
}

/* Reads the members that `known` names. The values are lent by root and *v, which the caller ends
 * with qn_buf_deinit(&v->params). */
static qn_err read_patch(const struct qn_jref *root, const char *const *known,
                         struct patch_values *v, struct qn_error *e)
{
    *v = (struct patch_values){.pinned = false};
    qn_buf_init(&v->params, QN_CHATS_JSON_MAX);
    qn_err err = qn_api_members_known(root, known, e);
    if (!err)
        err = read_text(root, "title", &v->patch.title, e);
    if (!err)
        err = read_text(root, "folder", &v->patch.folder, e);
    if (!err)
        err = read_text(root, "model", &v->patch.model, e);
    if (!err)
        err = read_text(root, "system", &v->patch.system, e);
    if (!err)
        err = read_params(root, v, e);
    if (!err)
        err = read_bool(root, "pinned", &v->pinned, &v->patch.pinned, e);
    if (!err)
        err = read_bool(root, "deleted", &v->deleted, &v->patch.deleted, e);
    struct qn_jref head = qn_json_get(root, "head");
    return err ? err : qn_json_str_opt(&head, &v->patch.head, e);
}

static void add(struct qn_chats_ask *a, const struct qn_jref *root)
{
    static const char *const known[] = {"title",  "folder", "pinned", "model",
                                        "system", "params", NULL};
    struct patch_values v;
    struct qn_error e = {0};
    a->status = 201;
    if (read_patch(root, known, &v, &e))
        qn_chats_ask_fail(a, &e);
    else
        qn_chats_add(a->api->chats, a->owner, &v.patch, qn_chats_ask_found, a);
    qn_buf_deinit(&v.params);
}

void qn_api_chat_add(const struct qn_chats_api *api, struct qn_http *h, const char *id)
{
    qn_chats_ask_body(qn_chats_ask_new(api, h, id, write_chat), CHAT_BODY_MAX, add);
}

static void change(struct qn_chats_ask *a, const struct qn_jref *root)
{
    static const char *const known[] = {"title",  "folder", "pinned",  "model", "system",
                                        "params", "head",   "deleted", NULL};
    struct patch_values v;
    struct qn_error e = {0};
    if (read_patch(root, known, &v, &e))
        qn_chats_ask_fail(a, &e);
    else
        qn_chats_change(a->api->chats, a->owner, a->id, &v.patch, qn_chats_ask_found, a);
    qn_buf_deinit(&v.params);
}

void qn_api_chat_change(const struct qn_chats_api *api, struct qn_http *h, const char *id)
{
    struct qn_chats_ask *a = qn_chats_ask_new(api, h, id, write_chat);
    struct qn_error e = {0};
    if (qn_api_chat_id_check(id, "chat", &e))
        qn_chats_ask_fail(a, &e);
    else
        qn_chats_ask_body(a, CHAT_BODY_MAX, change);
}

void qn_api_chat_remove(const struct qn_chats_api *api, struct qn_http *h, const char *id)
{
    struct qn_chats_ask *a = qn_chats_ask_new(api, h, id, qn_chats_ask_write_done);
    struct qn_error e = {0};
    if (qn_api_chat_id_check(id, "chat", &e))
        qn_chats_ask_fail(a, &e);
    else
        qn_chats_remove(api->chats, a->owner, id, qn_chats_ask_found, a);
}

/* Reads the array `ids`. */
static qn_err read_ids(const struct qn_jref *root, const char **ids, size_t *n, struct qn_error *e)
{
    struct qn_jref list = qn_json_get(root, "ids"), it;
    if (qn_json_type(&list) != QN_JSON_ARRAY)
        return qn_json_fail(&list, e, "expected an array of ids");
    if (qn_json_count(&list) > QN_CHATS_BULK_MAX)
        return qn_fail_param(e, QN_ELIMIT, "ids", "ids: at most %d chats at once",
                             QN_CHATS_BULK_MAX);
    *n = 0;
    for (bool more = qn_json_first(&list, &it); more; more = qn_json_next(&it)) {
        qn_err err = qn_json_str(&it, &ids[*n], e);
        if (!err)
            err = qn_api_chat_id_check(ids[(*n)++], "chat", e);
        if (err)
            return err;
    }
    return QN_OK;
}

static void change_all(struct qn_chats_ask *a, const struct qn_jref *root)
{
    static const char *const known[] = {"ids", "set", NULL};
    static const char *const settable[] = {"folder", "pinned", "deleted", NULL};
    const char *ids[QN_CHATS_BULK_MAX];
    size_t n = 0;
    struct patch_values v = {.pinned = false};
    struct qn_error e = {0};
    struct qn_jref set = qn_json_get(root, "set");
    qn_err err = qn_api_members_known(root, known, &e);
    if (!err && qn_json_type(&set) != QN_JSON_OBJECT)
        err = qn_json_fail(&set, &e, "expected an object");
    if (!err)
        err = read_ids(root, ids, &n, &e);
    if (!err)
        err = read_patch(&set, settable, &v, &e);
    if (err)
        qn_chats_ask_fail(a, &e);
    else
        qn_chats_change_all(a->api->chats, a->owner, ids, n, &v.patch, qn_chats_ask_found, a);
    qn_buf_deinit(&v.params);
}

void qn_api_chats_bulk(const struct qn_chats_api *api, struct qn_http *h, const char *id)
{
    qn_chats_ask_body(qn_chats_ask_new(api, h, id, qn_chats_ask_write_done), CHAT_BODY_MAX, change_all);
}
