/* Counts the replies that follow something until their client leaves or it ends: changes of chats,
 * an answer in progress, the log, a download, an installation. Such a reply may be idle for ever
 * without being closed as too slow; so their number is limited, of one owner and in all, below the
 * number of connections that the server has (io/http_server.h). Inference is not counted, nor are
 * WebSockets, which have limits of their own (ws.h). Pure; loop thread only. */
#ifndef QN_HTTP_WATCHERS_H
#define QN_HTTP_WATCHERS_H

#include "access/owner.h"
#include "base/error.h"

#include <stddef.h>

enum {
    QN_WATCHERS_MAX = 512,     /* streams in all */
    QN_WATCHERS_OWNER_MAX = 64 /* of one owner (access/owner.h) */
};

/* All zero at first. */
struct qn_watchers {
    struct qn_watcher *first;
    size_t n;
};

/* One stream; embedded in the struct of its request, all zero at first. */
struct qn_watcher {
    struct qn_watchers *all; /* NULL: not counted */
    struct qn_watcher *next, *prev;
    char owner[QN_OWNER_MAX + 1]; /* copied */
};

/* Counts one more stream. w must stay where it is until qn_watchers_remove. instead: what a client
 * can do without the stream, for the message ("GET /v1/logs returns lines without a stream").
 * QN_EBUSY: the owner has QN_WATCHERS_OWNER_MAX, or as many as are left for all others, or there
 * are QN_WATCHERS_MAX; then w is not counted. */
qn_err qn_watchers_add(struct qn_watchers *all, const char *owner, const char *instead,
                       struct qn_watcher *w, struct qn_error *e);

/* The stream has ended. Does nothing if w is not counted. */
void qn_watchers_remove(struct qn_watcher *w);

#endif
