/* See pull.h. Size and result are printed on stdout, or on stderr if the model is downloaded for
 * another command; all other messages go to stderr. */
#include "cli/pull.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/alias.h"
#include "cli/ask.h"
#include "cli/client.h"
#include "cli/downloads.h"
#include "cli/entry.h"
#include "cli/launch.h"
#include "cli/print.h"
#include "cli/progress.h"
#include "cli/table.h"
#include "cli/variants.h"
#include "cli/words.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    VARIANTS_TIMEOUT_S = 120,
    TEXT_MAX = 64 * 1024,
    ANSWER_MAX = 256,
    NAME_ROOM = 512,
    ID_MAX = 640
};

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signo)
{
    (void)signo;
    interrupted = 1;
}

struct pull {
    struct qn_cli *cli;
    const struct qn_wish *wish;
    FILE *out;                /* for size and result */
    struct qn_json *known;    /* the server's entry, if the word is a model that the server knows */
    struct qn_json *variants; /* otherwise the variants of the repository */
    char name[NAME_ROOM];     /* cut if too long; the server refuses names of that length */
    struct qn_buf reference;  /* the word as a reference to a hub */
    struct qn_buf checkpoint; /* with its variant; empty for a model that the server knows */
    const char *recipe;
    struct qn_jref variants_root, labels; /* the root and the labels of `variants` */
    double size_bytes;                    /* 0: unknown */
    size_t files;
    struct qn_progress_line progress;
    char id[ID_MAX]; /* id of the download job */
    bool complete, unread, failed;
    struct qn_error error; /* the server's message if the download failed */
};

double qn_pull_memory(const struct qn_cli *cli)
{
    return cli->at.local ? (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) : 0;
}

/* Whether messages for users are printed: neither with --quiet nor with --json. */
static bool speaks(const struct pull *p)
{
    return !p->wish->quiet && !p->cli->json;
}

static void set_name(struct pull *p, const char *name)
{
    snprintf(p->name, sizeof p->name, "%s", name);
}

/* Sets a name that the user chose, in the user's namespace. */
static void set_own_name(struct pull *p, const char *name)
{
    snprintf(p->name, sizeof p->name, "%s%s", qn_str_starts(name, "user.") ? "" : "user.", name);
}

/* Asks the user for a variant until the answer is valid. *name is borrowed from the view or from
 * `typed`. */
static qn_err ask_variant(const struct pull *p, const struct qn_variants_view *view,
                          char typed[static ANSWER_MAX], const char **name, struct qn_error *e)
{
    char question[64];
    fputs("What ", stderr);
    qn_print_safe(stderr, p->reference.data);
    fputs(" has:\n\n", stderr);
    qn_variants_print(view, false);
    fputc('\n', stderr);
    snprintf(question, sizeof question, "Which one? Number or name, q for none [%zu]",
             view->preferred + 1);
    for (;;) {
        size_t index;
        if (!qn_ask_line(question, typed, ANSWER_MAX))
            return qn_fail(e, QN_ECANCELLED, "nothing was chosen");
        switch (qn_variants_answer(view, typed, &index)) {
        case QN_CHOSEN_ONE:
            *name = view->v[index].name;
            return QN_OK;
        case QN_CHOSEN_NAME:
            *name = typed;
            return QN_OK;
        case QN_CHOSEN_ALL:
            qn_variants_print(view, true);
            break;
        case QN_CHOSEN_NONE:
            return qn_fail(e, QN_ECANCELLED, "nothing was chosen");
        case QN_CHOSEN_NONSENSE:
            fprintf(stderr, "The numbers are 1 to %zu\n", view->n);
        }
    }
}

/* Makes the checkpoint from the word and its variant, and sets name and size. */
static void take_variant(struct pull *p, const struct qn_variants_view *view, const char *variant,
                         bool in_word)
{
    struct qn_jref suggested = qn_json_get(&p->variants_root, "suggested_name");
    const struct qn_offer *o = qn_variants_find(view, variant);
    char own[QN_WISH_NAME_MAX];
    if (in_word || !variant[0] || !qn_wish_takes_variant(p->reference.data))
        qn_buf_str(&p->checkpoint, p->reference.data);
    else
        qn_wish_with_variant(p->reference.data, variant, &p->checkpoint);
    qn_wish_name(qn_json_raw_str(&suggested), variant, own);
    if (p->wish->name)
        set_own_name(p, p->wish->name);
    else
        set_name(p, own);
    p->size_bytes = o ? o->size_bytes : 0;
    p->files = o ? o->files : 0;
}

static qn_err choose(struct pull *p, const struct qn_variants_view *view, struct qn_error *e)
{
    char typed[ANSWER_MAX] = "";
    size_t n = 0;
    const char *inside = qn_wish_variant(p->reference.data, &n), *name = "";
    bool asks = view->n > 1 && !p->wish->yes && speaks(p) && qn_ask_possible(p->cli);
    qn_err err = QN_OK;
    if (inside)
        snprintf(typed, sizeof typed, "%.*s", (int)(n < sizeof typed ? n : 0), inside);
    if (inside || p->wish->variant)
        name = inside ? typed : p->wish->variant;
    else if (asks && qn_wish_takes_variant(p->reference.data))
        err = ask_variant(p, view, typed, &name, e);
    else if (view->n)
        name = view->v[view->preferred].name;
    if (!err)
        take_variant(p, view, name, inside != NULL);
    return err;
}

/* A name without '/' that Ollama's library does not have is probably misspelt. */
static qn_err explain(const struct pull *p, qn_err err, struct qn_error *e)
{
    struct qn_error why = *e;
    if (err != QN_ENOTFOUND || strchr(p->wish->word, '/'))
        return err;
    return qn_fail(
        e, err, "'%.200s' is not in the list (quince list --all), and not in Ollama's library: %s",
        p->wish->word, why.message);
}

/* An address of a file: its kind and size are unknown until the download. */
static void take_address(struct pull *p)
{
    char path[TEXT_MAX], name[QN_WISH_NAME_MAX];
    snprintf(path, sizeof path, "%.*s", (int)strcspn(p->wish->word, "?#"), p->wish->word);
    const char *last = strrchr(path, '/');
    qn_wish_name("", last ? last + 1 : path, name);
    qn_buf_str(&p->checkpoint, p->wish->word);
    set_own_name(p, p->wish->name ? p->wish->name : name);
}

/* Asks the hub about a word that is not a model of the server. */
static qn_err look_up(struct pull *p, struct qn_error *e)
{
    struct qn_buf path;
    struct qn_variants_view view;
    qn_wish_reference(p->wish->word, &p->reference);
    qn_buf_init(&path, TEXT_MAX);
    qn_buf_str(&path, "/api/v1/pull/variants?limit=all&checkpoint=");
    qn_client_escape(&path, qn_buf_cstr(&p->reference), false);
    if (p->wish->source) {
        qn_buf_str(&path, "&source=");
        qn_client_escape(&path, p->wish->source, false);
    }
    qn_err err = path.overflow ? qn_fail(e, QN_EINVAL, "the model's name is too long")
                               : qn_client_call(p->cli, path.data, NULL, VARIANTS_TIMEOUT_S, NULL,
                                                &p->variants, e);
    qn_buf_deinit(&path);
    if (err)
        return explain(p, err, e);
    p->variants_root = qn_json_root(p->variants);
    p->labels = qn_json_get(&p->variants_root, "suggested_labels");
    struct qn_jref recipe = qn_json_get(&p->variants_root, "recipe");
    if (qn_json_raw_str(&recipe)[0])
        p->recipe = qn_json_raw_str(&recipe);
    qn_variants_read(&view, &p->variants_root, qn_pull_memory(p->cli));
    err = choose(p, &view, e);
    qn_variants_deinit(&view);
    return err;
}

/* Requests the server's entry for p->name into p->known; it is not an error if there is none. */
static qn_err find_known(struct pull *p, const char *name, struct qn_error *e)
{
    qn_err err = qn_entry_fetch(p->cli, name, &p->known, e);
    return err == QN_ENOTFOUND ? QN_OK : err;
}

/* Determines name, checkpoint and size of the model. */
static qn_err plan(struct pull *p, struct qn_error *e)
{
    const struct qn_wish *w = p->wish;
    qn_err err = QN_OK;
    if (w->n_checkpoints) {
        set_own_name(p, w->name ? w->name : w->word);
        return find_known(p, p->name, e);
    }
    err = find_known(p, w->word, e);
    if (!err && !p->known) {
        if (qn_wish_is_address(w->word))
            take_address(p);
        else
            err = look_up(p, e);
        if (!err)
            err = find_known(p, p->name, e);
    }
    if (!err && p->known) {
        struct qn_jref root = qn_json_root(p->known);
        struct qn_entry m;
        qn_entry_read(&root, &m);
        set_name(p, m.id);
        if (m.size_bytes > 0)
            p->size_bytes = m.size_bytes;
        struct qn_jref why = qn_json_get(&root, "unsupported");
        if (qn_json_raw_str(&why)[0])
            err = qn_fail(e, QN_EUNSUPPORTED, "%.200s cannot be run here: it is %s", m.id,
                          qn_json_raw_str(&why));
    }
    return err;
}

/* Whether the model with this name came from another checkpoint. If two spellings of one checkpoint
 * differ here, the server finds that no file is missing. */
static bool is_another(const struct pull *p, const char *checkpoint)
{
    static const char *const hosts[] = {"hf.co/", "huggingface.co/"};
    const char *wanted = p->checkpoint.len ? p->checkpoint.data : "";
    for (int i = 0; i < p->wish->n_checkpoints; i++)
        if (qn_str_eq(p->wish->checkpoints[i].type, "main"))
            wanted = p->wish->checkpoints[i].checkpoint;
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++)
        if (qn_str_starts(wanted, hosts[i]))
            wanted += strlen(hosts[i]);
    return *wanted && *checkpoint && !qn_str_ieq(wanted, checkpoint);
}

static bool is_here(const struct pull *p)
{
    struct qn_entry m = {0};
    if (p->known) {
        struct qn_jref root = qn_json_root(p->known);
        qn_entry_read(&root, &m);
    }
    return m.downloaded && !m.update_available && !is_another(p, m.checkpoint);
}

/* Prints what will be downloaded, and its size. */
static void print_plan(const struct pull *p)
{
    char bytes[16];
    if (!speaks(p))
        return;
    fputs("Pulling ", p->out);
    qn_print_safe(p->out, p->name);
    if (p->size_bytes > 0) {
        qn_human_bytes(p->size_bytes, bytes);
        fprintf(p->out, ": %s", bytes);
        if (p->files > 1)
            fprintf(p->out, " in %zu files", p->files);
    }
    fputc('\n', p->out);
    if (p->checkpoint.len) {
        fputs("  from ", p->out);
        qn_print_safe(p->out, p->checkpoint.data);
        fputc('\n', p->out);
    }
    fflush(p->out);
}

/* Asks before downloading a model that is too large for the machine's memory. */
static qn_err confirm_size(const struct pull *p, struct qn_error *e)
{
    double memory = qn_pull_memory(p->cli);
    enum qn_variant_fit fit = qn_fit_judge(p->size_bytes, memory);
    char needs[16], has[16];
    if ((fit != QN_FIT_NOT && fit != QN_FIT_TIGHT) || !speaks(p))
        return QN_OK;
    qn_human_bytes(qn_fit_needs(p->size_bytes), needs);
    qn_human_bytes(memory, has);
    fprintf(stderr, "It needs about %s of memory; this machine has %s%s\n", needs, has,
            fit == QN_FIT_NOT ? ": it will not run here" : " in all: it will barely fit");
    if (fit == QN_FIT_TIGHT || p->wish->yes || !qn_ask_possible(p->cli))
        return QN_OK;
    return qn_ask_yes("Download it anyway?") ? QN_OK
                                             : qn_fail(e, QN_ECANCELLED, "nothing was downloaded");
}

static bool on_event(void *ctx, const char *event, const char *data, size_t n)
{
    struct pull *p = ctx;
    struct qn_json *doc;
    if (qn_json_parse(data, n, &doc, NULL)) {
        p->failed = true;
        qn_fail(&p->error, QN_EFORMAT, "the server's reply is invalid");
        return false;
    }
    struct qn_jref root = qn_json_root(doc), id = qn_json_get(&root, "id");
    struct qn_jref error = qn_json_get(&root, "error"), message = qn_json_get(&error, "message");
    struct qn_jref name = qn_json_get(&root, "model_name");
    if (qn_json_raw_str(&id)[0])
        snprintf(p->id, sizeof p->id, "%s", qn_json_raw_str(&id));
    if (qn_str_eq(event, "error")) {
        const char *why = qn_json_raw_str(&message);
        p->failed = true;
        qn_fail(&p->error, QN_ECHILD, "%s", why[0] ? why : qn_json_raw_str(&error));
    } else if (qn_str_eq(event, "complete")) {
        p->complete = true;
        if (qn_json_raw_str(&name)[0])
            set_name(p, qn_json_raw_str(&name));
    }
    p->unread = !qn_progress_event(&p->progress, event, &root);
    qn_json_free(doc);
    return !p->failed && !p->unread;
}

static void on_tick(void *ctx)
{
    qn_progress_draw(&((struct pull *)ctx)->progress);
}

/* Called after Ctrl-C during the download, which the server continues by itself: asks whether that
 * is wanted. A second Ctrl-C cancels the download. */
static void settle(struct pull *p)
{
    char answer[8] = "";
    struct qn_error e;
    const char *action = NULL;
    qn_progress_end(&p->progress);
    if (!p->id[0])
        snprintf(p->id, sizeof p->id, "model:%s", p->name);
    if (speaks(p) && qn_ask_possible(p->cli)) {
        fputs("\n"
              "The server continues the download.\n",
              stderr);
        bool answered =
            qn_ask_line("p pauses it, c cancels it, Enter continues:", answer, sizeof answer);
        action = qn_str_ieq(answer, "c")                ? "cancel"
                 : qn_str_ieq(answer, "p") || !answered ? "pause"
                                                        : NULL;
    }
    if (action && qn_downloads_control(p->cli, p->id, action, &e)) {
        qn_cli_failed(p->cli, &e);
    } else if (qn_str_eq(action, "cancel")) {
        fputs("Cancelled; the downloaded data is deleted\n", stderr);
    } else {
        fputs(action ? "Paused. " : "The download continues in the server: ", stderr);
        fputs(action ? "Resume it with: quince pull "
                     : "`quince downloads` shows it; pause it with: quince downloads pause ",
              stderr);
        qn_print_safe(stderr, action ? p->wish->word : p->name);
        fputc('\n', stderr);
    }
}

static void die_interrupted(void)
{
    fflush(stdout);
    signal(SIGINT, SIG_DFL);
    raise(SIGINT);
}

static qn_err fetch(struct pull *p, struct qn_error *e)
{
    struct sigaction act = {.sa_handler = on_interrupt}, old;
    struct qn_buf body;
    const struct qn_client_wait wait = {.stop = &interrupted, .tick = on_tick, .ctx = p};
    const struct qn_wish_found found = {
        .name = p->name,
        .checkpoint = p->checkpoint.len ? p->checkpoint.data : NULL,
        .recipe = p->recipe,
        .labels = &p->labels,
    };
    qn_buf_init(&body, TEXT_MAX);
    qn_wish_write(p->wish, &found, &body);
    qn_progress_begin(&p->progress, p->cli, p->wish->quiet);
    sigemptyset(&act.sa_mask);
    sigaction(SIGINT, &act, &old);
    qn_err err = body.overflow ? qn_fail(e, QN_EINVAL, "the options are too long")
                               : qn_client_stream(p->cli, "/api/v1/pull", qn_buf_cstr(&body),
                                                  on_event, p, &wait, e);
    qn_progress_end(&p->progress);
    qn_buf_deinit(&body);
    if (interrupted)
        settle(p);
    sigaction(SIGINT, &old, NULL);
    if (interrupted)
        die_interrupted();
    if (p->failed) {
        *e = p->error;
        return p->error.code;
    }
    if (!err && !p->complete)
        return qn_fail(e, QN_EIO,
                       "the server closed the connection; resume the download when it runs: quince "
                       "pull %.200s",
                       p->wish->word);
    return err;
}

static void print_done(const struct pull *p, bool was_here)
{
    const struct qn_transfer *t = &p->progress.transfer;
    double seconds = (double)(qn_now_ms() - p->progress.begun_ms) / 1000;
    double fetched = t->done - t->earlier;
    if (p->wish->quiet && !p->cli->json) {
        qn_print_line(p->name);
        return;
    }
    if (p->cli->json)
        return;
    fputs(was_here ? "" : "Pulled ", p->out);
    qn_print_safe(p->out, p->name);
    if (was_here)
        fputs(" is installed (already downloaded)", p->out);
    if (!was_here && fetched > 0) {
        char bytes[16], rate[16], took[24];
        qn_human_bytes(fetched, bytes);
        qn_human_bytes(fetched / (seconds > 0.001 ? seconds : 0.001), rate);
        qn_words_duration(seconds, took);
        fprintf(p->out, ": %s in %s (%s/s)", bytes, took, rate);
    }
    fputc('\n', p->out);
    if (p->out == stderr)
        return; /* a command that uses the model continues by itself */
    fputs("Use it: quince run ", stdout);
    qn_print_line(p->wish->alias ? p->wish->alias : p->name);
}

/* Prints the final event for readers of JSON, if no request was sent or its stream was not read to
 * the end. */
static void print_complete(const struct pull *p, bool was_here)
{
    struct qn_buf b;
    qn_buf_init(&b, TEXT_MAX);
    struct qn_jw w = qn_jw_to(&b);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "event", "complete");
    qn_jw_kstr(&w, "model_name", p->name);
    qn_jw_kbool(&w, "already_downloaded", was_here);
    qn_jw_obj_end(&w);
    puts(qn_buf_cstr(&b));
    qn_buf_deinit(&b);
}

int qn_pull(struct qn_cli *cli, const struct qn_wish *wish, char **name)
{
    struct pull p = {.cli = cli, .wish = wish, .out = name ? stderr : stdout};
    struct qn_error e = {0};
    bool was_here = false;
    interrupted = 0;
    qn_buf_init(&p.reference, TEXT_MAX);
    qn_buf_init(&p.checkpoint, TEXT_MAX);
    qn_err err = qn_launch_server(cli, &e);
    if (!err)
        err = plan(&p, &e);
    if (!err && !(was_here = is_here(&p))) {
        print_plan(&p);
        err = confirm_size(&p, &e);
        if (!err)
            err = fetch(&p, &e);
    }
    if (!err && wish->alias)
        err = qn_alias_add(cli, wish->alias, p.name, &e);
    if (!err && cli->json && (was_here || wish->quiet))
        print_complete(&p, was_here);
    if (!err)
        print_done(&p, was_here);
    if (!err && name)
        *name = qn_xstrdup(p.name);
    qn_buf_deinit(&p.reference);
    qn_buf_deinit(&p.checkpoint);
    qn_json_free(p.variants);
    qn_json_free(p.known);
    if (p.unread)
        return QN_EXIT_FAILED;
    return err ? qn_cli_failed(cli, &e) : QN_EXIT_OK;
}
