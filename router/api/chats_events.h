/* GET internal/chats/events: committed changes of stored chats as server-sent events, to all
 * clients of the owner that they belong to. The number of clients is limited (http/watchers.h).
 * Loop thread. */
#ifndef QN_API_CHATS_EVENTS_H
#define QN_API_CHATS_EVENTS_H

#include "access/auth.h"
#include "chats/chats.h"
#include "io/loop.h"

enum {
    QN_CHATS_EVENTS_UNREAD_MAX = 1024 * 1024 /* bytes after which a client is told to read anew */
};

struct qn_chats_events;

struct qn_chats_events *qn_chats_events_new(struct qn_loop *l, const struct qn_keys *keys);
/* The server is stopping: ends all streams. */
void qn_chats_events_stop(struct qn_chats_events *ev);
/* After the HTTP server has been freed. NULL allowed. */
void qn_chats_events_free(struct qn_chats_events *ev);

/* For qn_chats_config.changed; ctx: a struct qn_chats_events. */
void qn_chats_events_tell(void *ctx, const struct qn_chats_event *event);

#endif
