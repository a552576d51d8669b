/* A progress line on stderr while a command waits for a reply: what the server does and for how
 * long. It is erased at the end. Nothing is shown if stderr is not a terminal. */
#ifndef QN_CLI_NOTE_H
#define QN_CLI_NOTE_H

#include "cli/cli.h"

#include <stdint.h>

struct qn_note {
    const struct qn_cli *cli;
    const char *model;
    const char *doing; /* text while the model is loaded: "waiting for", "thinking:" */
    int64_t begun_ms, drawn_ms;
    bool enabled, shown;
};

/* Strings are borrowed. */
void qn_note_begin(struct qn_note *n, const struct qn_cli *cli, const char *model);
/* Redraws the line once a second, after requesting the progress of loading from the server. A
 * qn_client_wait tick. */
void qn_note_tick(void *note);
/* Erases the line and ends the drawing. */
void qn_note_end(struct qn_note *n);

#endif
