/* Shared by the files that implement constraints: constrain_cache.c compiles and caches them,
 * constrain.c follows sequences through them. */
#ifndef QN_GRAMMAR_CONSTRAIN_PRIVATE_H
#define QN_GRAMMAR_CONSTRAIN_PRIVATE_H

#include "grammar/constrain.h"
#include "grammar/constrain_mask.h"

#include <pthread.h>
#include <stdatomic.h>

struct qn_constraint {
    struct qn_constrainer *owner;
    struct qn_constraint *newer, *older; /* LRU list of the cache */
    bool cached;
    _Atomic uint32_t refs; /* including the cache's reference */
    struct qn_buf key;     /* the source */
    uint64_t hash;         /* hash of the key */
    struct qn_constraint_program program;
    struct qn_machine machine; /* machine and masks belong to the compute thread once a sequence has
                                  begun */
    struct qn_mask_maker masks;
};

struct qn_constrainer {
    struct qn_constrain_vocab vocab;
    struct qn_trie trie; /* immutable once built */
    bool has_trie;
    pthread_mutex_t trie_lock; /* guards trie and has_trie */
    _Atomic size_t programs;   /* bytes of all constraints that exist, including those that only a
                                  request references */
    pthread_mutex_t lock;      /* guards the fields below and the LRU links of the constraints */
    struct qn_constraint *newest, *oldest;
    struct qn_compiling *compiling; /* sources that are being compiled */
    pthread_cond_t compiled;
};

/* The vocabulary's prefix tree, built on the first call. Any thread. */
const struct qn_trie *qn_constrainer_trie(struct qn_constrainer *c);
/* Evicts constraints until the cache is within its limit. Compute thread only, because the size of
 * the masks is only known there. */
void qn_constrainer_tidy(struct qn_constrainer *c);

#endif
