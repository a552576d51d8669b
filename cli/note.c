/* See note.h. */
#include "cli/note.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/client.h"
#include "cli/print.h"
#include "cli/screen.h"

#include <stdio.h>

enum { PERIOD_MS = 1000, ASK_TIMEOUT_S = 1, TEXT_MAX = 60 };

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

/* How much of the model is loaded, from 0 to 1; -1 when it is not loading or nobody says. */
static double loading(const struct qn_note *n)
{
    struct qn_json *doc = NULL;
    double progress = -1;
    if (qn_client_call(n->cli, "/api/v1/health", NULL, ASK_TIMEOUT_S, NULL, &doc, NULL))
        return progress;
    struct qn_jref root = qn_json_root(doc), list = qn_json_get(&root, "all_models_loaded"), it;
    for (bool more = qn_json_first(&list, &it); more; more = qn_json_next(&it)) {
        struct qn_jref name = qn_json_get(&it, "model_name"), ready = qn_json_get(&it, "loaded");
        struct qn_jref done = qn_json_get(&it, "progress");
        if (qn_str_eq(qn_json_raw_str(&name), n->model) && !qn_json_raw_bool(&ready))
            progress = qn_json_raw_f64(&done);
    }
    qn_json_free(doc);
    return progress;
}

void qn_note_tick(void *note)
{
    struct qn_note *n = note;
    int64_t now = qn_now_ms();
    if (!n->enabled || now - n->drawn_ms < PERIOD_MS)
        return;
    double progress = loading(n);
    char text[TEXT_MAX], percent[16] = "";
    if (progress > 0)
        snprintf(percent, sizeof percent, " %.0f %%", progress < 1 ? progress * 100 : 100);
    snprintf(text, sizeof text, "%s %s", progress >= 0 ? "loading" : n->doing, n->model);
    fputs("\r\033[K", stderr);
    qn_print_safe(stderr, text);
    fprintf(stderr, "%s (%lld s)", percent, (long long)(now - n->begun_ms) / 1000);
    n->drawn_ms = now;
    n->shown = true;
}

void qn_note_end(struct qn_note *n)
{
    if (n->shown)
        fputs("\r\033[K", stderr);
    n->shown = n->enabled = false;
}
