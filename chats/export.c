/* See export.h. A message is written at once, the contents of its files a few kilobytes at a time.
 */
#include "chats/export.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/path.h"
#include "base/str.h"
#include "chats/blobs.h"
#include "digest/base64.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { READ_BYTES = 48 * 1024 /* a multiple of 3: base64 of pieces can be joined */ };

struct qn_chats_export {
    char *blobs;
    bool markdown;
    bool any; /* a chat has been written */
    const struct qn_stored_chat *chat;
    const struct qn_chat_message *messages;
    size_t n, next;    /* the next message to be written; n: the end of the chat */
    bool *shown;       /* Markdown: the messages of the branch */
    bool begun, ended; /* of the chat */
    /* The files of the message before `next`: */
    struct qn_json *parts;
    struct qn_jref root, part;
    bool has_part;
    int fd; /* of the part's file; -1: it is not open */
};

struct qn_chats_export *qn_chats_export_new(const char *blobs, bool markdown)
{
    struct qn_chats_export *x = qn_xcalloc(1, sizeof *x);
    x->blobs = qn_xstrdup(blobs);
    x->markdown = markdown;
    x->fd = -1;
    x->ended = true;
    return x;
}

static void drop_parts(struct qn_chats_export *x)
{
    if (x->fd >= 0)
        close(x->fd);
    x->fd = -1;
    qn_json_free(x->parts);
    x->parts = NULL;
    x->has_part = false;
}

void qn_chats_export_free(struct qn_chats_export *x)
{
    if (!x)
        return;
    drop_parts(x);
    free(x->shown);
    free(x->blobs);
    free(x);
}

void qn_chats_export_begin(struct qn_chats_export *x, struct qn_buf *out)
{
    if (!x->markdown)
        qn_buf_fmt(out, "{\"format\":\"quince-chats\",\"version\":1,\"exported\":%lld,\"chats\":[",
                   (long long)qn_wall_ms());
}

void qn_chats_export_end(struct qn_chats_export *x, struct qn_buf *out)
{
    if (!x->markdown)
        qn_buf_str(out, "]}\n");
}

/* ---- JSON ---- */

static void write_json(struct qn_jw *w, const char *key, const char *json)
{
    qn_jw_key(w, key);
    if (json && *json)
        qn_jw_raw(w, json, strlen(json));
    else
        qn_jw_null(w);
}

/* The object of the chat stays open: its messages follow. */
static void begin_json(const struct qn_stored_chat *c, struct qn_buf *out)
{
    struct qn_jw w = qn_jw_to(out);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "id", c->id);
    qn_jw_kstr(&w, "title", c->title);
    qn_jw_kstr(&w, "folder", c->folder);
    qn_jw_kbool(&w, "pinned", c->pinned);
    qn_jw_ki64(&w, "created", c->created_ms);
    qn_jw_ki64(&w, "updated", c->updated_ms);
    qn_jw_kstr(&w, "model", c->model);
    qn_jw_kstr(&w, "system", c->system);
    write_json(&w, "params", c->params);
    qn_jw_kstr(&w, "head", c->head);
    qn_buf_str(out, ",\"messages\":[");
}

/* The object of the message stays open, with the array of its files. */
static void begin_message(const struct qn_chat_message *m, bool first, struct qn_buf *out)
{
    struct qn_jw w = qn_jw_to(out);
    if (!first)
        qn_buf_char(out, ',');
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "id", m->id);
    qn_jw_kstr(&w, "parent", m->parent);
    qn_jw_kstr(&w, "role", qn_chat_role_name(m->role));
    qn_jw_ki64(&w, "created", m->created_ms);
    qn_jw_kstr(&w, "text", m->text);
    qn_jw_kstr(&w, "reasoning", m->reasoning);
    write_json(&w, "calls", m->calls);
    qn_jw_kstr(&w, "model", m->model);
    write_json(&w, "params", m->params);
    write_json(&w, "stats", m->stats);
    qn_jw_kstr(&w, "state", qn_chat_state_name(m->state));
    qn_jw_kstr(&w, "finish", m->finish);
    write_json(&w, "error", m->error);
    qn_buf_str(out, ",\"parts\":[");
}

static void take_parts(struct qn_chats_export *x, const char *json)
{
    if (qn_json_parse(json, strlen(json), &x->parts, NULL))
        return;
    x->root = qn_json_root(x->parts);
    x->has_part = qn_json_type(&x->root) == QN_JSON_ARRAY && qn_json_first(&x->root, &x->part);
}

static int open_blob(const struct qn_chats_export *x)
{
    struct qn_jref blob = qn_json_get(&x->part, "blob");
    if (!qn_chats_blob_is_id(qn_json_raw_str(&blob)))
        return -1;
    char *path = qn_path_join(x->blobs, qn_json_raw_str(&blob));
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    free(path);
    return fd;
}

/* Writes the next bytes of the part's file, or begins it. */
static void write_part(struct qn_chats_export *x, struct qn_buf *out)
{
    if (x->fd < 0) {
        struct qn_jw w = qn_jw_to(out);
        struct qn_jref it;
        if (x->part.index > 0)
            qn_buf_char(out, ',');
        qn_jw_obj(&w);
        for (bool more = qn_json_first(&x->part, &it); more; more = qn_json_next(&it)) {
            qn_jw_key(&w, it.key);
            qn_jw_value(&w, &it);
        }
        x->fd = open_blob(x);
        if (x->fd >= 0) {
            qn_buf_str(out, ",\"data\":\"");
            return;
        }
        qn_buf_char(out, '}');
    } else {
        char bytes[READ_BYTES];
        size_t have = 0;
        ssize_t n = 1;
        while (have < sizeof bytes && (n = read(x->fd, bytes + have, sizeof bytes - have)) > 0)
            have += (size_t)n;
        qn_base64_add(out, bytes, have);
        if (have == sizeof bytes)
            return;
        qn_buf_str(out, "\"}");
        close(x->fd);
        x->fd = -1;
    }
    x->has_part = qn_json_next(&x->part);
}

static void step_json(struct qn_chats_export *x, struct qn_buf *out)
{
    if (!x->begun) {
        if (x->any)
            qn_buf_char(out, ',');
        begin_json(x->chat, out);
        x->begun = true;
    } else if (x->has_part) {
        write_part(x, out);
    } else if (x->parts) {
        drop_parts(x);
        qn_buf_str(out, "]}");
    } else if (x->next < x->n) {
        const struct qn_chat_message *m = &x->messages[x->next];
        begin_message(m, x->next == 0, out);
        x->next++;
        take_parts(x, m->parts);
        if (!x->parts)
            qn_buf_str(out, "]}");
    } else {
        qn_buf_str(out, "]}");
        x->ended = true;
    }
}

/* ---- Markdown ---- */

static const char *heading(const struct qn_chat_message *m)
{
    static const char *const names[QN_CHAT_ROLES] = {"User", "Assistant", "System", "Tool"};
    return m->role < QN_CHAT_ROLES ? names[m->role] : "";
}

/* Text with "> " before each line. */
static void write_quoted(struct qn_buf *out, const char *text)
{
    while (*text) {
        size_t n = strcspn(text, "\n");
        qn_buf_str(out, "> ");
        qn_buf_add(out, text, n);
        qn_buf_char(out, '\n');
        text += n + (text[n] == '\n');
    }
    qn_buf_char(out, '\n');
}

static void write_markdown(struct qn_chats_export *x, const struct qn_chat_message *m,
                           struct qn_buf *out)
{
    qn_buf_fmt(out, "## %s%s%s%s\n\n", heading(m), *m->model ? " (" : "", m->model,
               *m->model ? ")" : "");
    if (*m->reasoning)
        write_quoted(out, m->reasoning);
    qn_buf_fmt(out, "%s\n\n", m->text);
    take_parts(x, m->parts);
    for (; x->has_part; x->has_part = qn_json_next(&x->part)) {
        struct qn_jref kind = qn_json_get(&x->part, "kind"), name = qn_json_get(&x->part, "name");
        qn_buf_fmt(out, "*%s: %s*\n\n", qn_json_raw_str(&kind), qn_json_raw_str(&name));
    }
    drop_parts(x);
}

/* Marks the messages from the head up. Parents come before their children. */
static void mark_branch(struct qn_chats_export *x)
{
    const char *wanted = x->chat->head;
    free(x->shown);
    x->shown = qn_xcalloc(x->n + 1, sizeof *x->shown);
    for (size_t i = x->n; i-- > 0;) {
        const struct qn_chat_message *m = &x->messages[i];
        if (wanted && !qn_str_eq(m->id, wanted))
            continue;
        x->shown[i] = true;
        wanted = m->parent ? m->parent : "";
    }
}

static void step_markdown(struct qn_chats_export *x, struct qn_buf *out)
{
    if (!x->begun) {
        char when[25];
        mark_branch(x);
        qn_wall_format(x->chat->created_ms, when);
        qn_buf_fmt(out, "%s# %s\n\n*%.10s*\n\n", x->any ? "---\n\n" : "", x->chat->title, when);
        if (x->chat->system && *x->chat->system) {
            qn_buf_str(out, "## System\n\n");
            qn_buf_fmt(out, "%s\n\n", x->chat->system);
        }
        x->begun = true;
    } else if (x->next < x->n) {
        if (x->shown[x->next])
            write_markdown(x, &x->messages[x->next], out);
        x->next++;
    } else {
        x->ended = true;
    }
}

/* ---- one chat ---- */

void qn_chats_export_chat(struct qn_chats_export *x, const struct qn_stored_chat *chat,
                          const struct qn_chat_message *messages, size_t n)
{
    x->chat = chat;
    x->messages = messages;
    x->n = n;
    x->next = 0;
    x->begun = x->ended = false;
}

bool qn_chats_export_piece(struct qn_chats_export *x, struct qn_buf *out)
{
    while (!x->ended && out->len < QN_CHATS_EXPORT_PIECE) {
        if (x->markdown)
            step_markdown(x, out);
        else
            step_json(x, out);
        if (x->ended)
            x->any = true;
    }
    return !x->ended;
}
