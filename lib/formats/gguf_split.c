/* See gguf_split.h. */
#include "formats/gguf_split.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { TAIL = sizeof "-00001-of-00001.gguf" - 1 };

bool qn_gguf_part_path(const char *path, size_t i, size_t n, char *out, size_t size)
{
    size_t len = strlen(path);
    char count[32];
    snprintf(count, sizeof count, "-of-%05zu.gguf", n);
    if (len < TAIL || path[len - TAIL] != '-' || strcmp(path + len - strlen(count), count) != 0)
        return false;
    int wrote = snprintf(out, size, "%.*s-%05zu%s", (int)(len - TAIL), path, i + 1, count);
    return wrote > 0 && (size_t)wrote < size;
}

/* Which part of how many the file says it is; 0 of 1 when it says nothing. */
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

static qn_err open_part(const char *first, size_t i, size_t n, struct qn_gguf **out,
                        struct qn_error *e)
{
    char path[PATH_MAX];
    size_t no, count;
    if (!qn_gguf_part_path(first, i, n, path, sizeof path))
        return qn_fail(e, QN_EINVAL,
                       "%s is part 1 of %zu: its name must end in -00001-of-%05zu.gguf, for the "
                       "others are found by it",
                       first, n, n);
    struct qn_gguf *g;
    qn_err err = qn_gguf_open(path, &g, e);
    if (err == QN_ENOTFOUND)
        return qn_fail(e, err, "%s is missing: this model has %zu parts, keep all in one folder",
                       path, n);
    if (!err)
        err = place(g, &no, &count, e);
    else
        return err;
    if (!err && (no != i || count != n))
        err = qn_fail(e, QN_EFORMAT, "%s says it is part %zu of %zu, not %zu of %zu", path, no + 1,
                      count, i + 1, n);
    if (err)
        qn_gguf_close(g);
    else
        *out = g;
    return err;
}

/* All tensors that the first part speaks of are there. */
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

qn_err qn_gguf_open_parts(const char *path, struct qn_gguf **parts, size_t *n, struct qn_error *e)
{
    size_t no, count, open = 1;
    qn_err err = qn_gguf_open(path, &parts[0], e);
    if (err)
        return err;
    err = place(parts[0], &no, &count, e);
    if (!err && no != 0)
        err =
            qn_fail(e, QN_EINVAL, "%s is part %zu of %zu: give part 1, the others are found by it",
                    path, no + 1, count);
    while (!err && open < count) {
        err = open_part(path, open, count, &parts[open], e);
        open += !err;
    }
    if (!err)
        err = check_count(path, parts, count, e);
    for (size_t i = 0; err && i < open; i++)
        qn_gguf_close(parts[i]);
    *n = err ? 0 : count;
    return err;
}
