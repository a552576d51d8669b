/* The router's end of a child's control socket (fd 4): parses whole messages from it, queues
 * messages to it. Validates their form and does not act on their meaning. Loop thread only. */
#ifndef QN_MODELS_CHILD_LINK_H
#define QN_MODELS_CHILD_LINK_H

#include "base/buf.h"
#include "base/error.h"
#include "contract/control.h"
#include "io/loop.h"

struct qn_child_link_events {
    void (*message)(void *ctx, const struct qn_control *m); /* MUST. m is lent for the call */
    void (*broken)(void *ctx, const char *why); /* MUST. The child violated the protocol */
    void (*closed)(void *ctx);                  /* MUST. The child closed its end; called once */
};

struct qn_child_link {
    struct qn_loop *loop;
    int fd;                 /* owned by the caller */
    struct qn_watch *watch; /* NULL: closed by the child */
    struct qn_buf down;     /* bytes to send that the socket has not accepted yet */
    struct qn_buf up;       /* received bytes of an incomplete line */
    struct qn_child_link_events ev;
    void *ctx;
};

/* None of the callbacks may close the link. */
/* A zeroed link that was never opened is allowed. */
qn_err qn_child_link_open(struct qn_child_link *k, struct qn_loop *l, int fd,
                          const struct qn_child_link_events *ev, void *ctx, struct qn_error *e);
void qn_child_link_close(struct qn_child_link *k);
void qn_child_link_send(struct qn_child_link *k, const struct qn_control *m);
/* Delivers the messages that a dead child has left in the socket. */
void qn_child_link_drain(struct qn_child_link *k);

#endif
