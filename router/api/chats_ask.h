/* A request about stored chats: it waits for the database, and for a worker when its body or its
 * reply is large. The operation goes on when the client disconnects. Loop thread. */
#ifndef QN_API_CHATS_ASK_H
#define QN_API_CHATS_ASK_H

#include "access/auth.h"
#include "api/topics.h"
#include "api/waiting.h"
#include "base/json.h"
#include "chats/chats.h"

struct qn_chats_ask {
    struct qn_waiting client;
    const struct qn_chats_api *api;
    char owner[QN_OWNER_MAX + 1];
    char *id;   /* the text at {id} of the path; NULL: none */
    int status; /* of the reply; 200 unless the handler sets it */
    bool heavy; /* the handler has begun QN_CHATS_READING (chats_load.h) */
    /* Writes the reply's JSON; any thread. */
    void (*write)(struct qn_jw *w, const struct qn_chats_found *found);
};

/* id MAY be NULL. */
struct qn_chats_ask *
qn_chats_ask_new(const struct qn_chats_api *api, struct qn_http *h, const char *id,
                 void (*write)(struct qn_jw *w, const struct qn_chats_found *found));

/* For requests whose result is that they were carried out: {"status": "success"}. */
void qn_chats_ask_write_done(struct qn_jw *w, const struct qn_chats_found *found);

/* Parses the body as a JSON object of at most max bytes, then calls `then` with it, lent for the
 * call; or sends the error and frees a. */
void qn_chats_ask_body(struct qn_chats_ask *a, size_t max,
                       void (*then)(struct qn_chats_ask *a, const struct qn_jref *root));

/* Sends the error and frees a. */
void qn_chats_ask_fail(struct qn_chats_ask *a, const struct qn_error *e);

/* For qn_chats_fn: sends the result, or its error, and frees a. */
void qn_chats_ask_found(void *ctx, const struct qn_chats_found *found);

#endif
