/* Tells whether a file belongs to a model; asked before the file is deleted. */
#ifndef QN_CATALOG_USED_FILES_H
#define QN_CATALOG_USED_FILES_H

#include "catalog/catalog.h"

#include <stdbool.h>

/* True when a row has this path, or the file that it links to: a model imported from the cache has
 * the path of the blob itself. */
bool qn_file_is_used(const struct qn_snapshot *snap, const char *path);

/* The same for many files: all paths of the rows, sorted; they are lent from the snapshot. Any
 * thread. */
struct qn_used_files;
struct qn_used_files *qn_used_files_new(const struct qn_snapshot *snap);
/* The same without the files that only this model has; without: its name. */
struct qn_used_files *qn_used_files_without(const struct qn_snapshot *snap, const char *without);
bool qn_used_files_has(const struct qn_used_files *used, const char *path);
/* True when a row has a file below this folder. */
bool qn_used_files_below(const struct qn_used_files *used, const char *folder);
void qn_used_files_free(struct qn_used_files *used); /* NULL allowed */

#endif
