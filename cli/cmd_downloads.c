/* downloads: lists the server's downloads and controls them. */
#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/downloads.h"
#include "cli/print.h"
#include "cli/screen.h"
#include "cli/table.h"
#include "cli/transfer.h"
#include "cli/words.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { CALL_TIMEOUT_S = 30, BODY_MAX = 64 * 1024, REFRESH_US = 500000, CELL_MAX = 32 };

enum { OPTION_ONCE };

static const char *text(const struct qn_jref *job, const char *key)
{
    struct qn_jref v = qn_json_get(job, key);
    return qn_json_raw_str(&v);
}

static bool is_running(const struct qn_jref *job)
{
    return qn_str_eq(text(job, "status"), "downloading");
}

static void add_row(struct qn_table *t, const struct qn_jref *job)
{
    struct qn_transfer x = {0};
    char percent[CELL_MAX] = "", size[16] = "", rate[CELL_MAX] = "", left[24] = "", bytes[16];
    const char *phase = text(job, "phase"), *status = text(job, "status");
    qn_transfer_update(&x, job, 0);
    if (x.total > 0) {
        snprintf(percent, sizeof percent, "%d %%", (int)x.percent);
        qn_human_bytes(x.total, size);
    }
    if (is_running(job) && qn_transfer_rate(&x) > 0) {
        qn_human_bytes(qn_transfer_rate(&x), bytes);
        snprintf(rate, sizeof rate, "%s/s", bytes);
    }
    if (is_running(job) && qn_transfer_left_s(&x) >= 0)
        qn_words_duration(qn_transfer_left_s(&x), left);
    const char *cells[] = {text(job, "model_name"),
                           is_running(job) && phase[0] ? phase : status,
                           percent,
                           size,
                           rate,
                           left};
    qn_table_row(t, cells);
}

/* Appends the table, then the reasons of failures. Returns the number of active jobs. */
static size_t write_jobs(const struct qn_jref *jobs, size_t width, bool live, struct qn_buf *out)
{
    static const char *const titles[] = {"Model", "State", "Done", "Size", "Rate", "Left"};
    struct qn_table *t = qn_table_new(6, titles);
    struct qn_jref it;
    size_t running = 0;
    for (bool more = qn_json_first(jobs, &it); more; more = qn_json_next(&it)) {
        add_row(t, &it);
        running += is_running(&it);
    }
    qn_table_write(t, width, out);
    qn_table_free(t);
    for (bool more = qn_json_first(jobs, &it); more; more = qn_json_next(&it)) {
        const char *why = text(&it, "error");
        if (!why[0])
            continue;
        qn_buf_char(out, '\n');
        qn_table_fit(out, text(&it, "model_name"), width);
        qn_buf_str(out, ":\n  ");
        /* a line that wraps would break the redrawing */
        qn_table_fit(out, why, live ? width - 2 : SIZE_MAX);
    }
    if (out->len && out->data[out->len - 1] != '\n')
        qn_buf_char(out, '\n');
    return running;
}

/* Finds the array of jobs in the reply, which may be the array or an object with it. */
/* path: the route of all downloads, or of those that run or have ended recently. */
static qn_err fetch_jobs(const struct qn_cli *cli, const char *path, struct qn_json **doc,
                         struct qn_jref *root, struct qn_jref *jobs, struct qn_error *e)
{
    qn_err err = qn_client_call(cli, path, NULL, CALL_TIMEOUT_S, NULL, doc, e);
    if (err)
        return err;
    *root = qn_json_root(*doc);
    *jobs = qn_json_type(root) == QN_JSON_ARRAY ? *root : qn_json_get(root, "downloads");
    return QN_OK;
}

qn_err qn_downloads_control(const struct qn_cli *cli, const char *id, const char *action,
                            struct qn_error *e)
{
    struct qn_json *doc = NULL, *reply = NULL;
    struct qn_jref root, jobs, it;
    struct qn_buf body;
    const char *found = NULL;
    qn_err err = fetch_jobs(cli, "/api/v1/downloads?all=true", &doc, &root, &jobs, e);
    if (err)
        return err;
    for (bool more = qn_json_first(&jobs, &it); more && !found; more = qn_json_next(&it))
        if (qn_str_eq(text(&it, "id"), id) || qn_str_eq(text(&it, "model_name"), id))
            found = text(&it, "id");
    qn_buf_init(&body, BODY_MAX);
    if (!found) {
        err = qn_fail(e, QN_ENOTFOUND,
                      "there is no download '%.256s': `quince downloads` lists "
                      "them",
                      id);
    } else {
        struct qn_jw w = qn_jw_to(&body);
        qn_jw_obj(&w);
        qn_jw_kstr(&w, "id", found);
        qn_jw_kstr(&w, "action", action);
        qn_jw_obj_end(&w);
        err = qn_client_call(cli, "/api/v1/downloads/control", qn_buf_cstr(&body), CALL_TIMEOUT_S,
                             NULL, &reply, e);
    }
    if (!err && cli->json) {
        struct qn_jref told = qn_json_root(reply);
        qn_print_json(&told);
    }
    qn_buf_deinit(&body);
    qn_json_free(reply);
    qn_json_free(doc);
    return err;
}

static size_t lines_of(const char *s)
{
    size_t n = 0;
    for (; *s; s++)
        n += *s == '\n';
    return n;
}

/* Draws the jobs over the previous table, which had `drawn` lines. */
static size_t draw(struct qn_buf *out, size_t drawn, bool goes_on)
{
    size_t height = qn_screen_height(stdout);
    if (goes_on)
        qn_buf_str(out, "\n"
                        "Ctrl-C ends this view; the downloads continue\n");
    if (drawn)
        printf("\033[%zuA\r\033[J", drawn);
    size_t lines = lines_of(qn_buf_cstr(out));
    /* lines that have scrolled off the screen cannot be redrawn */
    for (; lines >= height && goes_on; lines--) {
        const char *end = strchr(out->data, '\n');
        qn_buf_drop(out, (size_t)(end - out->data) + 1);
    }
    fputs(qn_buf_cstr(out), stdout);
    fflush(stdout);
    return lines;
}

static int list(const struct qn_cli *cli, bool live)
{
    size_t drawn = 0, running;
    do {
        struct qn_json *doc = NULL;
        struct qn_jref root, jobs;
        struct qn_error e;
        struct qn_buf out;
        if (fetch_jobs(cli, "/api/v1/downloads", &doc, &root, &jobs, &e))
            return qn_cli_failed(cli, &e);
        qn_buf_init(&out, SIZE_MAX - 1);
        running = 0;
        if (cli->json) {
            qn_print_json(&jobs);
        } else if (qn_json_count(&jobs) == 0) {
            puts("No downloads");
        } else {
            running = write_jobs(&jobs, qn_screen_width(stdout), live, &out);
            drawn = draw(&out, drawn, live && running);
        }
        qn_buf_deinit(&out);
        qn_json_free(doc);
        if (live && running)
            usleep(REFRESH_US);
    } while (live && running);
    return QN_EXIT_OK;
}

static int control(struct qn_cli *cli, const struct qn_cli_args *a)
{
    static const struct {
        const char *action, *said;
    } actions[] = {
        {"pause", "Paused "},
        {"resume", "Goes on: "},
        {"cancel", "Cancelled "},
        {"remove", "Removed from the list: "},
    };
    int status = QN_EXIT_OK;
    for (size_t k = 0; k < sizeof actions / sizeof *actions; k++) {
        if (!qn_str_eq(a->words[0], actions[k].action))
            continue;
        if (a->n_words == 1)
            return qn_cli_misused(cli, "usage: quince downloads %s MODEL...", actions[k].action);
        for (int i = 1; i < a->n_words; i++) {
            struct qn_error e;
            if (qn_downloads_control(cli, a->words[i], actions[k].action, &e)) {
                status = qn_cli_failed(cli, &e);
            } else if (!cli->json) {
                fputs(actions[k].said, stdout);
                qn_print_line(a->words[i]);
            }
        }
        return status;
    }
    return qn_cli_misused(cli, "downloads needs one of: pause, resume, cancel, remove");
}

int qn_cmd_downloads(struct qn_cli *cli, const struct qn_cli_args *a)
{
    bool live = qn_screen_live(stdout) && !cli->json && !a->values[OPTION_ONCE];
    return a->n_words ? control(cli, a) : list(cli, live);
}
