/* The weight cache: packed weights are kept on disk, so that the next load of the same model maps
 * them instead of packing again, in memory that all processes on this machine share.
 *
 * One file per model, named by a hash of the model's path, in a folder of the user's own. The file
 * is used only if the model's files are those it was made from (number, size and inode times) and
 * this version packs weights in the same way; its table is checked before use (formats/laidout.h),
 * its weights in the background by their checksums: a damaged file is removed, and the caller
 * repairs the damaged matrices in memory. The file is written in the background, at the lowest
 * priority, under a temporary name, and renamed when complete. The folder has a size limit: the
 * least recently used files are removed first. A full disk or any other failure is logged and costs
 * only time. Compute thread only. */
#ifndef QN_ENGINE_KEPT_H
#define QN_ENGINE_KEPT_H

#include "base/error.h"
#include "formats/laidout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct qn_kept_weights;

/* path: the model's; identity: identifies the files that the weights are packed from. Opens the
 * existing cache file. Never fails: without a usable file the cache is empty. */
struct qn_kept_weights *qn_kept_new(const char *folder, int64_t limit_bytes, const char *path,
                                    uint64_t identity);
/* Stops writing and unmaps. NULL allowed. */
void qn_kept_free(struct qn_kept_weights *k);

/* Returns the packed bytes of this matrix, mapped and borrowed, or NULL; sets their number and
 * checksum in *which. */
const void *qn_kept_find(struct qn_kept_weights *k, struct qn_laidout_matrix *which);
/* Adds a matrix of this load: its bytes, which must stay until qn_kept_free, and whether they came
 * from qn_kept_find. */
void qn_kept_add(struct qn_kept_weights *k, const struct qn_laidout_matrix *which, const void *data,
                 bool found);
/* Starts a thread that writes all added matrices to the file, unless the file has them already, and
 * then verifies those that were found in the file. */
void qn_kept_write(struct qn_kept_weights *k);
void qn_kept_wait(struct qn_kept_weights *k); /* waits until the thread has finished */

/* kept_check.c */
/* Whether matrices from the file are known to be damaged. now: waits for the background check; if
 * that found no damage, this thread verifies the matrices again, once. */
bool qn_kept_damaged(struct qn_kept_weights *k, bool now);
/* Iterates over damaged matrices: returns the first from index *i on and sets *i to its index;
 * NULL: no more. */
const struct qn_laidout_matrix *qn_kept_next_bad(struct qn_kept_weights *k, uint32_t *i);
/* If repair is impossible: marks damaged matrices as checked, so that they are reported once.
 */
void qn_kept_give_up(struct qn_kept_weights *k);
/* Replaces the bytes of damaged matrix i, at the same address, by a copy of data. Afterwards
 * qn_kept_write writes a new file. QN_EUNSUPPORTED (page size), QN_ENOMEM, QN_EIO. */
qn_err qn_kept_mend(struct qn_kept_weights *k, uint32_t i, const void *data, struct qn_error *e);

#endif
