/* See body.h. */
#include "answering/body.h"

#include "answering/body_params.h"
#include "base/json.h"
#include "base/path.h"
#include "base/str.h"
#include "chats/blobs.h"
#include "digest/base64.h"

#include <stdlib.h>
#include <string.h>

enum {
    FILE_NAME_SHOWN_MAX = 200,
    DOCUMENT_MAX = 8 * 1024 * 1024 /* bytes of a text file */
};

/* ---- messages ---- */

static const char *member(const struct qn_jref *object, const char *name)
{
    struct qn_jref v = qn_json_get(object, name);
    return qn_json_raw_str(&v);
}

static void write_text_part(struct qn_jw *w, const char *text, size_t n)
{
    qn_jw_obj(w);
    qn_jw_kstr(w, "type", "text");
    qn_jw_key(w, "text");
    qn_jw_strn(w, text, n);
    qn_jw_obj_end(w);
}

static void write_base64(struct qn_jw *w, const char *key, const char *type,
                         const struct qn_buf *file)
{
    qn_jw_key(w, key);
    qn_jw_raw(w, "\"", 1);
    if (type)
        qn_buf_fmt(w->out, "data:%s;base64,", type);
    qn_base64_add(w->out, file->data ? file->data : "", file->len);
    qn_buf_char(w->out, '"');
}

static void write_image(struct qn_jw *w, const char *type, const struct qn_buf *file)
{
    qn_jw_obj(w);
    qn_jw_kstr(w, "type", "image_url");
    qn_jw_key(w, "image_url");
    qn_jw_obj(w);
    write_base64(w, "url", type, file);
    qn_jw_obj_end(w);
    qn_jw_obj_end(w);
}

static void write_audio(struct qn_jw *w, const char *type, const struct qn_buf *file)
{
    const char *slash = strchr(type, '/');
    qn_jw_obj(w);
    qn_jw_kstr(w, "type", "input_audio");
    qn_jw_key(w, "input_audio");
    qn_jw_obj(w);
    write_base64(w, "data", NULL, file);
    qn_jw_kstr(w, "format", slash ? slash + 1 : "wav");
    qn_jw_obj_end(w);
    qn_jw_obj_end(w);
}

/* A text file becomes a part of the text, under its name. */
static qn_err write_document(struct qn_jw *w, const char *name, const struct qn_buf *file,
                             struct qn_error *e)
{
    struct qn_buf text;
    if (memchr(file->data ? file->data : "", '\0', file->len) ||
        !qn_utf8_valid(file->data, file->len))
        return qn_fail_param(e, QN_EUNSUPPORTED, "parts",
                             "parts: '%.*s' is not a text file, a picture or a sound",
                             FILE_NAME_SHOWN_MAX, name);
    if (file->len > DOCUMENT_MAX)
        return qn_fail_param(e, QN_ELIMIT, "parts",
                             "parts: '%.*s' has %zu bytes: a text file may have %d",
                             FILE_NAME_SHOWN_MAX, name, file->len, DOCUMENT_MAX);
    qn_buf_init(&text, DOCUMENT_MAX + 2 * QN_CHATS_NAME_MAX);
    qn_buf_fmt(&text, "%s:\n\n", name);
    qn_buf_add(&text, file->data ? file->data : "", file->len);
    write_text_part(w, qn_buf_cstr(&text), text.len);
    qn_buf_deinit(&text);
    return QN_OK;
}

/* Writes one file of a message as a part of its content. */
static qn_err write_file(struct qn_jw *w, const struct qn_jref *part, const char *blobs,
                         struct qn_error *e)
{
    const char *kind = member(part, "kind"), *type = member(part, "type"),
               *name = member(part, "name"), *blob = member(part, "blob");
    struct qn_buf file;
    if (!qn_chats_blob_is_id(blob))
        return qn_fail_param(e, QN_EINVAL, "parts", "parts: '%.80s' is not the id of a file", blob);
    char *path = qn_path_join(blobs, blob);
    qn_buf_init(&file, QN_CHATS_BLOB_MAX);
    qn_err err = qn_file_read(path, &file, NULL);
    if (err)
        err = qn_fail_param(e, err, "parts", "parts: the file '%.*s' cannot be read",
                            FILE_NAME_SHOWN_MAX, *name ? name : blob);
    else if (qn_str_eq(kind, "image"))
        write_image(w, *type ? type : "application/octet-stream", &file);
    else if (qn_str_eq(kind, "audio"))
        write_audio(w, type, &file);
    else
        err = write_document(w, *name ? name : "file", &file, e);
    qn_buf_deinit(&file);
    free(path);
    return err;
}

static qn_err write_content(struct qn_jw *w, const struct qn_chat_message *m, const char *blobs,
                            struct qn_error *e)
{
    struct qn_json *doc;
    struct qn_jref it;
    qn_err err = qn_json_parse(m->parts, strlen(m->parts), &doc, e);
    if (err)
        return err;
    struct qn_jref parts = qn_json_root(doc);
    qn_jw_key(w, "content");
    if (qn_json_count(&parts) == 0) {
        qn_jw_str(w, m->text);
    } else {
        qn_jw_arr(w);
        for (bool more = qn_json_first(&parts, &it); more && !err; more = qn_json_next(&it))
            err = write_file(w, &it, blobs, e);
        if (*m->text)
            write_text_part(w, m->text, strlen(m->text));
        qn_jw_arr_end(w);
    }
    qn_json_free(doc);
    return err;
}

/* Whether the call has a result; a call without one is left out, as models expect one for each. */
static bool has_result(const struct qn_jref *call)
{
    struct qn_jref v = qn_json_get(call, "result");
    return qn_json_type(&v) > QN_JSON_NULL;
}

static bool any_result(const struct qn_jref *calls)
{
    struct qn_jref it;
    for (bool more = qn_json_first(calls, &it); more; more = qn_json_next(&it))
        if (has_result(&it))
            return true;
    return false;
}

static void write_calls(struct qn_jw *w, const struct qn_jref *calls)
{
    struct qn_jref it;
    qn_jw_key(w, "tool_calls");
    qn_jw_arr(w);
    for (bool more = qn_json_first(calls, &it); more; more = qn_json_next(&it)) {
        if (!has_result(&it))
            continue;
        struct qn_jref arguments = qn_json_get(&it, "arguments");
        qn_jw_obj(w);
        qn_jw_kstr(w, "id", member(&it, "id"));
        qn_jw_kstr(w, "type", "function");
        qn_jw_key(w, "function");
        qn_jw_obj(w);
        qn_jw_kstr(w, "name", member(&it, "name"));
        qn_jw_key(w, "arguments");
        if (qn_json_type(&arguments) > QN_JSON_NULL)
            qn_jw_value(w, &arguments);
        else
            qn_jw_str(w, "{}");
        qn_jw_obj_end(w);
        qn_jw_obj_end(w);
    }
    qn_jw_arr_end(w);
}

/* The result of each call is a message of its own. */
static void write_results(struct qn_jw *w, const struct qn_jref *calls)
{
    struct qn_jref it;
    for (bool more = qn_json_first(calls, &it); more; more = qn_json_next(&it)) {
        struct qn_jref result = qn_json_get(&it, "result");
        if (!has_result(&it))
            continue;
        qn_jw_obj(w);
        qn_jw_kstr(w, "role", "tool");
        qn_jw_kstr(w, "tool_call_id", member(&it, "id"));
        qn_jw_kstr(w, "name", member(&it, "name"));
        qn_jw_key(w, "content");
        if (qn_json_type(&result) == QN_JSON_STRING) {
            qn_jw_value(w, &result);
        } else {
            struct qn_buf text;
            qn_buf_init(&text, QN_CHATS_JSON_MAX);
            qn_json_print(&result, &text);
            qn_jw_strn(w, qn_buf_cstr(&text), text.len);
            qn_buf_deinit(&text);
        }
        qn_jw_obj_end(w);
    }
}

/* An answer of which nothing came, because it failed, is left out. more: it is to be continued, so
 * nothing may follow its text. */
static qn_err write_assistant(struct qn_jw *w, const struct qn_chat_message *m, bool more,
                              struct qn_error *e)
{
    struct qn_json *doc;
    const char *text = more ? "[]" : m->calls;
    qn_err err = qn_json_parse(text, strlen(text), &doc, e);
    if (err)
        return err;
    struct qn_jref calls = qn_json_root(doc);
    bool called = any_result(&calls);
    if (*m->text || *m->reasoning || called) {
        qn_jw_obj(w);
        qn_jw_kstr(w, "role", "assistant");
        qn_jw_kstr(w, "content", m->text);
        if (*m->reasoning)
            qn_jw_kstr(w, "reasoning_content", m->reasoning);
        if (called)
            write_calls(w, &calls);
        qn_jw_obj_end(w);
        write_results(w, &calls);
    }
    qn_json_free(doc);
    return QN_OK;
}

static qn_err write_message(struct qn_jw *w, const struct qn_chat_message *m, const char *blobs,
                            struct qn_error *e)
{
    qn_jw_obj(w);
    qn_jw_kstr(w, "role", qn_chat_role_name(m->role));
    qn_err err = write_content(w, m, blobs, e);
    qn_jw_obj_end(w);
    return err;
}

static qn_err write_messages(struct qn_jw *w, const struct qn_answer_ask *ask, struct qn_error *e)
{
    size_t n = ask->more ? ask->n : ask->n - 1;
    qn_err err = QN_OK;
    qn_jw_key(w, "messages");
    qn_jw_arr(w);
    if (*ask->system) {
        qn_jw_obj(w);
        qn_jw_kstr(w, "role", "system");
        qn_jw_kstr(w, "content", ask->system);
        qn_jw_obj_end(w);
    }
    for (size_t i = 0; i < n && !err && !w->out->overflow; i++)
        err = ask->path[i].role == QN_CHAT_ASSISTANT
                  ? write_assistant(w, &ask->path[i], i + 1 == ask->n, e)
                  : write_message(w, &ask->path[i], ask->blobs, e);
    qn_jw_arr_end(w);
    return err;
}

qn_err qn_answer_body(const struct qn_answer_ask *ask, struct qn_buf *out, struct qn_error *e)
{
    struct qn_jw w = qn_jw_to(out);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "model", ask->model);
    qn_err err = qn_answer_params_write(&w, ask, e);
    if (ask->more)
        qn_jw_kbool(&w, "continue_final_message", true);
    if (!err)
        err = write_messages(&w, ask, e);
    qn_jw_obj_end(&w);
    if (!err && out->overflow)
        err = qn_fail_param(e, QN_ELIMIT, "messages",
                            "messages: the conversation and its files are longer than %d bytes",
                            QN_ANSWER_BODY_MAX);
    return err;
}
