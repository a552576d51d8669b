/* What the files of a constraint share: constrain_cache.c compiles constraints and keeps them,
 * constrain.c follows answers through them. */
#ifndef QN_GRAMMAR_CONSTRAIN_PRIVATE_H
#define QN_GRAMMAR_CONSTRAIN_PRIVATE_H

#include "grammar/constrain.h"
#include "grammar/constrain_mask.h"

#include <pthread.h>
#include <stdatomic.h>

struct qn_constraint {
    struct qn_constrainer *owner;
    struct qn_constraint *newer, *older; /* in the cache */
    bool cached;
    _Atomic uint32_t refs; /* the cache's included */
    struct qn_buf key;     /* the source */
    uint64_t hash;         /* of it */
    struct qn_constraint_program program;
    struct qn_machine machine; /* this and masks: the compute thread's once an answer began */
    struct qn_mask_maker masks;
};

struct qn_constrainer {
    struct qn_constrain_vocab vocab;
    struct qn_trie trie; /* immutable once it is there */
    bool has_trie;
    pthread_mutex_t trie_lock; /* guards these two */
    _Atomic size_t programs; /* bytes of all that live, those that only a request holds included */
    pthread_mutex_t lock;    /* guards what follows, and the cache's links */
    struct qn_constraint *newest, *oldest;
    struct qn_compiling *compiling; /* sources at work */
    pthread_cond_t compiled;
};

/* The vocabulary's tree, made when it is asked for first. Any thread. */
const struct qn_trie *qn_constrainer_trie(struct qn_constrainer *c);
/* Lets go of what the cache holds too much of. Compute thread: how large masks are is its
 * knowledge. */
void qn_constrainer_tidy(struct qn_constrainer *c);

#endif
