/* Giving what one owner has stored to another. See chats.h. */
#include "chats/rows.h"

static qn_err give(struct qn_chats_task *t, struct qn_error *e)
{
    const char *to = t->args;
    int64_t n;
    qn_err err = qn_chats_ints(t->d, &n, 1, e, "SELECT n FROM owner WHERE name = ?", "s", to);
    if (!err)
        return qn_fail(e, QN_ECONFLICT, "the new owner has chats, files or presets already");
    if (err != QN_ENOTFOUND)
        return err;
    err = qn_chats_run(t->d, e, "UPDATE owner SET name = ? WHERE name = ?", "ss", to, t->owner);
    if (err)
        return err;
    const char *owners[] = {t->owner, to};
    for (int i = 0; i < 2; i++) {
        qn_chats_tell(t, &(struct qn_chats_event){.change = QN_CHATS_ALL, .owner = owners[i]});
        qn_chats_tell(t, &(struct qn_chats_event){.change = QN_CHATS_PRESETS, .owner = owners[i]});
        qn_chats_tell(t, &(struct qn_chats_event){.change = QN_CHATS_MCP, .owner = owners[i]});
    }
    return QN_OK;
}

void qn_chats_give(struct qn_chats *c, const char *owner, const char *to, qn_chats_fn fn, void *ctx)
{
    struct qn_chats_task *t = qn_chats_task_new(c, owner, give, true, fn, ctx);
    t->args = qn_arena_strdup(t->arena, to);
    qn_chats_task_run(t, QN_OK);
}
