/* An index over one repository's file names: finds the parts of a split model and the projector of
 * a model by binary search, so that resolving every model of a folder takes n log n steps and not
 * the square of its files. Pure: no file is opened. One index is used by one thread at a time. */
#ifndef QN_REGISTRY_REPO_INDEX_H
#define QN_REGISTRY_REPO_INDEX_H

#include "registry/variant.h"

struct qn_repo_index;

/* The index refers to repo, which must outlive it and must not change. Never fails; n log n. */
struct qn_repo_index *qn_repo_index_new(const struct qn_repo *repo);
void qn_repo_index_free(struct qn_repo_index *x); /* NULL allowed */
const struct qn_repo *qn_repo_index_repo(const struct qn_repo_index *x);

/* The part with this number (1 to shard->count) of the series that a file belongs to. shard: the
 * result of qn_shard_of for path. If several files match, the first in the order of the files;
 * NULL: the part is missing. */
const struct qn_repo_file *qn_repo_index_part(const struct qn_repo_index *x, const char *path,
                                              const struct qn_shard *shard, int number);

/* The best projector for the model whose main file has this path: one from the same folder before
 * all others, then by precision (F16, BF16, Q8_0, F32, anything else), then the first in the order
 * of the files. NULL: the repository has none. */
const struct qn_repo_file *qn_repo_index_projector(const struct qn_repo_index *x,
                                                   const char *main_path);

#endif
