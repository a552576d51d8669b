/* Spare work of the database's thread: erasing, in short pieces, what was deleted for good or long
 * ago. See rows.h. */
#include "chats/blob_files.h"
#include "chats/rows.h"

#include "base/clock.h"
#include "base/log.h"

enum {
    SWEEP_MS = 60 * 60 * 1000, /* between two looks for what has become old */
    PIECE_ROWS = 64,           /* messages that are erased in one transaction */
    PIECE_BYTES = 1024 * 1024
};
#define DAY_MS (INT64_C(24) * 60 * 60 * 1000)

/* Deletes the first messages that `where` finds. *any: there were some. */
static qn_err erase_messages(struct qn_database *d, const char *select, const char *types,
                             int64_t arg, bool *any, struct qn_error *e)
{
    int64_t rows[PIECE_ROWS], bytes = 0;
    sqlite3_stmt *s;
    size_t n = 0;
    qn_err err = qn_chats_sql(d, &s, e, select, types, arg);
    if (err)
        return err;
    int step;
    while (n < PIECE_ROWS && bytes < PIECE_BYTES && (step = sqlite3_step(s)) == SQLITE_ROW) {
        rows[n++] = sqlite3_column_int64(s, 0);
        bytes += sqlite3_column_int64(s, 1);
    }
    sqlite3_finalize(s);
    for (size_t i = 0; i < n && !err; i++)
        err = qn_chats_run(d, e, "DELETE FROM message WHERE n = ?", "i", rows[i]);
    *any = n > 0;
    return err;
}

/* Erases a piece of a chat that is gone, or the chat when it has no messages any more. */
static qn_err erase_chat(struct qn_database *d, bool *any, struct qn_error *e)
{
    int64_t chat;
    qn_err err = qn_chats_ints(
        d, &chat, 1, e, "SELECT n FROM chat WHERE hidden = '" QN_CHATS_ERASED "' LIMIT 1", "");
    *any = !err;
    if (err)
        return err == QN_ENOTFOUND ? QN_OK : err;
    bool messages;
    err = erase_messages(d, "SELECT n, bytes FROM message WHERE chat = ?", "i", chat, &messages, e);
    if (!err && !messages)
        err = qn_chats_run(d, e, "DELETE FROM chat WHERE n = ?", "i", chat);
    return err;
}

/* Erases a piece of the messages that were deleted long ago. */
static qn_err erase_old_messages(struct qn_database *d, bool *any, struct qn_error *e)
{
    return erase_messages(d, "SELECT n, bytes FROM message WHERE deleted > 0 AND deleted < ?", "i",
                          qn_chats_now() - QN_CHATS_KEPT_DAYS * DAY_MS, any, e);
}

/* Chats that were deleted long ago become chats that are gone. */
static qn_err give_up_old_chats(struct qn_database *d, bool *any, struct qn_error *e)
{
    qn_err err = qn_chats_run(d, e,
                              "UPDATE chat SET hidden = '" QN_CHATS_ERASED "' WHERE hidden = ''"
                              " AND deleted > 0 AND deleted < ?",
                              "i", qn_chats_now() - QN_CHATS_KEPT_DAYS * DAY_MS);
    *any = !err && sqlite3_changes(d->db) > 0;
    return err;
}

/* One piece of work: what is gone at once, what is old once in a while. */
static qn_err sweep(struct qn_chats *c, struct qn_database *d, struct qn_chats_doomed *doomed,
                    bool *any, struct qn_error *e)
{
    qn_err err = erase_chat(d, any, e);
    bool due = !c->swept_ms || qn_now_ms() - c->swept_ms > SWEEP_MS;
    if (err || *any || !due)
        return err;
    err = erase_old_messages(d, any, e);
    if (err || *any)
        return err;
    err = qn_chats_remove_blobs(d, doomed, e);
    *any = doomed->n > 0;
    if (err || *any)
        return err;
    err = give_up_old_chats(d, any, e);
    if (!err && !*any)
        c->swept_ms = qn_now_ms();
    return err;
}

bool qn_chats_sweep(void *ctx, struct qn_database *d)
{
    struct qn_chats *c = ctx;
    struct qn_chats_doomed doomed = {.n = 0};
    struct qn_error e = {0};
    bool any = false;
    if (!c->cleaned) {
        qn_chats_clean_blobs(c, d);
        c->cleaned = true;
        return true;
    }
    qn_err err = qn_database_begin(d, &e);
    if (!err) {
        err = sweep(c, d, &doomed, &any, &e);
        err = qn_database_end(d, err, &e);
    }
    if (err)
        qn_error_log("chats", "what was deleted was not erased: %s", e.message);
    else
        qn_chats_unlink_blobs(c, d, &doomed);
    return !err && any;
}
