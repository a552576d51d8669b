/* Conversations as JSON text, for tests: in the form that chat templates read, where each message
 * is an object with role, name, tool_call_id, content, reasoning_content and tool_calls. Written
 * independently of lib/contract/message_json.c. */
#ifndef QN_TESTS_UNIT_MESSAGES_TEXT_H
#define QN_TESTS_UNIT_MESSAGES_TEXT_H

#include "base/json.h"
#include "base/str.h"
#include "contract/job.h"
#include "digest/base64.h"

#include <stdlib.h>
#include <string.h>

#ifndef fail_msg
#define fail_msg(...) abort()
#endif

static inline void mt_add(struct qn_message *m, struct qn_message_part part)
{
    m->parts.v[m->parts.n++] = part;
}

static inline const char *mt_member(const struct qn_jref *object, const char *key,
                                    struct qn_arena *arena)
{
    struct qn_jref v = qn_json_get(object, key);
    return qn_json_type(&v) == QN_JSON_STRING ? qn_arena_strdup(arena, qn_json_raw_str(&v)) : NULL;
}

/* The job's messages from text. A picture's attachment has the bytes of its data URL in base64, or
 * one byte where the part has none. */
static inline void mt_read(struct qn_job *job, const char *text, struct qn_arena *arena)
{
    struct qn_json *doc;
    struct qn_error e = {0};
    if (qn_json_parse(text, strlen(text), &doc, &e))
        fail_msg("%s: %s", text, e.message);
    struct qn_jref root = qn_json_root(doc), it, part;
    struct qn_messages *all = &job->chat.messages;
    *all = (struct qn_messages){
        .v = qn_arena_alloc(arena, (qn_json_count(&root) + 1) * sizeof *all->v)};
    for (bool more = qn_json_first(&root, &it); more; more = qn_json_next(&it)) {
        struct qn_message *m = &all->v[all->n++];
        struct qn_jref content = qn_json_get(&it, "content");
        struct qn_jref calls = qn_json_get(&it, "tool_calls");
        const char *role = mt_member(&it, "role", arena);
        const char *reasoning = mt_member(&it, "reasoning_content", arena);
        for (int r = QN_ROLE_NONE + 1; r < QN_ROLE_COUNT; r++)
            if (qn_str_eq(role, qn_role_name((enum qn_role)r)))
                m->role = (enum qn_role)r;
        m->name = mt_member(&it, "name", arena);
        m->tool_call_id = mt_member(&it, "tool_call_id", arena);
        m->parts.v = qn_arena_alloc(arena, (qn_json_count(&content) + qn_json_count(&calls) + 2) *
                                               sizeof *m->parts.v);
        if (reasoning)
            mt_add(m, (struct qn_message_part){
                          .kind = QN_PART_REASONING, .attachment = QN_UNSET, .text = reasoning});
        if (qn_json_type(&content) == QN_JSON_STRING)
            mt_add(m, (struct qn_message_part){.kind = QN_PART_TEXT,
                                               .attachment = QN_UNSET,
                                               .text = mt_member(&it, "content", arena)});
        for (bool some = qn_json_type(&content) == QN_JSON_ARRAY && qn_json_first(&content, &part);
             some; some = qn_json_next(&part)) {
            struct qn_jref url = qn_json_get(&part, "image_url");
            const char *said = mt_member(&part, "text", arena);
            const char *data = mt_member(&url, "url", arena);
            if (said) {
                mt_add(m, (struct qn_message_part){
                              .kind = QN_PART_TEXT, .attachment = QN_UNSET, .text = said});
                continue;
            }
            struct qn_attachments *files = &job->attachments;
            struct qn_attachment *v = qn_arena_alloc(arena, (files->n + 1) * sizeof *v);
            size_t len = 1;
            char *bytes = qn_arena_alloc(arena, strlen(data ? data : "") + 4);
            if (files->n)
                memcpy(v, files->v, files->n * sizeof *v);
            if (data)
                qn_base64_decode(strchr(data, ',') + 1, strlen(strchr(data, ',') + 1), bytes, &len);
            files->v = v;
            files->v[files->n] = (struct qn_attachment){
                .role = QN_ATTACHMENT_IMAGE,
                .type = data ? qn_arena_strndup(arena, data + 5, strcspn(data + 5, ";")) : NULL,
                .data = bytes,
                .bytes = (int64_t)len};
            mt_add(m, (struct qn_message_part){.kind = QN_PART_PICTURE,
                                               .attachment = (int64_t)files->n++});
        }
        for (bool some = qn_json_first(&calls, &part); some; some = qn_json_next(&part)) {
            struct qn_jref f = qn_json_get(&part, "function"), a = qn_json_get(&f, "arguments");
            struct qn_buf raw;
            qn_buf_init(&raw, 1 << 20);
            qn_json_print(&a, &raw);
            const char *name = mt_member(&f, "name", arena);
            const char *arguments = mt_member(&f, "arguments", arena);
            mt_add(m, (struct qn_message_part){
                          .kind = QN_PART_CALL,
                          .attachment = QN_UNSET,
                          .id = mt_member(&part, "id", arena),
                          .name = name ? name : "",
                          .arguments = arguments ? arguments : qn_arena_take(arena, &raw)});
            qn_buf_deinit(&raw);
        }
    }
    qn_json_free(doc);
}

static inline void mt_write_arguments(const char *text, struct qn_jw *w)
{
    struct qn_json *doc = NULL;
    struct qn_jref root = {0};
    if (qn_json_parse(text, strlen(text), &doc, NULL) == QN_OK)
        root = qn_json_root(doc);
    if (qn_json_type(&root) == QN_JSON_OBJECT)
        qn_jw_value(w, &root);
    else
        qn_jw_str(w, text);
    qn_json_free(doc);
}

static inline void mt_write_picture(const struct qn_attachment *a, struct qn_jw *w)
{
    struct qn_buf url;
    qn_buf_init(&url, 1 << 20);
    qn_buf_fmt(&url, "data:%s;base64,", a->type ? a->type : "");
    qn_base64_add(&url, a->data, (size_t)a->bytes);
    qn_jw_obj(w);
    qn_jw_kstr(w, "type", "image_url");
    qn_jw_key(w, "image_url");
    qn_jw_obj(w);
    qn_jw_kstr(w, "url", qn_buf_cstr(&url));
    qn_jw_obj_end(w);
    qn_jw_obj_end(w);
    qn_buf_deinit(&url);
}

/* The messages as text in the arena; files: where their pictures are. */
static inline const char *mt_text(const struct qn_messages *all, const struct qn_attachments *files,
                                  struct qn_arena *arena)
{
    struct qn_buf out;
    qn_buf_init(&out, 64 << 20);
    struct qn_jw w = qn_jw_to(&out);
    qn_jw_arr(&w);
    for (size_t i = 0; i < all->n; i++) {
        const struct qn_message *m = &all->v[i];
        const char *text = NULL, *reasoning = NULL;
        size_t pictures = 0, texts = 0, calls = 0;
        for (size_t k = 0; k < m->parts.n; k++) {
            const struct qn_message_part *p = &m->parts.v[k];
            pictures += p->kind == QN_PART_PICTURE;
            texts += p->kind == QN_PART_TEXT;
            calls += p->kind == QN_PART_CALL;
            text = p->kind == QN_PART_TEXT ? p->text : text;
            reasoning = p->kind == QN_PART_REASONING ? p->text : reasoning;
        }
        qn_jw_obj(&w);
        qn_jw_kstr(&w, "role", qn_role_name(m->role));
        if (m->name)
            qn_jw_kstr(&w, "name", m->name);
        if (m->tool_call_id)
            qn_jw_kstr(&w, "tool_call_id", m->tool_call_id);
        qn_jw_key(&w, "content");
        if (pictures || texts > 1)
            qn_jw_arr(&w);
        else
            qn_jw_str(&w, text);
        for (size_t k = 0; k < m->parts.n && (pictures || texts > 1); k++) {
            const struct qn_message_part *p = &m->parts.v[k];
            if (p->kind == QN_PART_PICTURE)
                mt_write_picture(&files->v[p->attachment], &w);
            if (p->kind != QN_PART_TEXT)
                continue;
            qn_jw_obj(&w);
            qn_jw_kstr(&w, "type", "text");
            qn_jw_kstr(&w, "text", p->text);
            qn_jw_obj_end(&w);
        }
        if (pictures || texts > 1)
            qn_jw_arr_end(&w);
        if (reasoning)
            qn_jw_kstr(&w, "reasoning_content", reasoning);
        if (calls) {
            qn_jw_key(&w, "tool_calls");
            qn_jw_arr(&w);
        }
        for (size_t k = 0; k < m->parts.n; k++) {
            const struct qn_message_part *p = &m->parts.v[k];
            if (p->kind != QN_PART_CALL)
                continue;
            qn_jw_obj(&w);
            if (p->id)
                qn_jw_kstr(&w, "id", p->id);
            qn_jw_kstr(&w, "type", "function");
            qn_jw_key(&w, "function");
            qn_jw_obj(&w);
            qn_jw_kstr(&w, "name", p->name);
            qn_jw_key(&w, "arguments");
            mt_write_arguments(p->arguments, &w);
            qn_jw_obj_end(&w);
            qn_jw_obj_end(&w);
        }
        if (calls)
            qn_jw_arr_end(&w);
        qn_jw_obj_end(&w);
    }
    qn_jw_arr_end(&w);
    const char *copy = qn_arena_take(arena, &out);
    qn_buf_deinit(&out);
    return copy;
}

#endif
