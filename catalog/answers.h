/* Answers that the catalog keeps, so that a later request can go on from them: how the Responses
 * API remembers a conversation. Each belongs to an owner, and is found by that owner alone. At most
 * QN_ANSWERS_MAX of them with QN_ANSWERS_BYTES_MAX bytes: where there are more, the owner with the
 * most loses those that have not been used for longest, so that no owner's flood costs another
 * one more than a fair share leaves. */
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
    QN_ANSWER_BYTES_MAX = 32 * 1024 * 1024,  /* input and body of one; a longer one is not kept */
    QN_ANSWERS_FOUND_MAX = 64 * 1024 * 1024, /* bytes that one request may go on from */
    QN_ANSWER_CHAIN_MAX = 1000,              /* answers that went on from each other */
    QN_ANSWER_ID_MAX = 128                   /* bytes of an id; nothing has a longer one */
};

/* Whose answers are meant. unowned: also those without an owner, which were kept by versions that
 * knew none. */
struct qn_answers_of {
    const char *owner;
    bool unowned;
};

struct qn_answer_row {
    const char *id;
    const char *previous; /* the id of the answer it went on from, or "" */
    const char *input;    /* JSON array: the items of its own request */
    const char *body;     /* JSON object: the answer */
};

/* What was found: rows are lent for the time of the call. The first n_chain are a conversation,
 * oldest first; e is NULL unless the database failed. The callee MAY take the arena that the rows'
 * texts are in, which may be many megabytes, by setting *arena to NULL: it frees it then. */
struct qn_answers_found {
    const struct qn_answer_row *rows;
    size_t n, n_chain;
    struct qn_arena **arena;
    const struct qn_error *e;
};
typedef void (*qn_answers_fn)(void *ctx, const struct qn_answers_found *found);

/* Keeps a copy of the row for its owner. There is no result: what cannot be kept is logged. */
void qn_catalog_keep_answer(struct qn_catalog *c, const char *owner,
                            const struct qn_answer_row *row);

/* Looks among the answers of `of` for the answer `chain` with all that it went on from (NULL: none;
 * an answer that is not there, or a chain with a link missing, gives n_chain 0), and for the n
 * answers `ids`, of which those that are there follow. All become used. fn is called once, not from
 * within. */
void qn_catalog_find_answers(struct qn_catalog *c, const struct qn_answers_of *of,
                             const char *chain, const char *const *ids, size_t n, qn_answers_fn fn,
                             void *ctx);

/* done(ctx, NULL) when it is gone, QN_ENOTFOUND when `of` had none. */
void qn_catalog_drop_answer(struct qn_catalog *c, const struct qn_answers_of *of, const char *id,
                            qn_catalog_done done, void *ctx);

#endif
