/* Weights laid out for computing, kept on disk: the next load of the same model maps them and need
 * not lay them out again, in memory that every process on this machine shares.
 *
 * One file for each model, named by a hash of its path, in a folder of the user's own. What it
 * holds is used only if the model's files are those it was made of (number, size and times of the
 * inode) and this version lays weights out the same way; its table is checked before use
 * (formats/laidout.h), its weights in the background, by their checksums: a damaged file is
 * removed, and the caller mends what it has of it. It is written in the background, at the lowest
 * priority, beside its place, and renamed when it is whole. The folder has a limit: what was used
 * longest ago goes first. A full disk, or anything else that stands in the way, is logged and costs
 * time only. Compute thread only. */
#ifndef QN_ENGINE_KEPT_H
#define QN_ENGINE_KEPT_H

#include "base/error.h"
#include "formats/laidout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct qn_kept_weights;

/* path: the model's; identity: what its laid-out weights are made of. Opens what is there. Never
 * fails: then there is nothing yet. */
struct qn_kept_weights *qn_kept_new(const char *folder, int64_t limit_bytes, const char *path,
                                    uint64_t identity);
/* Stops writing and unmaps. NULL allowed. */
void qn_kept_free(struct qn_kept_weights *k);

/* The laid-out bytes of this matrix, mapped and lent, or NULL; their number and checksum go to
 * *which. */
const void *qn_kept_find(struct qn_kept_weights *k, struct qn_laidout_matrix *which);
/* A matrix of this load, its bytes, which stay until qn_kept_free, and whether they came from
 * qn_kept_find. */
void qn_kept_add(struct qn_kept_weights *k, const struct qn_laidout_matrix *which, const void *data,
                 bool found);
/* Begins to write all that was added, unless the file has it, and to check what was found in it. */
void qn_kept_write(struct qn_kept_weights *k);
void qn_kept_wait(struct qn_kept_weights *k); /* until that is done */

/* kept_check.c */
/* Some of what was found is known to be damaged. now: what is not known is found out at once, by
 * this thread where the check in the background has ended already, once. */
bool qn_kept_damaged(struct qn_kept_weights *k, bool now);
/* Damaged matrices one after another: the first from number *i on, which becomes its number. NULL:
 * no more. */
const struct qn_laidout_matrix *qn_kept_next_bad(struct qn_kept_weights *k, uint32_t *i);
/* Puts the right bytes in the place of a damaged matrix's, where all who have them see them.
 * Afterwards qn_kept_write writes the file anew. */
void qn_kept_give_up(
    struct qn_kept_weights *k); /* it cannot be: what is damaged stays, and is told once */
qn_err qn_kept_mend(struct qn_kept_weights *k, uint32_t i, const void *data, struct qn_error *e);

#endif
