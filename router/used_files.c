/* See used_files.h. */
#include "router/used_files.h"

#include "base/str.h"

#include <stdlib.h>

static bool has_file(const struct qn_snapshot *snap, const char *path)
{
    for (size_t i = 0; i < qn_snapshot_count(snap); i++) {
        const struct qn_model_row *row = qn_snapshot_at(snap, i);
        for (size_t k = 0; k < row->n_files; k++)
            if (qn_str_eq(row->files[k], path))
                return true;
    }
    return false;
}

bool qn_file_is_used(const struct qn_snapshot *snap, const char *path)
{
    if (has_file(snap, path))
        return true;
    char *real = realpath(path, NULL);
    bool used = real && has_file(snap, real);
    free(real);
    return used;
}
