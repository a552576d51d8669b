/* See progress.h. Lines for users go to stderr, JSON to stdout. */
#include "cli/progress.h"

#include "base/clock.h"
#include "base/str.h"
#include "cli/screen.h"

#include <stdio.h>

enum { LINE_MAX_BYTES = 1024, DRAW_MS = 200, TENTH = 10 };

void qn_progress_begin(struct qn_progress_line *p, const struct qn_cli *cli, bool quiet)
{
    *p = (struct qn_progress_line){.begun_ms = qn_now_ms(), .tenth = -1};
    p->mode = quiet                    ? QN_PROGRESS_QUIET
              : cli->json              ? QN_PROGRESS_JSON
              : qn_screen_live(stderr) ? QN_PROGRESS_LIVE
                                       : QN_PROGRESS_LOG;
}

/* Prints the server's object with the event's name as its first member. */
static bool print_json(const char *event, const struct qn_jref *data)
{
    struct qn_buf b;
    qn_buf_init(&b, SIZE_MAX - 1);
    struct qn_jw w = qn_jw_to(&b);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "event", event);
    struct qn_jref it;
    for (bool more = qn_json_first(data, &it); more; more = qn_json_next(&it)) {
        if (!it.key || qn_str_eq(it.key, "event"))
            continue;
        qn_jw_key(&w, it.key);
        qn_json_print(&it, &b);
        w.comma = true;
    }
    qn_jw_obj_end(&w);
    puts(qn_buf_cstr(&b));
    qn_buf_deinit(&b);
    return fflush(stdout) == 0;
}

void qn_progress_draw(struct qn_progress_line *p)
{
    struct qn_buf line;
    int64_t now = qn_now_ms();
    if (p->mode != QN_PROGRESS_LIVE || !p->told || (p->shown && now - p->drawn_ms < DRAW_MS))
        return;
    qn_buf_init(&line, LINE_MAX_BYTES);
    qn_transfer_line(&p->transfer, qn_screen_width(stderr) - 1, &line);
    fprintf(stderr, "\r%s\033[K", qn_buf_cstr(&line));
    qn_buf_deinit(&line);
    p->drawn_ms = now;
    p->shown = true;
}

static void log_tenth(struct qn_progress_line *p)
{
    struct qn_buf line;
    int tenth = (int)p->transfer.percent / TENTH;
    if (p->mode != QN_PROGRESS_LOG || tenth <= p->tenth)
        return;
    p->tenth = tenth;
    qn_buf_init(&line, LINE_MAX_BYTES);
    qn_transfer_text(&p->transfer, &line);
    fprintf(stderr, "%s\n", qn_buf_cstr(&line));
    qn_buf_deinit(&line);
}

bool qn_progress_event(struct qn_progress_line *p, const char *event, const struct qn_jref *data)
{
    if (p->mode == QN_PROGRESS_JSON && !qn_str_eq(event, "error"))
        return print_json(event, data);
    if (!qn_str_eq(event, "progress"))
        return true;
    qn_transfer_update(&p->transfer, data, qn_now_ms());
    p->told = true;
    log_tenth(p);
    qn_progress_draw(p);
    return true;
}

void qn_progress_end(struct qn_progress_line *p)
{
    if (p->shown)
        fputs("\r\033[K", stderr);
    p->shown = false;
}
