/* Lists of chats and their folders; one chat with its messages. See chats.h. */
#include "chats/rows.h"

#include "base/buf.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

/* ---- pages of a list ---- */

/* The place after which a page begins: the members by which the list is ordered. As text:
 * "PINNED.TIME.ID". */
struct place {
    int64_t pinned, when_ms;
    const char *id;
};

enum { PLACE_MAX = 64 };

struct listing {
    struct qn_chats_list wish;
    struct place from;
};

static qn_err read_place(struct qn_chats_task *t, const char *text, struct place *out,
                         struct qn_error *e)
{
    *out = (struct place){.pinned = 2}; /* before every chat */
    if (!text)
        return QN_OK;
    char *copy = qn_arena_strndup(t->arena, text, strnlen(text, PLACE_MAX));
    char *time = strchr(copy, '.'), *id = time ? strchr(time + 1, '.') : NULL;
    if (id) {
        *time++ = *id++ = '\0';
        out->id = id;
        if (qn_parse_i64(copy, &out->pinned) && qn_parse_i64(time, &out->when_ms))
            return QN_OK;
    }
    return qn_fail_param(e, QN_EINVAL, "before", "before: expected the 'next' of an earlier page");
}

/* Sets `next` if the list has a chat beyond the page, which was read too. */
static void end_page(struct qn_chats_task *t, const struct qn_chats_list *wish)
{
    if (t->found.n_chats <= wish->limit)
        return;
    t->found.n_chats = wish->limit;
    const struct qn_stored_chat *last = &t->chats_found[wish->limit - 1];
    int64_t when = wish->deleted ? last->deleted_ms : last->updated_ms;
    int pinned = wish->deleted ? 0 : last->pinned;
    t->found.next = qn_arena_fmt(t->arena, "%d.%lld.%s", pinned, (long long)when, last->id);
}

static qn_err read_folders(struct qn_chats_task *t, struct qn_error *e)
{
    sqlite3_stmt *s;
    struct qn_chat_folder *folders = qn_arena_try(t->arena, QN_CHATS_FOLDERS_MAX * sizeof *folders);
    if (!folders)
        return qn_fail(e, QN_ENOMEM, "no memory for the folders");
    qn_err err = qn_chats_sql(t->d, &s, e,
                              "SELECT folder, count(*) FROM chat WHERE owner = ? AND deleted = 0"
                              " AND hidden = '' AND folder > '' GROUP BY folder LIMIT ?",
                              "ii", t->owner_n, (int64_t)QN_CHATS_FOLDERS_MAX);
    if (err)
        return err;
    int step;
    while ((step = sqlite3_step(s)) == SQLITE_ROW)
        folders[t->found.n_folders++] = (struct qn_chat_folder){
            .name = qn_chats_text(t->arena, s, 0), .n = sqlite3_column_int64(s, 1)};
    t->found.folders = folders;
    return qn_chats_done(t->d, s, step, e);
}

static qn_err list(struct qn_chats_task *t, struct qn_error *e)
{
    const struct listing *l = t->args;
    const struct place *from = &l->from;
    int64_t limit = (int64_t)l->wish.limit + 1;
    qn_err err = qn_chats_find_owner(t, e);
    if (err || !t->owner_n)
        return err;
    const char *id = from->id ? from->id : "";
    if (l->wish.deleted)
        err = qn_chats_load(t, false, e,
                            "FROM chat WHERE owner = ? AND deleted > 0 AND hidden = ''"
                            " AND (? = 2 OR (deleted, id) < (?, ?))"
                            " ORDER BY deleted DESC, id DESC LIMIT ?",
                            "iiisi", t->owner_n, from->pinned, from->when_ms, id, limit);
    else if (l->wish.folder)
        err = qn_chats_load(t, false, e,
                            "FROM chat WHERE owner = ? AND folder = ? AND deleted = 0"
                            " AND hidden = '' AND (pinned, updated, id) < (?, ?, ?)"
                            " ORDER BY pinned DESC, updated DESC, id DESC LIMIT ?",
                            "isiisi", t->owner_n, l->wish.folder, from->pinned, from->when_ms, id,
                            limit);
    else
        err = qn_chats_load(t, false, e,
                            "FROM chat WHERE owner = ? AND deleted = 0 AND hidden = ''"
                            " AND (pinned, updated, id) < (?, ?, ?)"
                            " ORDER BY pinned DESC, updated DESC, id DESC LIMIT ?",
                            "iiisi", t->owner_n, from->pinned, from->when_ms, id, limit);
    if (err)
        return err;
    end_page(t, &l->wish);
    return read_folders(t, e);
}

void qn_chats_list(struct qn_chats *c, const char *owner, const struct qn_chats_list *wish,
                   qn_chats_fn fn, void *ctx)
{
    struct qn_chats_task *t = qn_chats_task_new(c, owner, list, false, fn, ctx);
    struct listing *l = t->args = qn_arena_alloc(t->arena, sizeof *l);
    qn_err err = qn_chats_check("folder", wish->folder, QN_CHATS_NAME_MAX, &t->error);
    if (!err)
        err = read_place(t, wish->before, &l->from, &t->error);
    if (!err) {
        l->wish = *wish;
        l->wish.folder = qn_chats_copy(t, wish->folder);
        if (l->wish.limit < 1 || l->wish.limit > QN_CHATS_PAGE_MAX)
            l->wish.limit = QN_CHATS_PAGE_MAX;
    }
    qn_chats_task_run(t, err);
}

/* ---- one chat ---- */

static qn_err load_whole(struct qn_chats_task *t, int64_t chat, struct qn_error *e)
{
    qn_err err = qn_chats_load(t, true, e, "FROM chat WHERE n = ?", "i", chat);
    return err ? err
               : qn_chats_load_messages(
                     t, e, "FROM message WHERE chat = ? AND deleted = 0 ORDER BY n", "i", chat);
}

static qn_err read_one(struct qn_chats_task *t, struct qn_error *e)
{
    struct qn_chats_at at;
    qn_err err = qn_chats_find_chat(t, t->args, &at, e);
    return err ? err : load_whole(t, at.chat, e);
}

void qn_chats_read(struct qn_chats *c, const char *owner, const char *chat, qn_chats_fn fn,
                   void *ctx)
{
    struct qn_chats_task *t = qn_chats_task_new(c, owner, read_one, false, fn, ctx);
    qn_err err = qn_chats_check("id", chat, QN_CHATS_NAME_MAX, &t->error);
    if (!err)
        t->args = qn_arena_strdup(t->arena, chat);
    qn_chats_task_run(t, err);
}

/* The place is the row of the chat before. */
static qn_err read_next(struct qn_chats_task *t, struct qn_error *e)
{
    int64_t after = 0, chat;
    if (t->args && !qn_parse_i64(t->args, &after))
        return qn_fail_param(e, QN_EINVAL, "place", "place: expected that of a chat");
    qn_err err = qn_chats_find_owner(t, e);
    if (!err)
        err = qn_chats_ints(t->d, &chat, 1, e,
                            "SELECT n FROM chat WHERE owner = ? AND deleted = 0 AND hidden = ''"
                            " AND n > ? ORDER BY n LIMIT 1",
                            "ii", t->owner_n, after);
    if (err)
        return err == QN_ENOTFOUND ? QN_OK : err;
    err = load_whole(t, chat, e);
    t->found.next = qn_arena_fmt(t->arena, "%lld", (long long)chat);
    return err;
}

void qn_chats_read_next(struct qn_chats *c, const char *owner, const char *place, qn_chats_fn fn,
                        void *ctx)
{
    struct qn_chats_task *t = qn_chats_task_new(c, owner, read_next, false, fn, ctx);
    qn_err err = qn_chats_check("place", place, PLACE_MAX, &t->error);
    if (!err && place)
        t->args = qn_arena_strdup(t->arena, place);
    qn_chats_task_run(t, err);
}
