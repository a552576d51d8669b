/* Whether a file still belongs to a model, before it is taken off the disk. */
#ifndef QN_ROUTER_USED_FILES_H
#define QN_ROUTER_USED_FILES_H

#include "catalog/catalog.h"

#include <stdbool.h>

/* True when a row has this path, or the file that it leads to: a model that was imported from the
 * cache has the blob itself. */
bool qn_file_is_used(const struct qn_snapshot *snap, const char *path);

#endif
