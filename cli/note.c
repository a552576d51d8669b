/* See note.h. */
#include "cli/note.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/client.h"
#include "cli/print.h"
#include "cli/screen.h"

#include <stdio.h>
#include <string.h>

enum { PERIOD_MS = 1000, ASK_TIMEOUT_S = 1, TEXT_BYTES = 400 };

void qn_note_begin(struct qn_note *n, const struct qn_cli *cli, const char *model)
{
    *n = (struct qn_note){
        .cli = cli,
        .model = model,
        .doing = "waiting for",
        .begun_ms = qn_now_ms(),
        .enabled = qn_screen_live(stderr),
    };
    n->drawn_ms = n->begun_ms;
}

/* State of a model that is not ready, from the server's report. */
struct stage {
    bool there;
    double progress;         /* of loading, 0 to 1 */
    char reason[TEXT_BYTES]; /* why loading has not begun; "": it has begun */
};

static void ask(const struct qn_note *n, struct stage *out)
{
    struct qn_json *doc = NULL;
    *out = (struct stage){0};
    if (qn_client_call(n->cli, "/api/v1/health", NULL, ASK_TIMEOUT_S, NULL, &doc, NULL))
        return;
    struct qn_jref root = qn_json_root(doc), list = qn_json_get(&root, "all_models_loaded"), it;
    for (bool more = qn_json_first(&list, &it); more; more = qn_json_next(&it)) {
        struct qn_jref name = qn_json_get(&it, "model_name"), ready = qn_json_get(&it, "loaded");
        struct qn_jref done = qn_json_get(&it, "progress"), why = qn_json_get(&it, "reason");
        if (!qn_str_eq(qn_json_raw_str(&name), n->model) || qn_json_raw_bool(&ready))
            continue;
        out->there = true;
        out->progress = qn_json_raw_f64(&done);
        snprintf(out->reason, sizeof out->reason, "%s", qn_json_raw_str(&why));
    }
    qn_json_free(doc);
}

/* Draws one line on the terminal; text that does not fit is cut. */
static void draw(const char *text, const char *percent, int64_t seconds)
{
    char end[32];
    int n = snprintf(end, sizeof end, "%s (%lld s)", percent, (long long)seconds);
    size_t width = qn_screen_width(stderr), used = n > 0 ? (size_t)n + 1 : 1;
    char line[TEXT_BYTES];
    snprintf(line, sizeof line, "%s", text);
    if (width > used && strlen(line) > width - used)
        line[qn_utf8_whole(line, width - used)] = '\0';
    fputs("\r\033[K", stderr);
    qn_print_safe(stderr, line);
    fputs(end, stderr);
}

void qn_note_tick(void *note)
{
    struct qn_note *n = note;
    int64_t now = qn_now_ms();
    if (!n->enabled || now - n->drawn_ms < PERIOD_MS)
        return;
    struct stage stage;
    char text[TEXT_BYTES], percent[16] = "";
    ask(n, &stage);
    if (stage.progress > 0)
        snprintf(percent, sizeof percent, " %.0f %%",
                 stage.progress < 1 ? stage.progress * 100 : 100);
    if (*stage.reason)
        snprintf(text, sizeof text, "queued: %.300s", stage.reason);
    else
        snprintf(text, sizeof text, "%s %s", stage.there ? "loading" : n->doing, n->model);
    draw(text, percent, (now - n->begun_ms) / 1000);
    n->drawn_ms = now;
    n->shown = true;
}

void qn_note_end(struct qn_note *n)
{
    if (n->shown)
        fputs("\r\033[K", stderr);
    n->shown = n->enabled = false;
}
