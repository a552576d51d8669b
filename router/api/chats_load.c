/* See chats_load.h. */
#include "api/chats_load.h"

#include "base/buf.h"
#include "base/tally.h"

#include <stdlib.h>

static const struct {
    int all, own; /* at a time, in all and of one owner */
    const char *name;
} limits[QN_CHATS_HEAVY] = {
    [QN_CHATS_READING] = {16, 8, "requests for whole chats"},
    [QN_CHATS_EXPORTING] = {8, 2, "exports"},
    [QN_CHATS_IMPORTING] = {2, 1, "imports"},
};

struct qn_chats_load {
    struct qn_tally tallies[QN_CHATS_HEAVY];
};

struct qn_chats_load *qn_chats_load_new(void)
{
    struct qn_chats_load *l = qn_xcalloc(1, sizeof *l);
    for (size_t i = 0; i < QN_CHATS_HEAVY; i++)
        qn_tally_init(&l->tallies[i]);
    return l;
}

void qn_chats_load_free(struct qn_chats_load *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < QN_CHATS_HEAVY; i++)
        qn_tally_deinit(&l->tallies[i]);
    free(l);
}

qn_err qn_chats_load_begin(struct qn_chats_load *l, enum qn_chats_heavy what, const char *owner,
                           struct qn_error *e)
{
    struct qn_tally *t = &l->tallies[what];
    if (t->total >= limits[what].all || qn_tally_of(t, owner) >= limits[what].own)
        return qn_fail(e, QN_EBUSY, "too many %s at a time: at most %d of one owner, try again",
                       limits[what].name, limits[what].own);
    qn_tally_add(t, owner, 1);
    return QN_OK;
}

void qn_chats_load_end(struct qn_chats_load *l, enum qn_chats_heavy what, const char *owner)
{
    qn_tally_add(&l->tallies[what], owner, -1);
}
