/* The prefix tree on disk, so that a model that is loaded again begins with what it knew.
 *
 * The file belongs to one model with one type of cache: a key says which. It is written beside its
 * name, synced and renamed, so that a crash leaves the old one or none. Each sequence has a
 * checksum. What is damaged, or another model's, is not used, and said once in the log. Compute
 * thread only.
 *
 *   header    "QNPREFIX", version, page, key (64 bits), CRC-32 of these
 *   sequence  tokens n, tokens `from` of them that an earlier sequence of the same owner has, the
 *             owner's number (64 bits), the n ids, the cache of tokens from .. n as the network
 *             writes it, CRC-32 of all these
 *   end       a sequence of 0 tokens without an owner
 * All numbers have 32 bits unless said otherwise, as the machine writes them. */
#ifndef QN_LLM_SCHEDULER_PREFIX_FILE_H
#define QN_LLM_SCHEDULER_PREFIX_FILE_H

#include "llm/model.h"
#include "llm/scheduler/prefix.h"

enum {
    QN_PREFIX_FILE_LEAVES = 256, /* sequences in a file, those used last */
    QN_PREFIX_FILE_MIB = 1024    /* and no more than about this size */
};

/* A number for a model file's bytes [n] and whatever else decides what the cache holds: its size,
 * its beginning and samples from all over it. FNV-1a, 64 bits. */
uint64_t qn_prefix_key(const void *file, size_t n, const char *salt);

/* QN_EIO, QN_EUNSUPPORTED (a model that cannot be stored). An empty tree removes the file. */
qn_err qn_prefix_save(const struct qn_prefix *p, const struct qn_batch_model *m, uint64_t key,
                      const char *path, struct qn_error *e);

/* Adds what the file holds; *tokens counts them. QN_ENOTFOUND: no file; QN_EFORMAT: damaged, or
 * another model's: what came before the damage is kept. */
qn_err qn_prefix_restore(struct qn_prefix *p, const struct qn_batch_model *m, int32_t context,
                         uint64_t key, const char *path, int64_t *tokens, struct qn_error *e);

#endif
