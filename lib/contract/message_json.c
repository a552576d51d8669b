/* See message_json.h. */
#include "contract/message_json.h"

#include "base/str.h"
#include "digest/base64.h"

#include <string.h>

/* Writes a string: the prefix, then the attachment's bytes in base64, encoded directly into the
 * output. */
static void write_base64(struct qn_jw *w, const char *key, const char *prefix,
                         const struct qn_attachment *a)
{
    qn_jw_key(w, key);
    qn_jw_raw(w, "\"", 1);
    qn_buf_str(w->out, prefix);
    qn_base64_add(w->out, a->data, (size_t)a->bytes);
    qn_buf_char(w->out, '"');
}

static void write_picture(const struct qn_attachment *a, struct qn_jw *w)
{
    struct qn_buf prefix;
    qn_buf_init(&prefix, 2 * QN_JOB_MEDIA_TYPE_MAX);
    qn_buf_fmt(&prefix, "data:%s;base64,", a->type ? a->type : "application/octet-stream");
    qn_jw_kstr(w, "type", "image_url");
    qn_jw_key(w, "image_url");
    qn_jw_obj(w);
    write_base64(w, "url", qn_buf_cstr(&prefix), a);
    qn_jw_obj_end(w);
    qn_buf_deinit(&prefix);
}

static void write_sound(const struct qn_attachment *a, struct qn_jw *w)
{
    const char *slash = a->type ? strchr(a->type, '/') : NULL;
    qn_jw_kstr(w, "type", "input_audio");
    qn_jw_key(w, "input_audio");
    qn_jw_obj(w);
    write_base64(w, "data", "", a);
    qn_jw_kstr(w, "format", slash ? slash + 1 : "wav");
    qn_jw_obj_end(w);
}

static void write_content(const struct qn_message *m, const struct qn_attachments *files,
                          struct qn_jw *w)
{
    const struct qn_message_part *text = qn_message_find(m, QN_PART_TEXT);
    qn_jw_key(w, "content");
    if (!qn_message_find(m, QN_PART_PICTURE) && !qn_message_find(m, QN_PART_SOUND)) {
        qn_jw_str(w, text ? text->text : NULL);
        return;
    }
    qn_jw_arr(w);
    for (size_t i = 0; i < m->parts.n; i++) {
        const struct qn_message_part *p = &m->parts.v[i];
        if (!qn_part_is_content(p))
            continue;
        qn_jw_obj(w);
        if (p->kind == QN_PART_PICTURE) {
            write_picture(&files->v[p->attachment], w);
        } else if (p->kind == QN_PART_SOUND) {
            write_sound(&files->v[p->attachment], w);
        } else {
            qn_jw_kstr(w, "type", "text");
            qn_jw_kstr(w, "text", p->text);
        }
        qn_jw_obj_end(w);
    }
    qn_jw_arr_end(w);
}

bool qn_arguments_write(const char *arguments, struct qn_jw *w)
{
    struct qn_json *doc;
    if (qn_json_parse(arguments, strlen(arguments), &doc, NULL))
        return false;
    struct qn_jref root = qn_json_root(doc);
    bool object = qn_json_type(&root) == QN_JSON_OBJECT;
    if (object)
        qn_jw_value(w, &root);
    qn_json_free(doc);
    return object;
}

static void write_call(const struct qn_message_part *call, const struct qn_message_form *form,
                       struct qn_jw *w)
{
    qn_jw_obj(w);
    if (call->id)
        qn_jw_kstr(w, "id", call->id);
    qn_jw_kstr(w, "type", "function");
    qn_jw_key(w, "function");
    qn_jw_obj(w);
    qn_jw_kstr(w, "name", call->name);
    qn_jw_key(w, "arguments");
    if (!form->argument_objects || !qn_arguments_write(call->arguments, w))
        qn_jw_str(w, call->arguments);
    qn_jw_obj_end(w);
    qn_jw_obj_end(w);
}

static void write_message(const struct qn_message *m, const struct qn_attachments *files,
                          const struct qn_message_form *form, struct qn_jw *w)
{
    const struct qn_message_part *reasoning = qn_message_find(m, QN_PART_REASONING);
    qn_jw_obj(w);
    qn_jw_kstr(w, "role", qn_role_name(m->role));
    if (m->name)
        qn_jw_kstr(w, "name", m->name);
    if (m->tool_call_id)
        qn_jw_kstr(w, "tool_call_id", m->tool_call_id);
    write_content(m, files, w);
    if (reasoning && form->reasoning)
        qn_jw_kstr(w, "reasoning_content", reasoning->text);
    if (qn_message_find(m, QN_PART_CALL)) {
        qn_jw_key(w, "tool_calls");
        qn_jw_arr(w);
        for (size_t i = 0; i < m->parts.n; i++)
            if (m->parts.v[i].kind == QN_PART_CALL)
                write_call(&m->parts.v[i], form, w);
        qn_jw_arr_end(w);
    }
    qn_jw_obj_end(w);
}

void qn_messages_write(const struct qn_messages *m, const struct qn_attachments *files,
                       const struct qn_message_form *form, struct qn_jw *w)
{
    qn_jw_arr(w);
    for (size_t i = 0; i < m->n; i++)
        write_message(&m->v[i], files, form, w);
    qn_jw_arr_end(w);
}
