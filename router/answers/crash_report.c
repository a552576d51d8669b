/* Builds and writes crash reports, see crash_report.h. */
#include "answers/crash_report.h"

#include "base/str.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { WORDS_LINES = 3, WORDS_LINE_MAX = 300 };

/* The number of a line's n bytes that are shown: at most max, and no incomplete UTF-8 character. */
static size_t shown(const char *line, size_t n, size_t max)
{
    return n > max ? qn_utf8_whole(line, max) : n;
}

/* p is the beginning of a line or the end of the text; returns the beginning of the line before it,
 * or `text` if there is none. */
static const char *line_before(const char *text, const char *p)
{
    p -= p > text;
    while (p > text && p[-1] != '\n')
        p--;
    return p;
}

void qn_crash_report_take_log(struct qn_crash_report *report, const char *tail)
{
    const char *from = tail + strlen(tail);
    size_t room = sizeof report->log - 1, at = 0;
    while (from > tail) {
        const char *line = line_before(tail, from);
        size_t n = shown(line, strcspn(line, "\n"), QN_CRASH_REPORT_LINE_MAX) + 1;
        if (n > room)
            break;
        room -= n;
        from = line;
    }
    while (*from) {
        size_t whole = strcspn(from, "\n"), n = shown(from, whole, QN_CRASH_REPORT_LINE_MAX);
        memcpy(report->log + at, from, n);
        at += n;
        report->log[at++] = '\n';
        from += whole + (from[whole] == '\n');
    }
    report->log[at] = '\0';
}

bool qn_crash_report_of(const struct qn_crash_report *report, const struct qn_error *e)
{
    return report && report->error.code == e->code && qn_str_eq(report->error.message, e->message);
}

/* The signals' symbolic names, which can be searched for; strsignal returns sentences. */
static const char *signal_name(int number)
{
    static const struct {
        int number;
        const char *name;
    } names[] = {{SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},
                 {SIGHUP, "SIGHUP"},   {SIGILL, "SIGILL"},   {SIGINT, "SIGINT"},
                 {SIGKILL, "SIGKILL"}, {SIGPIPE, "SIGPIPE"}, {SIGQUIT, "SIGQUIT"},
                 {SIGSEGV, "SIGSEGV"}, {SIGSYS, "SIGSYS"},   {SIGTERM, "SIGTERM"},
                 {SIGTRAP, "SIGTRAP"}, {SIGXCPU, "SIGXCPU"}, {SIGXFSZ, "SIGXFSZ"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].number == number)
            return names[i].name;
    return NULL;
}

void qn_crash_report_members(const struct qn_crash_report *report, struct qn_jw *w)
{
    if (report->exit_code >= 0)
        qn_jw_ki64(w, "exit_code", report->exit_code);
    else
        qn_jw_knull(w, "exit_code");
    if (report->signal > 0)
        qn_jw_ki64(w, "signal", report->signal);
    else
        qn_jw_knull(w, "signal");
    qn_jw_kstr(w, "signal_name", signal_name(report->signal));
    qn_jw_kbool(w, "killed_by_server", report->by_us);
    qn_jw_key(w, "log");
    qn_jw_arr(w);
    for (const char *line = report->log; *line;) {
        size_t n = strcspn(line, "\n");
        qn_jw_strn(w, line, n);
        line += n + (line[n] == '\n');
    }
    qn_jw_arr_end(w);
}

/* "2026-01-31T12:00:00.123Z info …": a routine line of one of quince's own programs. */
static bool is_routine(const char *line)
{
    enum { LEVEL_AT = 24 };
    return strnlen(line, LEVEL_AT) == LEVEL_AT && line[LEVEL_AT - 1] == 'Z' &&
           (qn_str_starts(line + LEVEL_AT, " info ") || qn_str_starts(line + LEVEL_AT, " debug "));
}

void qn_crash_report_words(const struct qn_crash_report *report, const struct qn_error *e,
                           char out[static QN_CRASH_REPORT_WORDS_MAX])
{
    const char *lines[WORDS_LINES];
    size_t n = (size_t)snprintf(out, QN_CRASH_REPORT_WORDS_MAX, "%s", e->message), told = 0;
    if (!report)
        return;
    for (const char *line = report->log; *line; line += strcspn(line, "\n") + 1)
        if (!is_routine(line))
            lines[told++ % WORDS_LINES] = line;
    if (!told)
        return;
    const char *between = " (its last output: ";
    for (size_t i = told > WORDS_LINES ? told - WORDS_LINES : 0; i < told; i++) {
        const char *line = lines[i % WORDS_LINES];
        size_t whole = strcspn(line, "\n");
        n += (size_t)snprintf(out + n, QN_CRASH_REPORT_WORDS_MAX - n, "%s%.*s", between,
                              (int)shown(line, whole, WORDS_LINE_MAX), line);
        between = " | ";
    }
    snprintf(out + n, QN_CRASH_REPORT_WORDS_MAX - n, ")");
}
