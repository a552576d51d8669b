/* Progress of a download. On a terminal it is one line that is redrawn; in a log it is a line for
 * every tenth; with --json every event is a line; with --quiet there is no output. */
#ifndef QN_CLI_PROGRESS_H
#define QN_CLI_PROGRESS_H

#include "cli/cli.h"
#include "cli/transfer.h"

enum qn_progress_mode { QN_PROGRESS_QUIET, QN_PROGRESS_JSON, QN_PROGRESS_LIVE, QN_PROGRESS_LOG };

struct qn_progress_line {
    enum qn_progress_mode mode;
    struct qn_transfer transfer;
    int64_t begun_ms, drawn_ms;
    int tenth; /* the last tenth that was printed */
    bool told, shown;
};

void qn_progress_begin(struct qn_progress_line *p, const struct qn_cli *cli, bool quiet);

/* Handles an event, given by its name and object. False if the output was closed. */
bool qn_progress_event(struct qn_progress_line *p, const char *event, const struct qn_jref *data);

/* Redraws the line between events, as the rate falls while no data arrives. */
void qn_progress_draw(struct qn_progress_line *p);

/* Erases the line. */
void qn_progress_end(struct qn_progress_line *p);

#endif
