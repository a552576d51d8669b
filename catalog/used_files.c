/* See used_files.h. */
#include "catalog/used_files.h"

#include "base/buf.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

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

struct qn_used_files {
    const char **paths;
    size_t n;
};

static int compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

struct qn_used_files *qn_used_files_new(const struct qn_snapshot *snap)
{
    return qn_used_files_without(snap, NULL);
}

struct qn_used_files *qn_used_files_without(const struct qn_snapshot *snap, const char *without)
{
    struct qn_used_files *used = qn_xcalloc(1, sizeof *used);
    size_t n = 0;
    for (size_t i = 0; i < qn_snapshot_count(snap); i++)
        n += qn_snapshot_at(snap, i)->n_files;
    used->paths = qn_xcalloc(n + 1, sizeof *used->paths);
    for (size_t i = 0; i < qn_snapshot_count(snap); i++) {
        const struct qn_model_row *row = qn_snapshot_at(snap, i);
        for (size_t k = 0; k < row->n_files && !qn_str_eq(row->name, without); k++)
            used->paths[used->n++] = row->files[k];
    }
    qsort(used->paths, used->n, sizeof *used->paths, compare);
    return used;
}

static bool is_listed(const struct qn_used_files *used, const char *path)
{
    return bsearch(&path, used->paths, used->n, sizeof *used->paths, compare) != NULL;
}

bool qn_used_files_has(const struct qn_used_files *used, const char *path)
{
    if (is_listed(used, path))
        return true;
    char *real = realpath(path, NULL);
    bool found = real && is_listed(used, real);
    free(real);
    return found;
}

bool qn_used_files_below(const struct qn_used_files *used, const char *folder)
{
    size_t n = strlen(folder), low = 0, high = used->n;
    while (low < high) { /* finds the first path that does not sort before "folder/" */
        size_t middle = low + (high - low) / 2;
        int order = strncmp(used->paths[middle], folder, n);
        if (order < 0 || (order == 0 && used->paths[middle][n] < '/'))
            low = middle + 1;
        else
            high = middle;
    }
    return low < used->n && !strncmp(used->paths[low], folder, n) && used->paths[low][n] == '/';
}

void qn_used_files_free(struct qn_used_files *used)
{
    if (!used)
        return;
    free(used->paths);
    free(used);
}
