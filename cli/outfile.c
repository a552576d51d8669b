/* See outfile.h. */
#include "cli/outfile.h"

#include "base/str.h"
#include "cli/ask.h"
#include "cli/print.h"

#include <unistd.h>

enum { QUESTION_MAX = 512 };

static qn_err may_replace(const struct qn_cli *cli, const char *path, struct qn_error *e)
{
    char question[QUESTION_MAX];
    if (access(path, F_OK) != 0)
        return QN_OK;
    snprintf(question, sizeof question, "%.400s exists. Replace it?", path);
    if (qn_ask_possible(cli) && qn_ask_yes(question))
        return QN_OK;
    return qn_fail(e, QN_ECONFLICT, "%.400s exists: --yes replaces it", path);
}

qn_err qn_outfile_init(struct qn_outfile *o, const struct qn_cli *cli, const char *path,
                       bool replace, const char *binary, struct qn_error *e)
{
    *o = (struct qn_outfile){.path = path && !qn_str_eq(path, "-") ? path : NULL};
    if (!o->path && binary && isatty(STDOUT_FILENO))
        return qn_fail(e, QN_EINVAL,
                       "a terminal cannot show %s: write it to a file with -o FILE, or pipe it "
                       "into another program",
                       binary);
    return o->path && !replace ? may_replace(cli, o->path, e) : QN_OK;
}

static qn_err open_file(struct qn_outfile *o, struct qn_error *e)
{
    if (!o->file)
        o->file = o->path ? fopen(o->path, "wb") : stdout;
    return o->file ? QN_OK : qn_fail_errno(e, "write %.400s", o->path);
}

static qn_err failed(const struct qn_outfile *o, struct qn_error *e)
{
    return qn_fail_errno(e, "write %.400s", o->path ? o->path : "standard output");
}

qn_err qn_outfile_write(struct qn_outfile *o, const void *p, size_t n, struct qn_error *e)
{
    qn_err err = open_file(o, e);
    if (!err && fwrite(p, 1, n, o->file) != n)
        err = failed(o, e);
    o->bytes += n;
    return err;
}

qn_err qn_outfile_text(struct qn_outfile *o, const char *text, size_t n, struct qn_error *e)
{
    if (o->path)
        return qn_outfile_write(o, text, n, e);
    o->bytes += n;
    return qn_print_answer(text, n) ? QN_OK : failed(o, e);
}

qn_err qn_outfile_end(struct qn_outfile *o, struct qn_error *e)
{
    FILE *file = o->file;
    o->file = NULL;
    if (!file)
        return QN_OK;
    return (o->path ? fclose(file) : fflush(file)) == 0 ? QN_OK : failed(o, e);
}

int qn_outfile_status(const struct qn_cli *cli, qn_err err, const struct qn_error *e)
{
    if (!err)
        return QN_EXIT_OK;
    return err == QN_ECANCELLED || ferror(stdout) ? QN_EXIT_FAILED : qn_cli_failed(cli, e);
}
