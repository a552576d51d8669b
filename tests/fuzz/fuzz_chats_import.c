/* Files with chats of several programs. What is read keeps the promises of import.h: parents before
 * their children, limits, valid JSON and UTF-8. */
#include "base/arena.h"
#include "base/json.h"
#include "base/str.h"
#include "chats/import.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check(bool ok)
{
    if (!ok)
        abort();
}

static void check_text(const char *text, size_t max)
{
    check(text && strlen(text) <= max && qn_utf8_valid(text, strlen(text)));
}

static void check_json(const char *text, enum qn_json_type type)
{
    struct qn_json *doc;
    check_text(text, QN_CHATS_JSON_MAX);
    check(qn_json_parse(text, strlen(text), &doc, NULL) == QN_OK);
    struct qn_jref root = qn_json_root(doc);
    check(qn_json_type(&root) == type);
    qn_json_free(doc);
}

static void check_message(const struct qn_chats_imported_message *m, size_t i)
{
    check(m->parent == QN_CHATS_IMPORT_NONE || m->parent < i);
    check(m->m.role < QN_CHAT_ROLES && m->m.state < QN_CHAT_STATES);
    check(m->m.state != QN_CHAT_QUEUED && m->m.state != QN_CHAT_ANSWERING);
    check(m->m.created_ms > 0);
    check_text(m->m.text, QN_CHATS_TEXT_MAX);
    check_text(m->m.reasoning, QN_CHATS_TEXT_MAX);
    check_text(m->m.model, QN_CHATS_NAME_MAX);
    check_text(m->m.finish, QN_CHATS_NAME_MAX);
    check_json(m->m.calls, QN_JSON_ARRAY);
    check_json(m->m.params, QN_JSON_OBJECT);
    check_json(m->m.stats, QN_JSON_OBJECT);
    if (m->m.error)
        check_json(m->m.error, QN_JSON_OBJECT);
    check(m->n_parts <= QN_CHATS_PARTS_MAX);
    for (size_t k = 0; k < m->n_parts; k++) {
        const struct qn_chats_imported_part *p = &m->parts[k];
        check_text(p->kind, 5);
        check_text(p->name, QN_CHATS_NAME_MAX);
        check(p->type && (p->blob ? qn_chats_blob_is_id(p->blob) : strlen(p->data) == p->n));
    }
}

static void check_chat(const struct qn_chats_imported *c)
{
    check_text(c->chat.title, QN_CHATS_NAME_MAX);
    check_text(c->chat.folder, QN_CHATS_NAME_MAX);
    check_text(c->chat.model, QN_CHATS_NAME_MAX);
    check_text(c->chat.system, QN_CHATS_SYSTEM_MAX);
    check_json(c->chat.params, QN_JSON_OBJECT);
    check(c->origin && c->n <= QN_CHATS_MESSAGES_MAX);
    check(c->head == QN_CHATS_IMPORT_NONE || c->head < c->n);
    check(c->chat.created_ms > 0 && c->chat.updated_ms > 0);
    for (size_t i = 0; i < c->n; i++)
        check_message(&c->messages[i], i);
}

static void note(void *ctx, const char *text)
{
    (void)ctx;
    check_text(text, 400);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct qn_chats_reader *r;
    struct qn_chats_imported *chat = NULL;
    struct qn_error e = {0};
    /* Not NUL-terminated, so that reading beyond the end is found. */
    char *text = malloc(n ? n : 1);
    memcpy(text, data, n);
    if (qn_chats_reader_new(text, n, &r, &e)) {
        check(*e.message);
    } else {
        do {
            struct qn_arena *a = qn_arena_new(QN_CHATS_IMPORT_ARENA);
            qn_err err = qn_chats_reader_next(r, a, note, NULL, &chat, &e);
            check(!err || (!chat && *e.message));
            if (chat)
                check_chat(chat);
            qn_arena_free(a);
        } while (chat);
        qn_chats_reader_free(r);
    }
    free(text);
    return 0;
}
