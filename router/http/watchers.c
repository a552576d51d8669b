/* See watchers.h. The list is short, so that an owner's streams are counted by looking at all. */
#include "http/watchers.h"

#include "base/str.h"

#include <stdio.h>

static size_t count_of(const struct qn_watchers *all, const char *owner)
{
    size_t n = 0;
    for (const struct qn_watcher *w = all->first; w; w = w->next)
        n += qn_str_eq(w->owner, owner);
    return n;
}

qn_err qn_watchers_add(struct qn_watchers *all, const char *owner, const char *instead,
                       struct qn_watcher *w, struct qn_error *e)
{
    size_t own = count_of(all, owner), left = QN_WATCHERS_MAX - all->n;
    if (left == 0)
        return qn_fail(e, QN_EBUSY,
                       "all %d streams for chats, answers, the log, downloads and installations "
                       "are open: try again later; %s",
                       QN_WATCHERS_MAX, instead);
    if (own && (own >= QN_WATCHERS_OWNER_MAX || own >= left))
        return qn_fail(e, QN_EBUSY,
                       "this client has %zu streams open for chats, answers, the log, downloads "
                       "and installations, and gets no more now (at most %d): close one; %s",
                       own, QN_WATCHERS_OWNER_MAX, instead);
    *w = (struct qn_watcher){.all = all, .next = all->first};
    snprintf(w->owner, sizeof w->owner, "%s", owner);
    if (w->next)
        w->next->prev = w;
    all->first = w;
    all->n++;
    return QN_OK;
}

void qn_watchers_remove(struct qn_watcher *w)
{
    struct qn_watchers *all = w->all;
    if (!all)
        return;
    if (w->next)
        w->next->prev = w->prev;
    if (w->prev)
        w->prev->next = w->next;
    else
        all->first = w->next;
    all->n--;
    w->all = NULL;
}
