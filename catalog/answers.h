/* Stored responses: the Responses API refers to an earlier response by its id to continue a
 * conversation. Each belongs to an owner and is found only by this owner. There are at most
 * QN_ANSWERS_MAX of them with QN_ANSWERS_BYTES_MAX bytes in all. When a limit is exceeded, the
 * least recently used responses of the owner with the most are removed, so that one owner cannot
 * displace another owner's fair share. */
#ifndef QN_CATALOG_ANSWERS_H
#define QN_CATALOG_ANSWERS_H

#include "base/arena.h"
#include "base/error.h"
#include "catalog/catalog.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    QN_ANSWERS_MAX = 1000,
    QN_ANSWERS_BYTES_MAX = 256 * 1024 * 1024,
    QN_ANSWER_BYTES_MAX = 32 * 1024 * 1024,  /* input and body of one; longer ones are not stored */
    QN_ANSWERS_FOUND_MAX = 64 * 1024 * 1024, /* bytes that one request may continue from */
    QN_ANSWER_CHAIN_MAX = 1000,              /* responses in one conversation */
    QN_ANSWER_ID_MAX = 128                   /* bytes; no id is longer */
};

/* The owner whose responses are accessed. unowned: also responses without an owner, stored by
 * versions that had no owners. */
struct qn_answers_of {
    const char *owner;
    bool unowned;
};

struct qn_answer_row {
    const char *id;
    const char *previous; /* id of the response that it continued, or "" */
    const char *input;    /* JSON array: the input items of its own request */
    const char *body;     /* JSON object: the response */
};

/* The result of a search; rows are lent for the call. The first n_chain rows are a conversation,
 * oldest first; e is NULL unless the database failed. The callee MAY take ownership of the arena
 * that holds the rows' texts, which may be many megabytes, by setting *arena to NULL; it then has
 * to free it. */
struct qn_answers_found {
    const struct qn_answer_row *rows;
    size_t n, n_chain;
    struct qn_arena **arena;
    const struct qn_error *e;
};
typedef void (*qn_answers_fn)(void *ctx, const struct qn_answers_found *found);

/* A response to be stored. */
struct qn_answer_task;

/* Copies the row and its owner's name, in time proportional to the row's size; any thread may call
 * it. NULL if the response is too long to be stored, which is logged. */
struct qn_answer_task *qn_answer_to_keep(const char *owner, const struct qn_answer_row *row);
/* For a task that is not passed to qn_catalog_keep_answer. NULL allowed; any thread. */
void qn_answer_task_free(struct qn_answer_task *t);

/* Stores the response and takes ownership of the task; NULL: does nothing. There is no result: a
 * failure is logged. */
void qn_catalog_keep_answer(struct qn_catalog *c, struct qn_answer_task *t);

/* Finds the response `chain` and all responses that it continued (NULL: none; n_chain is 0 if it or
 * one of its predecessors is missing), followed by those of the n responses `ids` that exist. All
 * count as used. fn is called once, never from within this call. */
void qn_catalog_find_answers(struct qn_catalog *c, const struct qn_answers_of *of,
                             const char *chain, const char *const *ids, size_t n, qn_answers_fn fn,
                             void *ctx);

/* done(ctx, NULL) when the response was deleted, QN_ENOTFOUND when `of` had none with this id. */
void qn_catalog_drop_answer(struct qn_catalog *c, const struct qn_answers_of *of, const char *id,
                            qn_catalog_done done, void *ctx);

#endif
