/* Answers in progress: they belong to the server, not to the client that asked for them. An answer
 * is computed as the request of its owner, with the queues and limits of every request, and stored
 * with the conversation (chats/chats.h) as it is written. Clients follow it as long as they like;
 * only qn_answering_end ends it early.
 *
 * What a client may see (struct qn_answer_view) is what the database has: text is appended in
 * batches, the first at once, later ones QN_ANSWERING_COMMIT_MS apart, and shown after the commit.
 * So a server that is killed loses nothing that a client has seen. Loop thread only. */
#ifndef QN_ANSWERING_ANSWERING_H
#define QN_ANSWERING_ANSWERING_H

#include "access/auth.h"
#include "answering/records.h"
#include "chats/chats.h"
#include "infer/infer.h"

#include <stdbool.h>

enum {
    QN_ANSWERING_COMMIT_MS = 50,
    QN_ANSWERING_LOOK_MS = 250,           /* between two looks at answers that wait */
    QN_ANSWERING_OWNER_MAX = 32,          /* answers in progress of one owner */
    QN_ANSWERING_MAX = 1024,              /* of all */
    QN_ANSWERING_AHEAD_MAX = 256 * 1024,  /* bytes that are not in the database yet: then the model
                                             pauses */
    QN_ANSWERING_CALLS_MAX = 1024 * 1024, /* bytes of an answer's calls as JSON */
    QN_ANSWERING_ROUNDS_MAX = 10, /* maximum answers in a row that call tools of MCP servers */
    QN_ANSWERING_RUNS_MAX = 16,   /* maximum calls of one answer that are run */
    QN_ANSWERING_RESULTS_MAX = 384 * 1024 /* maximum bytes of all results of one answer */
};

struct qn_answering;

struct qn_answering_config {
    const struct qn_inference *inference;
    struct qn_chats *chats;
    struct qn_mcp *mcp; /* runs the MCP tools that models call */
};
struct qn_answering *qn_answering_new(const struct qn_answering_config *config);
/* Ends all answers as INTERRUPTED, with all their text, and begins no more. The database is still
 * needed, and the inventory, whose leases are released. */
void qn_answering_stop(struct qn_answering *a);
/* When no callback of the database can follow, and nothing watches. NULL allowed. */
void qn_answering_free(struct qn_answering *a);
/* Answers that are not finished in the database. */
size_t qn_answering_active(const struct qn_answering *a);

/* ---- beginning and ending ---- */

/* Strings are copied. */
struct qn_answer_wish {
    struct qn_caller caller;
    const char *client, *share; /* for the fair queue: see qn_client_id and qn_client_owner */
    const struct qn_profile *profile;
    const char *message; /* the message to be answered, or the answer that is to be continued: */
    bool more;
    const char *model, *params; /* see body.h; params have been checked */
};
/* Begins an answer. fn is called once, not from within, when it is in the database: with the chat
 * and the path that ends with the answer, see qn_chats_begin_answer; the callee must not take the
 * arena. QN_EBUSY: the server is stopping, or (param QN_ANSWERING_TOO_MANY) too many answers are in
 * progress; fn is not called. */
#define QN_ANSWERING_TOO_MANY "answers"
qn_err qn_answering_begin(struct qn_answering *a, const struct qn_answer_wish *wish, qn_chats_fn fn,
                          void *ctx, struct qn_error *e);

/* Ends an answer as STOPPED. Calls to the database that are made afterwards see it finished. False:
 * this owner has no such answer in progress. */
bool qn_answering_end(struct qn_answering *a, const char *owner, const char *message);

/* Ends the reasoning of an answer, which goes on with its text. QN_ENOTFOUND: this owner has no
 * such answer in progress; QN_ECONFLICT: its model does not compute yet, or its engine cannot do
 * this. */
qn_err qn_answering_end_reasoning(struct qn_answering *a, const char *owner, const char *message,
                                  struct qn_error *e);

/* Allows or denies a call that waits for a permission. ALWAYS and NEVER are stored as the
 * permission of the tool, and also apply to all other waiting calls of this tool in this answer.
 * QN_ENOTFOUND: this owner has no such answer in progress, or the answer has no such call;
 * QN_ECONFLICT: the call does not wait for a permission. */
enum qn_answering_decision { QN_ALLOW_ONCE, QN_ALLOW_ALWAYS, QN_ALLOW_NO, QN_ALLOW_NEVER };
qn_err qn_answering_allow(struct qn_answering *a, const char *owner, const char *message,
                          const char *call, enum qn_answering_decision d, struct qn_error *e);

/* Must be called when the server is stopping: answers that wait for a permission end as
 * INTERRUPTED. */
void qn_answering_drain(struct qn_answering *a);

/* For qn_chats_config.changed: ends the answers whose conversation was deleted. */
void qn_answering_changed(struct qn_answering *a, const struct qn_chats_event *event);

/* ---- watching ---- */

/* Follows one answer. Embedded in the follower's struct. */
struct qn_answer_watcher {
    /* MUST. There may be more to see. The callee may unwatch. Called until the answer is finished,
     * then once more; the view stays valid until it unwatches. */
    void (*more)(void *ctx);
    void *ctx;
    struct qn_answer *answer;
    struct qn_answer_watcher *prev, *next;
};
/* True while an answer of this owner is in progress. */
bool qn_answering_any(const struct qn_answering *a, const char *owner);

/* False: this owner has no such answer in progress. */
bool qn_answering_watch(struct qn_answering *a, const char *owner, const char *message,
                        struct qn_answer_watcher *w);
/* Lent until the next turn of the loop. */
const struct qn_answer_view *qn_answering_view(const struct qn_answer_watcher *w);
void qn_answering_unwatch(struct qn_answer_watcher *w);

#endif
