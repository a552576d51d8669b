/* The prefix tree: keeps the KV cache of past sequences for requests that begin with the same
 * tokens. Prefixes are shared only within one space: tokens computed with other LoRA adapters have
 * another cache, and the number of cached tokens must not tell one owner what another owner has
 * requested.
 *
 * A radix tree over tokens. Edges are split at multiples of the page size only, so that a branch
 * shares its pages with its siblings; siblings may therefore have a common prefix shorter than a
 * page. A leaf owns a sequence that holds everything from the root to the leaf's end; an inner node
 * is a prefix that all leaves below it hold. An inner node owns a sequence only where the leaves'
 * sequences cannot be forked: behind a sliding window, or between two copies of a recurrent state.
 * Tree and running sequences share pages by reference count: evicting a leaf never frees a page
 * that is in use.
 *
 * When pages are needed, the least recently used leaf is truncated. Compute thread only. */
#ifndef QN_LLM_SCHEDULER_PREFIX_H
#define QN_LLM_SCHEDULER_PREFIX_H

#include "llm/model.h"

struct qn_prefix;

/* Prefixes are shared only between requests with the same space. */
struct qn_prefix_space {
    uint64_t owner;           /* struct qn_job.owner_salt */
    const struct qn_mix *mix; /* the LoRA set that the tokens go through; NULL: none */
};

/* model is borrowed and must outlive the tree. seqs_max: most sequences in the tree, for models
 * whose sequences hold more than pages; 0: limited by pages only. */
struct qn_prefix *qn_prefix_new(const struct qn_batch_model *model, int seqs_max);
void qn_prefix_free(struct qn_prefix *p); /* NULL allowed */

/* How many of tokens [n] can be forked from *src, which is borrowed until the tree changes; 0 with
 * *src NULL if none. Counts as a use of that prefix. `in`, here and below: the space of the prefix;
 * it is copied with its mix; NULL: no owner, no adapters. */
int32_t qn_prefix_find(struct qn_prefix *p, const struct qn_prefix_space *in, const int32_t *tokens,
                       int32_t n, struct qn_seq **src);

/* Stores a sequence that holds exactly tokens [n]; takes ownership of seq, and frees it if the tree
 * already covers all of it. */
void qn_prefix_add(struct qn_prefix *p, const struct qn_prefix_space *in, const int32_t *tokens,
                   int32_t n, struct qn_seq *seq);

/* Frees about `pages` pages of the least recently used leaf; false if the tree is empty. Fewer
 * pages or none become free if running sequences share them: retry the reservation and call this
 * again. */
bool qn_prefix_evict(struct qn_prefix *p, int64_t pages);

/* Number of tokens in the tree, each shared prefix counted once. */
int64_t qn_prefix_tokens(const struct qn_prefix *p);

/* Visits the sequences, most recently used first; tokens [n] are all tokens from the root on.
 * `tokens` and `in` are borrowed for the call. A return value of false stops the iteration. */
typedef bool (*qn_prefix_visit)(void *ctx, const struct qn_prefix_space *in, const int32_t *tokens,
                                int32_t n, struct qn_seq *seq);
void qn_prefix_each(const struct qn_prefix *p, qn_prefix_visit visit, void *ctx);

#endif
