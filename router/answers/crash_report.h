/* What is left of a process that ended when nobody had asked it to: how it ended and its last
 * words. Errors and health reports show it. Pure. */
#ifndef QN_ANSWERS_CRASH_REPORT_H
#define QN_ANSWERS_CRASH_REPORT_H

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    QN_CRASH_REPORT_LINE_MAX = 400,     /* bytes shown of each line */
    QN_CRASH_REPORT_LOG_MAX = 8 * 1024, /* of all of them */
    QN_CRASH_REPORT_WORDS_MAX = QN_ERROR_MESSAGE_MAX + 1024
};

struct qn_crash_report {
    int exit_code; /* -1: it did not exit by itself, or was never started */
    int signal;    /* 0: it was not killed by one */
    bool by_us;    /* the signal came from this server, which had lost patience with it */
    int64_t wall_ms;
    struct qn_error error;             /* why it ended, as clients are told */
    char log[QN_CRASH_REPORT_LOG_MAX]; /* its last lines, each with its newline */
};

/* Takes over the newest whole lines of `tail` that have room, each cut to
 * QN_CRASH_REPORT_LINE_MAX. */
void qn_crash_report_take_log(struct qn_crash_report *report, const char *tail);

/* True when this is what that error tells of. NULL allowed. */
bool qn_crash_report_of(const struct qn_crash_report *report, const struct qn_error *e);

/* The members "exit_code", "signal" (a number, or null), "signal_name" and "log" (an array of
 * lines), into an object that is open. */
void qn_crash_report_members(const struct qn_crash_report *report, struct qn_jw *w);

/* The error's message with the last lines behind it, for answers that have room for a text alone:
 * "… (its last words: a | b)". What our own programs log of their daily work is left out. report
 * NULL, or without lines: the message as it is. */
void qn_crash_report_words(const struct qn_crash_report *report, const struct qn_error *e,
                           char out[static QN_CRASH_REPORT_WORDS_MAX]);

#endif
