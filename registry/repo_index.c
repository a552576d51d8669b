/* See repo_index.h: two sorted arrays, one of all files that are parts of a series, one of all
 * projectors. Entries that compare equal keep the order of the repository's files. */
#include "registry/repo_index.h"

#include "base/buf.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

struct part {
    const struct qn_repo_file *file;
    struct qn_shard shard;
};

struct projector {
    const struct qn_repo_file *file;
    size_t folder_len; /* length of its path up to and including the last slash */
    size_t rank;       /* of its precision; smaller is better */
};

struct qn_repo_index {
    const struct qn_repo *repo;
    struct part *parts;
    size_t n_parts;
    struct projector *projectors;
    size_t n_projectors;
    const struct qn_repo_file *best; /* of all projectors, in any folder; NULL: none */
};

static int by_number(long long a, long long b)
{
    return a < b ? -1 : a > b;
}

static int by_bytes(const char *a, size_t a_len, const char *b, size_t b_len)
{
    int d = memcmp(a, b, a_len < b_len ? a_len : b_len);
    return d ? d : by_number((long long)a_len, (long long)b_len);
}

/* Compares by series (stem, then count), then by number. */
static int compare_parts(const struct part *a, const struct part *b)
{
    int d = by_bytes(a->file->path, a->shard.stem_len, b->file->path, b->shard.stem_len);
    if (!d)
        d = by_number(a->shard.count, b->shard.count);
    return d ? d : by_number(a->shard.number, b->shard.number);
}

static int compare_files(const struct qn_repo_file *a, const struct qn_repo_file *b)
{
    return a < b ? -1 : a > b;
}

static int sort_parts(const void *pa, const void *pb)
{
    const struct part *a = pa, *b = pb;
    int d = compare_parts(a, b);
    return d ? d : compare_files(a->file, b->file);
}

static size_t folder_len(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

static size_t rank_of(const char *path)
{
    static const char *const precisions[] = {"F16", "BF16", "Q8_0", "F32"};
    enum { PRECISIONS = sizeof precisions / sizeof *precisions };
    char quantization[32];
    size_t rank = 0;
    if (!qn_quantization_of(path, quantization))
        return PRECISIONS;
    while (rank < PRECISIONS && !qn_str_eq(quantization, precisions[rank]))
        rank++;
    return rank;
}

/* By folder, the best one of each folder first. */
static int sort_projectors(const void *pa, const void *pb)
{
    const struct projector *a = pa, *b = pb;
    int d = by_bytes(a->file->path, a->folder_len, b->file->path, b->folder_len);
    if (!d)
        d = by_number((long long)a->rank, (long long)b->rank);
    return d ? d : compare_files(a->file, b->file);
}

static void find_best(struct qn_repo_index *x)
{
    const struct projector *best = NULL;
    for (size_t i = 0; i < x->n_projectors; i++) {
        const struct projector *p = &x->projectors[i];
        if (!best || p->rank < best->rank || (p->rank == best->rank && p->file < best->file))
            best = p;
    }
    x->best = best ? best->file : NULL;
}

struct qn_repo_index *qn_repo_index_new(const struct qn_repo *repo)
{
    struct qn_repo_index *x = qn_xcalloc(1, sizeof *x);
    x->repo = repo;
    x->parts = qn_xcalloc(repo->n + 1, sizeof *x->parts);
    x->projectors = qn_xcalloc(repo->n + 1, sizeof *x->projectors);
    for (size_t i = 0; i < repo->n; i++) {
        const struct qn_repo_file *file = &repo->files[i];
        struct qn_shard shard;
        if (qn_shard_of(file->path, &shard))
            x->parts[x->n_parts++] = (struct part){file, shard};
        if (qn_file_kind_of(file->path) == QN_FILE_MMPROJ)
            x->projectors[x->n_projectors++] =
                (struct projector){file, folder_len(file->path), rank_of(file->path)};
    }
    if (x->n_parts)
        qsort(x->parts, x->n_parts, sizeof *x->parts, sort_parts);
    if (x->n_projectors)
        qsort(x->projectors, x->n_projectors, sizeof *x->projectors, sort_projectors);
    find_best(x);
    return x;
}

void qn_repo_index_free(struct qn_repo_index *x)
{
    if (!x)
        return;
    free(x->parts);
    free(x->projectors);
    free(x);
}

const struct qn_repo *qn_repo_index_repo(const struct qn_repo_index *x)
{
    return x->repo;
}

const struct qn_repo_file *qn_repo_index_part(const struct qn_repo_index *x, const char *path,
                                              const struct qn_shard *shard, int number)
{
    const struct qn_repo_file like = {.path = path};
    struct part wanted = {&like, *shard};
    size_t from = 0, to = x->n_parts;
    wanted.shard.number = number;
    /* Parts before `from` sort before the wanted one, parts from `to` on do not. */
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (compare_parts(&x->parts[middle], &wanted) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    bool found = from < x->n_parts && compare_parts(&x->parts[from], &wanted) == 0;
    return found ? x->parts[from].file : NULL;
}

const struct qn_repo_file *qn_repo_index_projector(const struct qn_repo_index *x,
                                                   const char *main_path)
{
    size_t from = 0, to = x->n_projectors, len = folder_len(main_path);
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        const struct projector *p = &x->projectors[middle];
        if (by_bytes(p->file->path, p->folder_len, main_path, len) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    bool near =
        from < x->n_projectors && by_bytes(x->projectors[from].file->path,
                                           x->projectors[from].folder_len, main_path, len) == 0;
    return near ? x->projectors[from].file : x->best;
}
