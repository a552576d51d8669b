/* The prefix tree on disk, so that a model that is loaded again can reuse the prefixes computed
 * earlier.
 *
 * The file belongs to one model with one type of cache, identified by a key. It is written under a
 * temporary name, synced and renamed, so that a crash leaves the previous file or none. Each
 * sequence has a checksum. A damaged sequence or the file of another model is not used, and one log
 * line reports it. Compute thread only.
 *
 *   header    "QNPREFIX", version, page, key (64 bits), CRC-32 of these
 *   sequence  tokens n, tokens `from` of them that an earlier sequence of the same owner has,
 *             the owner's number (64 bits), the n ids, the cache of tokens from .. n as the
 *             network writes it, CRC-32 of all these
 *   end       a sequence of 0 tokens without an owner
 * Numbers have 32 bits unless stated otherwise, in the machine's byte order. */
#ifndef QN_LLM_SCHEDULER_PREFIX_FILE_H
#define QN_LLM_SCHEDULER_PREFIX_FILE_H

#include "llm/model.h"
#include "llm/scheduler/prefix.h"

enum {
    QN_PREFIX_FILE_LEAVES = 256, /* sequences in a file: the most recently used */
    QN_PREFIX_FILE_MIB = 1024    /* approximate size limit of a file */
};

/* Returns a key for a model file's bytes [n] and salt, which is everything else that determines the
 * cache's content. Hashes the file's size, its beginning and samples from all over it: FNV-1a, 64
 * bits. */
uint64_t qn_prefix_key(const void *file, size_t n, const char *salt);

/* QN_EIO; QN_EUNSUPPORTED if the model's sequences cannot be stored. An empty tree deletes the
 * file. */
qn_err qn_prefix_save(const struct qn_prefix *p, const struct qn_batch_model *m, uint64_t key,
                      const char *path, struct qn_error *e);

/* Adds the file's sequences to the tree; *tokens counts their tokens. QN_ENOTFOUND: no file;
 * QN_EFORMAT: damaged or of another model; sequences before the damage are kept. */
qn_err qn_prefix_restore(struct qn_prefix *p, const struct qn_batch_model *m, int32_t context,
                         uint64_t key, const char *path, int64_t *tokens, struct qn_error *e);

#endif
