/* See inspect.h. */
#include "registry/inspect.h"

#include "base/log.h"
#include "formats/gguf_name.h"
#include "registry/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORD = 24 };

/* Opens one file of a model. O_NONBLOCK: open() must not block if the path is a named pipe, which
 * fstat then detects. */
static qn_err open_one(const char *path, int *fd, struct qn_error *e)
{
    struct stat st;
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*fd < 0)
        return qn_fail_errno(e, "open %s", path);
    if (!fstat(*fd, &st) && S_ISREG(st.st_mode))
        return QN_OK;
    close(*fd);
    return qn_fail(e, QN_EFORMAT, "%s: not a regular file", path);
}

/* Opens the first file and the further parts that its name announces, up to the first missing one.
 * Whether the missing one is needed is decided by the metadata of the first file. */
static qn_err open_files(const char *path, int fds[static QN_GGUF_PARTS_MAX], size_t *n,
                         struct qn_error *e)
{
    const size_t parts = qn_gguf_parts_of(path);
    qn_err err = QN_OK;
    for (*n = 0; *n < parts && !err; *n += !err) {
        char part[PATH_MAX];
        if (*n == 0)
            err = open_one(path, &fds[0], e);
        else if (!qn_gguf_part_path(path, *n, parts, part, sizeof part))
            err = qn_fail(e, QN_EINVAL, "%.200s: the path is too long", path);
        else if ((err = open_one(part, &fds[*n], e)) == QN_ENOTFOUND)
            return QN_OK;
    }
    return err;
}

static qn_err died(int status, struct qn_error *e)
{
    int signal_number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (signal_number == SIGBUS)
        return qn_fail(e, QN_EIO,
                       "the file became shorter while it was read, or its disk cannot "
                       "be read");
    if (signal_number == SIGXCPU)
        return qn_fail(e, QN_ELIMIT, "reading its metadata takes too long");
    return qn_helper_died("reading its metadata", status, e);
}

static qn_err ask(const struct qn_inspector *by, const int *fds, size_t n,
                  struct qn_inspection *out, struct qn_buf *facts, struct qn_error *e)
{
    char count[WORD], lacking[QN_INSPECTION_LACKING_MAX + 1] = "";
    const char *args[] = {count, NULL};
    const struct qn_helper helper = {.program = by->program,
                                     .args = args,
                                     .fds = fds,
                                     .n_fds = n,
                                     .stop = by->stop,
                                     .limit_ms = by->limit_ms};
    struct qn_buf report;
    int status;
    snprintf(count, sizeof count, "%zu", n);
    qn_buf_init(&report, QN_INSPECTION_MAX);
    qn_err err = qn_helper_run(&helper, &report, &status, e);
    if (!err && (!WIFEXITED(status) || !report.len))
        err = died(status, e);
    if (!err)
        err = qn_inspection_read(report.data, report.len, out, facts, lacking, e);
    if (*lacking)
        qn_info("inspect",
                "sandbox_without=\"%s\" message=\"this kernel does not have it; the other "
                "restrictions are in force\"",
                lacking);
    qn_buf_deinit(&report);
    return err;
}

qn_err qn_registry_inspect(const struct qn_inspector *by, const char *path,
                           struct qn_inspection *out, struct qn_buf *facts, struct qn_error *e)
{
    int fds[QN_GGUF_PARTS_MAX];
    size_t n;
    struct qn_error why = {0};
    *out = (struct qn_inspection){0};
    qn_err err = open_files(path, fds, &n, e);
    if (!err && (err = ask(by, fds, n, out, facts, &why)))
        qn_fail(e, err, "%s: %s", path, why.message);
    for (size_t i = 0; i < n; i++)
        close(fds[i]);
    return err;
}
