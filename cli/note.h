/* What a person at a terminal sees while nothing arrives: one line on stderr that says what the
 * server does and for how long, and vanishes. Nothing is shown where stderr is not a terminal. */
#ifndef QN_CLI_NOTE_H
#define QN_CLI_NOTE_H

#include "cli/cli.h"

#include <stdint.h>

struct qn_note {
    const struct qn_cli *cli;
    const char *model;
    const char *doing; /* while the model is in memory: "waiting for", "thinking:" */
    int64_t begun_ms, drawn_ms;
    bool enabled, shown;
};

/* The strings are borrowed. */
void qn_note_begin(struct qn_note *n, const struct qn_cli *cli, const char *model);
/* Draws anew when a second is over; asks the server how far loading is. A qn_client_wait tick. */
void qn_note_tick(void *note);
/* Wipes the line; no more is drawn. */
void qn_note_end(struct qn_note *n);

#endif
