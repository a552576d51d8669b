/* logs: prints the server's log or one model's part of it, once or continuously. Following resumes
 * after the connection broke: the log's id and the number of the last line tell the server where to
 * continue, and tell this program whether it is still the same log. */
#include "base/str.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/print.h"
#include "cli/screen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { CALL_TIMEOUT_S = 30, LINES_DEFAULT = 100, LINES_MAX = 100000, AGAIN_US = 500000 };
enum { FOLLOW, FOLLOW_SHORT, LINES, LEVEL }; /* indexes in the option table */
enum { INDENT = 15, LOG_ID_MAX = 64 }; /* indentation of a line's text, after time and level */

struct reading {
    struct qn_cli *cli;
    const char *model, *level;
    int64_t lines; /* < 0: continue after line `after` */
    int64_t after;
    char log_id[LOG_ID_MAX + 1]; /* "": no line has been read yet */
    bool broken;                 /* the connection broke and was made again */
    bool written;                /* stdout accepts output */
};

/* ---- showing a line ---- */

/* Prints the words of text from column `at` on; continuation lines are indented by INDENT. */
static void print_wrapped(const char *text, size_t at, size_t width)
{
    for (bool first = true; *text; first = false) {
        size_t n = strcspn(text, " "), columns = 0;
        for (size_t i = 0; i < n;) {
            struct qn_glyph g = qn_print_glyph(text + i, n - i);
            columns += g.columns;
            i += g.bytes;
        }
        if (!first && at + 1 + columns > width && INDENT + columns <= width) {
            printf("\n%*s", INDENT, "");
            at = INDENT;
        } else if (!first) {
            putchar(' ');
            at++;
        }
        char *word = qn_xstrndup(text, n);
        qn_print_safe(stdout, word);
        free(word);
        at += columns;
        text += n + (text[n] == ' ');
    }
}

/* A line is "TIME level tag text"; time and level are printed in another format. */
static const char *behind_level(const char *line)
{
    for (int i = 0; i < 2; i++) {
        const char *space = strchr(line, ' ');
        if (!space)
            return line;
        line = space + 1;
    }
    return line;
}

/* Local hours, minutes and seconds of "2026-01-31T12:00:00.123Z". */
static void local_time(const char *stamp, char out[static 9])
{
    struct tm utc = {0}, here;
    const char *rest = strptime(stamp, "%Y-%m-%dT%H:%M:%S", &utc);
    time_t when = rest ? timegm(&utc) : 0;
    if (!rest || !localtime_r(&when, &here) || strftime(out, 9, "%H:%M:%S", &here) != 8)
        strcpy(out, "--:--:--");
}

static void print_coloured(const struct qn_jref *entry, const char *line)
{
    static const struct {
        const char *severity, *word;
        enum qn_ink ink;
    } levels[] = {{"Error", "error", QN_INK_RED},
                  {"Warning", "warn", QN_INK_YELLOW},
                  {"Debug", "debug", QN_INK_DIM},
                  {"Info", "info", QN_INK_PLAIN}};
    struct qn_jref stamp = qn_json_get(entry, "timestamp"),
                   severity = qn_json_get(entry, "severity");
    size_t i = 0;
    while (i < 3 && !qn_str_eq(levels[i].severity, qn_json_raw_str(&severity)))
        i++;
    char time[9];
    local_time(qn_json_raw_str(&stamp), time);
    const char *plain = qn_screen_ink(stdout, QN_INK_PLAIN);
    printf("%s%s%s %s%-5s ", qn_screen_ink(stdout, QN_INK_DIM), time, plain,
           qn_screen_ink(stdout, levels[i].ink), levels[i].word);
    print_wrapped(behind_level(line), INDENT, qn_screen_width(stdout));
    printf("%s\n", plain);
}

static void print_entry(const struct qn_cli *cli, const struct qn_jref *entry)
{
    struct qn_jref line = qn_json_get(entry, "line");
    if (cli->json)
        qn_print_json(entry);
    else if (qn_screen_live(stdout))
        print_coloured(entry, qn_json_raw_str(&line));
    else
        qn_print_line(qn_json_raw_str(&line));
}

/* ---- reading ---- */

static void write_path(const struct reading *r, const char *where, struct qn_buf *path)
{
    qn_buf_fmt(path, "/api/v1/%s?", where);
    if (r->lines >= 0)
        qn_buf_fmt(path, "lines=%lld", (long long)r->lines);
    else
        qn_buf_fmt(path, "after_seq=%lld&log_id=%s", (long long)r->after, r->log_id);
    const char *const more[][2] = {{"model", r->model}, {"level", r->level}};
    for (size_t i = 0; i < 2; i++)
        if (more[i][1]) {
            qn_buf_fmt(path, "&%s=", more[i][0]);
            qn_client_escape(path, more[i][1], false);
        }
}

static qn_err print_once(struct reading *r, const char *path, struct qn_error *e)
{
    struct qn_json *doc = NULL;
    qn_err err = qn_client_call(r->cli, path, NULL, CALL_TIMEOUT_S, NULL, &doc, e);
    if (err)
        return err;
    struct qn_jref root = qn_json_root(doc), entries = qn_json_get(&root, "entries"), it;
    for (bool more = qn_json_first(&entries, &it); more; more = qn_json_next(&it))
        print_entry(r->cli, &it);
    qn_json_free(doc);
    return QN_OK;
}

static void note(const struct reading *r, const char *text)
{
    if (r->cli->json)
        return;
    fprintf(stderr, "%s-- ", qn_screen_ink(stderr, QN_INK_DIM));
    qn_print_safe(stderr, text);
    fprintf(stderr, " --%s\n", qn_screen_ink(stderr, QN_INK_PLAIN));
}

/* Called when the stream begins: checks whether this is the log that was read before, and whether
 * lines are missing. */
static void take_place(struct reading *r, const struct qn_jref *root)
{
    struct qn_jref id = qn_json_get(root, "log_id"), lost = qn_json_get(root, "lost"),
                   last = qn_json_get(root, "last_seq");
    const char *name = qn_json_raw_str(&id);
    double missing = qn_json_raw_f64(&lost);
    char text[80];
    if (r->broken && !qn_str_eq(name, r->log_id)) {
        note(r, "the server was restarted");
        r->after = 0;
    } else if (missing > 0) {
        snprintf(text, sizeof text, "%.0f lines are missing", missing);
        note(r, text);
    }
    if (!*r->log_id && r->lines == 0)
        r->after = (int64_t)qn_json_raw_f64(&last);
    snprintf(r->log_id, sizeof r->log_id, "%s", name);
    r->lines = -1;
    r->broken = false;
}

static bool on_event(void *ctx, const char *event, const char *data, size_t n)
{
    struct reading *r = ctx;
    struct qn_json *doc = NULL;
    if (qn_json_parse(data, n, &doc, NULL))
        return true;
    struct qn_jref root = qn_json_root(doc), seq = qn_json_get(&root, "seq");
    if (qn_str_eq(event, "logs.open")) {
        take_place(r, &root);
    } else if (qn_str_eq(event, "logs.entry")) {
        print_entry(r->cli, &root);
        r->after = (int64_t)qn_json_raw_f64(&seq);
        r->written = fflush(stdout) == 0;
    } else if (qn_str_eq(event, "error")) {
        struct qn_jref error = qn_json_get(&root, "error"),
                       message = qn_json_get(&error, "message");
        note(r, qn_json_raw_str(&message));
        r->broken = true;
    }
    qn_json_free(doc);
    return r->written;
}

/* Follows the log until Ctrl-C or until the reader of the output has closed it. If a server that
 * was reached before stops, waits for the next one. */
static qn_err follow(struct reading *r, struct qn_error *e)
{
    for (;;) {
        struct qn_buf path;
        qn_buf_init(&path, 8192);
        write_path(r, "logs/stream", &path);
        qn_err err = qn_client_stream(r->cli, qn_buf_cstr(&path), NULL, on_event, r, NULL, e);
        qn_buf_deinit(&path);
        if (!r->written)
            return QN_OK;
        bool gone = !err || err == QN_EIO || err == QN_ETIMEOUT || err == QN_EBUSY;
        if (!*r->log_id || !gone)
            return err ? err : qn_fail(e, QN_EIO, "the server closed the log at once");
        if (!r->broken)
            note(r, "the server has stopped; waiting for it (Ctrl-C ends this)");
        r->broken = true;
        usleep(AGAIN_US);
    }
}

int qn_cmd_logs(struct qn_cli *cli, const struct qn_cli_args *a)
{
    struct reading r = {.cli = cli,
                        .model = a->n_words ? a->words[0] : NULL,
                        .level = a->values[LEVEL],
                        .lines = LINES_DEFAULT,
                        .written = true};
    if (a->values[LINES] &&
        (!qn_parse_i64(a->values[LINES], &r.lines) || r.lines < 0 || r.lines > LINES_MAX))
        return qn_cli_misused(cli, "--lines needs a number from 0 to %d", LINES_MAX);
    struct qn_error e;
    qn_err err;
    if (a->values[FOLLOW] || a->values[FOLLOW_SHORT]) {
        err = follow(&r, &e);
    } else {
        struct qn_buf path;
        qn_buf_init(&path, 8192);
        write_path(&r, "logs", &path);
        err = print_once(&r, qn_buf_cstr(&path), &e);
        qn_buf_deinit(&path);
    }
    if (err)
        return qn_cli_failed(cli, &e);
    return r.written ? QN_EXIT_OK : QN_EXIT_FAILED;
}
