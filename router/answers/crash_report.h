/* Crash report of a process that ended unrequested: its exit status and its last lines of output,
 * for errors and health reports. Pure. */
#ifndef QN_ANSWERS_CRASH_REPORT_H
#define QN_ANSWERS_CRASH_REPORT_H

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    QN_CRASH_REPORT_LINE_MAX = 400,     /* bytes shown of each line */
    QN_CRASH_REPORT_LOG_MAX = 8 * 1024, /* bytes of all lines */
    QN_CRASH_REPORT_WORDS_MAX = QN_ERROR_MESSAGE_MAX + 1024
};

struct qn_crash_report {
    int exit_code; /* -1: it did not exit by itself, or was never started */
    int signal;    /* 0: it was not killed by a signal */
    bool by_us;    /* the signal was sent by this server, for example because the process made no
                      progress */
    int64_t wall_ms;
    struct qn_error error;             /* why it ended, as shown to clients */
    char log[QN_CRASH_REPORT_LOG_MAX]; /* its last lines, each with its newline */
};

/* Copies as many of the last lines of `tail` as fit, each truncated to QN_CRASH_REPORT_LINE_MAX. */
void qn_crash_report_take_log(struct qn_crash_report *report, const char *tail);

/* True when the error was caused by the end of this process. report MAY be NULL. */
bool qn_crash_report_of(const struct qn_crash_report *report, const struct qn_error *e);

/* Writes the members "exit_code", "signal" (a number, or null), "signal_name" and "log" (an array
 * of lines) into an open object. */
void qn_crash_report_members(const struct qn_crash_report *report, struct qn_jw *w);

/* The error's message followed by the last lines, for responses that have room for one string only:
 * "… (its last output: a | b)". Routine lines (info, debug) of quince's own programs are left out.
 * report NULL, or without lines: the message alone. */
void qn_crash_report_words(const struct qn_crash_report *report, const struct qn_error *e,
                           char out[static QN_CRASH_REPORT_WORDS_MAX]);

#endif
