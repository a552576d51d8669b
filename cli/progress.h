/* Telling of a download while it runs. A person at a terminal sees one line that is drawn anew; a
 * log gets a line at every tenth; a program that reads JSON gets every event as a line; with
 * --quiet there is no output. */
#ifndef QN_CLI_PROGRESS_H
#define QN_CLI_PROGRESS_H

#include "cli/cli.h"
#include "cli/transfer.h"

enum qn_progress_mode { QN_PROGRESS_QUIET, QN_PROGRESS_JSON, QN_PROGRESS_LIVE, QN_PROGRESS_LOG };

struct qn_progress_line {
    enum qn_progress_mode mode;
    struct qn_transfer transfer;
    int64_t begun_ms, drawn_ms;
    int tenth; /* the last that was told */
    bool told, shown;
};

void qn_progress_begin(struct qn_progress_line *p, const struct qn_cli *cli, bool quiet);

/* An event's name and its object. False when the reader of the output has gone. */
bool qn_progress_event(struct qn_progress_line *p, const char *event, const struct qn_jref *data);

/* Draws the line anew though nothing came: the rate falls. */
void qn_progress_draw(struct qn_progress_line *p);

/* Wipes the line. */
void qn_progress_end(struct qn_progress_line *p);

#endif
