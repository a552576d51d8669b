/* The prefix tree: beginnings of past sequences whose cache is kept for whoever begins alike.
 * Beginnings are shared only within one space: tokens that went through other adapters left another
 * cache, and how much of a prompt is cached must not tell one owner what another has asked.
 *
 * A radix tree over tokens. Edges are cut at whole pages only, so that a branch shares its pages
 * with its siblings; brothers may still agree on less than a page. A leaf owns a sequence that
 * holds everything from the root to its end; an inner node is a beginning that all leaves below it
 * hold. It owns a sequence only where theirs cannot be forked there: behind a sliding window, or
 * between two copies of a recurrent state. Pages are shared by reference count between the tree and
 * running sequences: taking a leaf apart never takes a page that somebody uses.
 *
 * When pages are needed, the least recently used leaf gives up its tail. Compute thread only. */
#ifndef QN_LLM_SCHEDULER_PREFIX_H
#define QN_LLM_SCHEDULER_PREFIX_H

#include "llm/model.h"

struct qn_prefix;

/* Within what beginnings are shared. */
struct qn_prefix_space {
    uint64_t owner;           /* struct qn_job.owner_salt */
    const struct qn_mix *mix; /* the adapters that the tokens go through; NULL: none */
};

/* model is lent and outlives the tree. seqs_max: sequences it keeps at most, for models whose
 * sequences hold more than pages; 0: as many as there are pages for. */
struct qn_prefix *qn_prefix_new(const struct qn_batch_model *model, int seqs_max);
void qn_prefix_free(struct qn_prefix *p); /* NULL allowed */

/* in: copied with its mix; NULL: no owner, no adapters.
 *
 * How many of tokens [n] can be had from the tree by forking *src, which is lent until the tree
 * changes; 0 with *src NULL when none. Counts as a use of that beginning. */
int32_t qn_prefix_find(struct qn_prefix *p, const struct qn_prefix_space *in, const int32_t *tokens,
                       int32_t n, struct qn_seq **src);

/* Keeps a sequence that holds exactly tokens [n]; takes seq, and frees it when the tree can give
 * all of it already. */
void qn_prefix_add(struct qn_prefix *p, const struct qn_prefix_space *in, const int32_t *tokens,
                   int32_t n, struct qn_seq *seq);

/* Lets about `pages` pages of the least recently used beginning go; false when the tree is empty.
 * Fewer or none come back where running sequences hold them, too: ask for room, and again. */
bool qn_prefix_evict(struct qn_prefix *p, int64_t pages);

/* Tokens that the tree knows, each beginning counted once. */
int64_t qn_prefix_tokens(const struct qn_prefix *p);

/* Visits the sequences, most recently used first; tokens [n] is all from the root on, lent for the
 * call, as their space. A false answer ends the visit. */
typedef bool (*qn_prefix_visit)(void *ctx, const struct qn_prefix_space *in, const int32_t *tokens,
                                int32_t n, struct qn_seq *seq);
void qn_prefix_each(const struct qn_prefix *p, qn_prefix_visit visit, void *ctx);

#endif
