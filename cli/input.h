/* Text for a command from standard input or a file: as a whole, or line by line. */
#ifndef QN_CLI_INPUT_H
#define QN_CLI_INPUT_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum {
    QN_INPUT_TEXT_MAX = 16 * 1024 * 1024, /* bytes of a text */
    QN_INPUT_LINE_MAX = 1024 * 1024       /* bytes of a line */
};

/* True if standard input is a pipe, a socket or a file; false if it is a terminal or /dev/null. */
bool qn_input_is_piped(void);

/* The text of a command that takes one: `word`, or all of standard input without line breaks at its
 * end, or both with an empty line between them. word NULL: not given. *out has been initialised
 * with its limit. what: "prompt", for the messages. QN_EINVAL: the text is empty or not UTF-8 text.
 * QN_ELIMIT, QN_EIO. */
qn_err qn_input_text(const char *word, const char *what, struct qn_buf *out, struct qn_error *e);

/* Lines of a file. */
struct qn_input_lines {
    FILE *file;
    const char *name; /* for messages */
    struct qn_buf line;
    size_t n; /* lines read */
};

/* path: borrowed; "-" or NULL is standard input. QN_EIO. After an error, close need not be called.
 */
qn_err qn_input_open(struct qn_input_lines *in, const char *path, struct qn_error *e);

/* The next line without its line break, lent until the next call; *line is NULL at the end.
 * QN_EINVAL: a line is not UTF-8 text. QN_ELIMIT: it has more than QN_INPUT_LINE_MAX bytes. */
qn_err qn_input_next(struct qn_input_lines *in, const char **line, struct qn_error *e);
void qn_input_close(struct qn_input_lines *in);

#endif
