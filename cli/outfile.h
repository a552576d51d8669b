/* Where a command writes its result: to a file, or to standard output. */
#ifndef QN_CLI_OUTFILE_H
#define QN_CLI_OUTFILE_H

#include "cli/cli.h"

#include <stdio.h>

struct qn_outfile {
    const char *path; /* borrowed; NULL: standard output */
    FILE *file;       /* NULL: nothing has been written */
    size_t bytes;
};

/* Prepares an output before any work is done. path: NULL or "-" is standard output. An existing
 * file is only overwritten if `replace` is set or the user agrees. binary: what the bytes are if
 * they are not text ("sound"), which a terminal gets no byte of; NULL: text. QN_ECONFLICT,
 * QN_EINVAL with a message that says what to do. */
qn_err qn_outfile_init(struct qn_outfile *o, const struct qn_cli *cli, const char *path,
                       bool replace, const char *binary, struct qn_error *e);

/* Writes bytes. The file is created, or emptied, at the first call. QN_EIO; an error of standard
 * output is also in ferror(stdout), and main reports it. */
qn_err qn_outfile_write(struct qn_outfile *o, const void *p, size_t n, struct qn_error *e);

/* Writes text; a terminal gets no escape sequences and control characters. */
qn_err qn_outfile_text(struct qn_outfile *o, const char *text, size_t n, struct qn_error *e);

/* Ends the output; a file's data must reach the system. */
qn_err qn_outfile_end(struct qn_outfile *o, struct qn_error *e);

/* The command's exit status. A failure is reported, unless the user cancelled the command
 * (QN_ECANCELLED), or standard output has failed, which main reports. */
int qn_outfile_status(const struct qn_cli *cli, qn_err err, const struct qn_error *e);

#endif
