/* internal/presets: system messages and parameters with a name, to be chosen for chats. */
#include "api/api.h"

#include "api/chat_json.h"
#include "api/chats_ask.h"
#include "base/buf.h"
#include "chats/presets.h"

#include <string.h>

enum { PRESET_BODY_MAX = 2 * 1024 * 1024 }; /* the longest texts, and their escapes */

static void write_one(struct qn_jw *w, const struct qn_chat_preset *p)
{
    qn_jw_obj(w);
    qn_jw_kstr(w, "id", p->id);
    qn_jw_kstr(w, "name", p->name);
    qn_jw_kstr(w, "system", p->system);
    qn_jw_key(w, "params");
    qn_jw_raw(w, p->params, strlen(p->params));
    qn_jw_ki64(w, "updated", p->updated_ms);
    qn_jw_obj_end(w);
}

static void write_preset(struct qn_jw *w, const struct qn_chats_found *found)
{
    write_one(w, &found->presets[0]);
}

static void write_presets(struct qn_jw *w, const struct qn_chats_found *found)
{
    qn_jw_obj(w);
    qn_jw_key(w, "presets");
    qn_jw_arr(w);
    for (size_t i = 0; i < found->n_presets; i++)
        write_one(w, &found->presets[i]);
    qn_jw_arr_end(w);
    qn_jw_obj_end(w);
}

void qn_api_chat_presets(const struct qn_chats_api *api, struct qn_http *h, const char *id)
{
    struct qn_chats_ask *a = qn_chats_ask_new(api, h, id, write_presets);
    qn_chats_presets(api->chats, a->owner, qn_chats_ask_found, a);
}

/* params: initialised; holds the parameters' JSON. */
static qn_err read_preset(const struct qn_jref *root, struct qn_chat_preset *p,
                          struct qn_buf *params, struct qn_error *e)
{
    static const char *const known[] = {"name", "system", "params", NULL};
    struct qn_jref name = qn_json_get(root, "name"), system = qn_json_get(root, "system"),
                   given = qn_json_get(root, "params");
    enum qn_json_type type = qn_json_type(&given);
    qn_err err = qn_api_members_known(root, known, e);
    if (!err)
        err = qn_json_str(&name, &p->name, e);
    if (!err)
        err = qn_json_str_opt(&system, &p->system, e);
    if (err || type == QN_JSON_ABSENT || type == QN_JSON_NULL)
        return err;
    if (type != QN_JSON_OBJECT)
        return qn_json_fail(&given, e, "expected an object");
    if (qn_json_print(&given, params))
        return qn_fail_param(e, QN_ELIMIT, "params", "params: at most %d bytes are possible",
                             QN_CHATS_PRESET_PARAMS_MAX);
    p->params = qn_buf_cstr(params);
    return QN_OK;
}

static void put(struct qn_chats_ask *a, const struct qn_jref *root)
{
    struct qn_chat_preset p = {0};
    struct qn_buf params;
    struct qn_error e = {0};
    qn_buf_init(&params, QN_CHATS_PRESET_PARAMS_MAX);
    a->status = 201;
    if (read_preset(root, &p, &params, &e))
        qn_chats_ask_fail(a, &e);
    else
        qn_chats_put_preset(a->api->chats, a->owner, &p, qn_chats_ask_found, a);
    qn_buf_deinit(&params);
}

void qn_api_chat_preset_put(const struct qn_chats_api *api, struct qn_http *h, const char *id)
{
    qn_chats_ask_body(qn_chats_ask_new(api, h, id, write_preset), PRESET_BODY_MAX, put);
}

void qn_api_chat_preset_remove(const struct qn_chats_api *api, struct qn_http *h, const char *id)
{
    struct qn_chats_ask *a = qn_chats_ask_new(api, h, id, qn_chats_ask_write_done);
    struct qn_error e = {0};
    if (qn_api_chat_id_check(id, "preset", &e))
        qn_chats_ask_fail(a, &e);
    else
        qn_chats_remove_preset(api->chats, a->owner, id, qn_chats_ask_found, a);
}
