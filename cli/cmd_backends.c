/* backends: lists quince's own engines and those of other projects; installs and removes the
 * latter. */
#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/print.h"
#include "cli/progress.h"
#include "cli/screen.h"
#include "cli/table.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

enum {
    CALL_TIMEOUT_S = 30,
    REMOVE_TIMEOUT_S = 600,
    BODY_MAX = 64 * 1024,
    NAME_MAX_BYTES = 160,
    NOTES_MAX = 64
};

enum { OPTION_ALL, OPTION_FORCE };

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signo)
{
    (void)signo;
    interrupted = 1;
}

static const char *text(const struct qn_jref *object, const char *key)
{
    struct qn_jref v = qn_json_get(object, key);
    return qn_json_raw_str(&v);
}

/* ---- the list ---- */

static bool is_unsupported(const struct qn_jref *backend)
{
    return qn_str_eq(text(backend, "state"), "unsupported");
}

static void name_of(const struct qn_jref *recipe, const struct qn_jref *backend,
                    char out[static NAME_MAX_BYTES])
{
    snprintf(out, NAME_MAX_BYTES, "%.70s:%.70s", recipe->key, backend->key);
}

static void add_row(struct qn_table *t, const struct qn_jref *recipe, const struct qn_jref *backend)
{
    char name[NAME_MAX_BYTES];
    const char *state = text(backend, "state");
    name_of(recipe, backend, name);
    const char *cells[] = {name, qn_str_eq(state, "update_required") ? "update" : state,
                           text(backend, "source"), text(backend, "version")};
    qn_table_row(t, cells);
}

/* Called for each engine. */
typedef void (*engine_fn)(void *ctx, const struct qn_jref *recipe, const struct qn_jref *backend);

static void to_table(void *ctx, const struct qn_jref *recipe, const struct qn_jref *backend)
{
    add_row(ctx, recipe, backend);
}

/* Returns how many engines were left out because they cannot be used on this machine. */
static size_t each(const struct qn_jref *recipes, bool all, engine_fn fn, void *ctx)
{
    struct qn_jref recipe, backend;
    size_t left_out = 0;
    for (bool more = qn_json_first(recipes, &recipe); more; more = qn_json_next(&recipe)) {
        struct qn_jref backends = qn_json_get(&recipe, "backends");
        for (bool go = qn_json_first(&backends, &backend); go; go = qn_json_next(&backend)) {
            if (!all && is_unsupported(&backend))
                left_out++;
            else
                fn(ctx, &recipe, &backend);
        }
    }
    return left_out;
}

/* A remark about an engine that its state does not express; "" if there is none. */
static const char *note_of(const struct qn_jref *backend)
{
    return qn_str_eq(text(backend, "state"), "installable") ? "" : text(backend, "message");
}

/* Engines that share a remark. */
struct note {
    const char *says;
    struct qn_buf names;
};

struct notes {
    struct note v[NOTES_MAX];
    size_t n;
};

static void to_notes(void *ctx, const struct qn_jref *recipe, const struct qn_jref *backend)
{
    struct notes *notes = ctx;
    char name[NAME_MAX_BYTES];
    const char *says = note_of(backend);
    size_t i = 0;
    while (i < notes->n && !qn_str_eq(notes->v[i].says, says))
        i++;
    if (!says[0] || i == NOTES_MAX)
        return;
    if (i == notes->n) {
        notes->v[i].says = says;
        qn_buf_init(&notes->v[notes->n++].names, BODY_MAX);
    }
    name_of(recipe, backend, name);
    qn_buf_fmt(&notes->v[i].names, "%s%s", notes->v[i].names.len ? ", " : "", name);
}

/* Prints why some engines are not usable or not up to date. */
static void print_notes(const struct qn_jref *recipes, bool all)
{
    struct notes notes = {.n = 0};
    each(recipes, all, to_notes, &notes);
    for (size_t i = 0; i < notes.n; i++) {
        putchar('\n');
        qn_print_safe(stdout, qn_buf_cstr(&notes.v[i].names));
        fputs(":\n", stdout);
        fputs("  ", stdout);
        qn_print_wrapped(notes.v[i].says, 2, QN_SCREEN_WIDTH);
        qn_buf_deinit(&notes.v[i].names);
    }
}

static int list(const struct qn_cli *cli, bool all)
{
    static const char *const titles[] = {"Backend", "State", "From", "Version"};
    struct qn_json *doc = NULL;
    struct qn_error e;
    if (qn_client_call(cli, "/api/v1/system-info", NULL, CALL_TIMEOUT_S, NULL, &doc, &e))
        return qn_cli_failed(cli, &e);
    struct qn_jref root = qn_json_root(doc), recipes = qn_json_get(&root, "recipes");
    if (cli->json) {
        qn_print_json(&recipes);
    } else {
        struct qn_table *t = qn_table_new(sizeof titles / sizeof *titles, titles);
        size_t left_out = each(&recipes, all, to_table, t);
        qn_table_print(t);
        qn_table_free(t);
        print_notes(&recipes, all);
        puts("\n"
             "Install or update an engine with: quince backends install RECIPE:BACKEND");
        if (left_out)
            printf("%zu more cannot be used on this machine; reasons: quince backends --all\n",
                   left_out);
    }
    qn_json_free(doc);
    return QN_EXIT_OK;
}

/* ---- changes ---- */

/* Parses "RECIPE:BACKEND"; false: word does not have this form. */
static bool write_request(const char *word, bool force, bool stream, struct qn_buf *out)
{
    char recipe[NAME_MAX_BYTES];
    const char *colon = strchr(word, ':');
    if (!colon || colon == word || !colon[1] || (size_t)(colon - word) >= sizeof recipe)
        return false;
    snprintf(recipe, sizeof recipe, "%.*s", (int)(colon - word), word);
    struct qn_jw w = qn_jw_to(out);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "recipe", recipe);
    qn_jw_kstr(&w, "backend", colon + 1);
    if (stream)
        qn_jw_kbool(&w, "stream", true);
    if (force)
        qn_jw_kbool(&w, "force", true);
    qn_jw_obj_end(&w);
    return true;
}

struct installing {
    struct qn_progress_line progress;
    char version[NAME_MAX_BYTES];
    bool complete, failed, unread;
    struct qn_error error; /* the server's message if the installation failed */
};

static bool on_event(void *ctx, const char *event, const char *data, size_t n)
{
    struct installing *in = ctx;
    struct qn_json *doc;
    if (qn_json_parse(data, n, &doc, NULL)) {
        in->failed = true;
        qn_fail(&in->error, QN_EFORMAT, "the server's reply is invalid");
        return false;
    }
    struct qn_jref root = qn_json_root(doc);
    if (qn_str_eq(event, "error")) {
        in->failed = true;
        qn_fail(&in->error, QN_ECHILD, "%s", text(&root, "message"));
    } else if (qn_str_eq(event, "complete")) {
        in->complete = true;
        snprintf(in->version, sizeof in->version, "%s", text(&root, "version"));
    }
    in->unread = !qn_progress_event(&in->progress, event, &root);
    qn_json_free(doc);
    return !in->failed && !in->unread;
}

static void on_tick(void *ctx)
{
    qn_progress_draw(&((struct installing *)ctx)->progress);
}

static void die_interrupted(const char *word)
{
    fprintf(stderr,
            "\n"
            "The server continues to install %.140s: `quince backends` shows it\n",
            word);
    fflush(stdout);
    signal(SIGINT, SIG_DFL);
    raise(SIGINT);
}

static int install(const struct qn_cli *cli, const char *word, const char *body)
{
    struct sigaction act = {.sa_handler = on_interrupt}, old;
    struct installing in = {0};
    struct qn_error e = {0};
    const struct qn_client_wait wait = {.stop = &interrupted, .tick = on_tick, .ctx = &in};
    interrupted = 0;
    qn_progress_begin(&in.progress, cli, false);
    sigemptyset(&act.sa_mask);
    sigaction(SIGINT, &act, &old);
    qn_err err = qn_client_stream(cli, "/api/v1/install", body, on_event, &in, &wait, &e);
    qn_progress_end(&in.progress);
    if (interrupted)
        die_interrupted(word);
    sigaction(SIGINT, &old, NULL);
    if (in.unread)
        return QN_EXIT_FAILED;
    if (in.failed)
        return qn_cli_failed(cli, &in.error);
    if (!err && !in.complete)
        err = qn_fail(&e, QN_EIO, "the server closed the connection; try again");
    if (err)
        return qn_cli_failed(cli, &e);
    if (!cli->json) {
        fputs("Installed ", stdout);
        qn_print_safe(stdout, word);
        putchar(' ');
        qn_print_line(in.version);
    }
    return QN_EXIT_OK;
}

static int uninstall(const struct qn_cli *cli, const char *word, const char *body)
{
    struct qn_json *doc = NULL;
    struct qn_error e;
    if (qn_client_call(cli, "/api/v1/uninstall", body, REMOVE_TIMEOUT_S, NULL, &doc, &e))
        return qn_cli_failed(cli, &e);
    struct qn_jref root = qn_json_root(doc);
    if (cli->json) {
        qn_print_json(&root);
    } else {
        fputs("Removed ", stdout);
        qn_print_line(word);
    }
    qn_json_free(doc);
    return QN_EXIT_OK;
}

int qn_cmd_backends(struct qn_cli *cli, const struct qn_cli_args *a)
{
    bool adds = a->n_words && qn_str_eq(a->words[0], "install");
    bool removes = a->n_words && qn_str_eq(a->words[0], "uninstall");
    struct qn_buf body;
    if (!a->n_words)
        return list(cli, a->values[OPTION_ALL] != NULL);
    if ((!adds && !removes) || a->n_words != 2)
        return qn_cli_misused(cli, "usage: quince backends install|uninstall RECIPE:BACKEND");
    qn_buf_init(&body, BODY_MAX);
    int status;
    if (!write_request(a->words[1], a->values[OPTION_FORCE] != NULL, adds, &body))
        status = qn_cli_misused(cli, "'%.140s' is not RECIPE:BACKEND, such as llamacpp:vulkan",
                                a->words[1]);
    else
        status = adds ? install(cli, a->words[1], qn_buf_cstr(&body))
                      : uninstall(cli, a->words[1], qn_buf_cstr(&body));
    qn_buf_deinit(&body);
    return status;
}
