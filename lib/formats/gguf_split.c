/* See gguf_split.h. */
#include "formats/gguf_split.h"

#include <limits.h>
#include <stdio.h>

/* Reads the part's number and the number of parts from the metadata; 0 of 1 if there are none. */
static qn_err place(const struct qn_gguf *g, size_t *no, size_t *count, struct qn_error *e)
{
    int64_t i = 0, n = 1;
    if (!qn_gguf_has(g, "split.count")) {
        *no = 0;
        *count = 1;
        return QN_OK;
    }
    qn_err err = qn_gguf_i64(g, "split.count", 0, QN_GGUF_PARTS_MAX, &n, e);
    if (!err)
        err = qn_gguf_i64(g, "split.no", 0, n > 0 ? n - 1 : 0, &i, e);
    *no = (size_t)i;
    *count = n > 0 ? (size_t)n : 1;
    return err;
}

/* The source of the parts: the first part's path, from which the other paths follow, or open files.
 */
struct source {
    const char *path; /* NULL: use fds */
    const int *fds;
    size_t n_fds;
};

/* The name of part i in messages. */
static const char *name_of(const struct source *s, size_t i, size_t n, char out[static PATH_MAX])
{
    if (!s->path)
        snprintf(out, PATH_MAX, "part %zu", i + 1);
    else if (i == 0 || !qn_gguf_part_path(s->path, i, n, out, PATH_MAX))
        snprintf(out, PATH_MAX, "%s", s->path);
    return out;
}

/* Opens part i of n without checks; for the first part n is not known yet. */
static qn_err open_one(const struct source *s, size_t i, size_t n, struct qn_gguf **out,
                       struct qn_error *e)
{
    char path[PATH_MAX];
    if (!s->path && i >= s->n_fds)
        return qn_fail(e, QN_ENOTFOUND,
                       "part %zu is missing: this model has %zu parts, keep all in one folder "
                       "under names that end in -00001-of-%05zu.gguf and so on",
                       i + 1, n, n);
    if (!s->path)
        return qn_gguf_open_fd(s->fds[i], out, e);
    if (i == 0)
        return qn_gguf_open(s->path, out, e);
    if (!qn_gguf_part_path(s->path, i, n, path, sizeof path))
        return qn_fail(e, QN_EINVAL,
                       "%s is part 1 of %zu: its name must end in -00001-of-%05zu.gguf, because "
                       "the names of the other parts follow from it",
                       s->path, n, n);
    qn_err err = qn_gguf_open(path, out, e);
    if (err == QN_ENOTFOUND)
        return qn_fail(e, err, "%s is missing: this model has %zu parts, keep all in one folder",
                       path, n);
    return err;
}

static qn_err open_part(const struct source *s, size_t i, size_t n, struct qn_gguf **out,
                        struct qn_error *e)
{
    size_t no, count;
    struct qn_gguf *g;
    char name[PATH_MAX];
    qn_err err = open_one(s, i, n, &g, e);
    if (err)
        return err;
    err = place(g, &no, &count, e);
    if (!err && (no != i || count != n))
        err = qn_fail(e, QN_EFORMAT, "%s says it is part %zu of %zu, not %zu of %zu",
                      name_of(s, i, n, name), no + 1, count, i + 1, n);
    if (err)
        qn_gguf_close(g);
    else
        *out = g;
    return err;
}

/* Checks that the parts have as many tensors as the first part's metadata say. */
static qn_err check_count(const char *path, struct qn_gguf *const *parts, size_t n,
                          struct qn_error *e)
{
    int64_t want, have = 0;
    if (n == 1 || !qn_gguf_has(parts[0], "split.tensors.count"))
        return QN_OK;
    qn_err err = qn_gguf_i64(parts[0], "split.tensors.count", 0, INT32_MAX, &want, e);
    for (size_t i = 0; i < n; i++)
        have += (int64_t)qn_gguf_tensor_count(parts[i]);
    if (!err && have != want)
        return qn_fail(e, QN_EFORMAT,
                       "%s and its parts have %lld tensors, not %lld: they do not belong together",
                       path, (long long)have, (long long)want);
    return err;
}

static qn_err open_all(const struct source *s, struct qn_gguf **parts, size_t *n,
                       struct qn_error *e)
{
    size_t no, count, open = 1;
    char name[PATH_MAX];
    qn_err err = open_one(s, 0, 0, &parts[0], e);
    if (err)
        return err;
    err = place(parts[0], &no, &count, e);
    if (!err && no != 0)
        err =
            qn_fail(e, QN_EINVAL, "%s is part %zu of %zu: give part 1, the others are found by it",
                    s->path ? s->path : "this file", no + 1, count);
    while (!err && open < count) {
        err = open_part(s, open, count, &parts[open], e);
        open += !err;
    }
    if (!err)
        err = check_count(name_of(s, 0, count, name), parts, count, e);
    for (size_t i = 0; err && i < open; i++)
        qn_gguf_close(parts[i]);
    *n = err ? 0 : count;
    return err;
}

qn_err qn_gguf_open_parts(const char *path, struct qn_gguf **parts, size_t *n, struct qn_error *e)
{
    return open_all(&(struct source){.path = path}, parts, n, e);
}

qn_err qn_gguf_open_fds(const int *fds, size_t n_fds, struct qn_gguf **parts, size_t *n,
                        struct qn_error *e)
{
    return open_all(&(struct source){.fds = fds, .n_fds = n_fds}, parts, n, e);
}
