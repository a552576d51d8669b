/* See repl.h. Line editing and history are libedit's; what is typed comes through keyboard.c. */
#include "cli/repl.h"

#include "base/path.h"
#include "base/str.h"
#include "cli/keyboard.h"
#include "cli/launch.h"
#include "cli/multiline.h"
#include "cli/print.h"

#include <errno.h>
#include <histedit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { HISTORY_LINES = 1000, INPUT_MAX = 4 * 1024 * 1024 };

static bool continuing; /* the prompt of a text's second and later lines */

static char *prompt(EditLine *el)
{
    (void)el;
    static char first[] = ">>> ", more[] = "... ";
    return continuing ? more : first;
}

struct repl {
    EditLine *el;
    History *history;
    char *history_file;
    struct qn_multiline input;
    struct qn_conversation *c;
};

static void print_help(void)
{
    puts("/help            this text\n"
         "/clear           forget the conversation so far\n"
         "/system [TEXT]   set the system message; without TEXT, remove it\n"
         "/think WORD      on, off: whether the model reasons first; show, hide: whether\n"
         "                 you see it\n"
         "/stats           tokens and speed of the last answer\n"
         "/exit            leave (also Ctrl-D)\n"
         "Ctrl-C stops an answer. A line that ends in \\ goes on in the next;\n"
         "\"\"\" begins and ends a text of many lines.");
}

static void print_stats(const struct qn_turn_stats *s)
{
    if (!s->asked) {
        puts("There is no answer yet.");
        return;
    }
    double generating = s->total_ms - s->first_ms;
    printf("prompt: %lld tokens (%lld from the cache), first text after %.0f ms\n",
           (long long)s->prompt_tokens, (long long)s->cached_tokens, s->first_ms);
    printf("answer: %lld tokens in %.1f s", (long long)s->output_tokens, s->total_ms / 1000);
    if (s->output_tokens > 1 && generating > 0)
        printf(", %.1f tokens/s", (double)(s->output_tokens - 1) * 1000 / generating);
    putchar('\n');
}

static void set_think(struct qn_conversation *c, const char *word)
{
    if (qn_str_eq(word, "on") || qn_str_eq(word, "off")) {
        c->think = qn_str_eq(word, "on") ? QN_THINK_ON : QN_THINK_OFF;
        puts(c->think == QN_THINK_ON ? "Models that can will reason first."
                                     : "Models will answer at once, if they can.");
    } else if (qn_str_eq(word, "show") || qn_str_eq(word, "hide")) {
        c->hide_thoughts = qn_str_eq(word, "hide");
        puts(c->hide_thoughts ? "Reasoning is not shown." : "Reasoning is shown.");
    } else {
        puts("/think needs one of: on, off, show, hide.");
    }
}

/* Obeys a line that begins with '/'; blanks at its end go. Returns false to leave. */
static bool command(struct repl *r, char *line)
{
    for (size_t n = strlen(line); n && line[n - 1] == ' ';)
        line[--n] = '\0';
    if (qn_str_eq(line, "/exit") || qn_str_eq(line, "/quit") || qn_str_eq(line, "/bye"))
        return false;
    if (qn_str_eq(line, "/help") || qn_str_eq(line, "/?")) {
        print_help();
    } else if (qn_str_eq(line, "/clear")) {
        qn_conversation_clear(r->c);
        puts("The conversation begins anew.");
    } else if (qn_str_eq(line, "/stats")) {
        print_stats(&r->c->stats);
    } else if (qn_str_eq(line, "/think") || qn_str_starts(line, "/think ")) {
        const char *word = line + strlen("/think");
        while (*word == ' ')
            word++;
        set_think(r->c, word);
    } else if (qn_str_eq(line, "/system") || qn_str_starts(line, "/system ")) {
        const char *text = line + strlen("/system");
        while (*text == ' ')
            text++;
        qn_conversation_set_system(r->c, text);
        puts(*text ? "The system message is set." : "There is no system message now.");
    } else {
        puts("There is no such command; /help lists them. For a text, begin with a space.");
    }
    return true;
}

enum input { INPUT_TEXT, INPUT_COMMAND, INPUT_NOTHING, INPUT_END };

/* Reads a text of one line or more. */
static enum input read_input(struct repl *r)
{
    struct qn_multiline *m = &r->input;
    qn_multiline_clear(m);
    continuing = false;
    for (;;) {
        int n = 0;
        const char *line = qn_keyboard_line(r->el, &n);
        if (!line && qn_keyboard_interrupted) {
            puts("\n(Ctrl-D or /exit leaves)");
            el_reset(r->el);
            return INPUT_NOTHING;
        }
        if (!line)
            return INPUT_END;
        bool complete = qn_multiline_add(m, line, (size_t)n);
        if (m->text.overflow) {
            puts("That text is too long.");
            return INPUT_NOTHING;
        }
        if (complete && m->text.len == 0)
            return INPUT_NOTHING;
        if (complete)
            return m->text.data[0] == '/' && !m->quoted ? INPUT_COMMAND : INPUT_TEXT;
        continuing = true;
    }
}

/* The history is a person's own: the file is never readable by others, not even for a moment. */
static void remember(struct repl *r, const char *text)
{
    HistEvent ev;
    history(r->history, &ev, H_ENTER, text);
    if (!r->history_file)
        return;
    mode_t before = umask(077);
    bool saved = history(r->history, &ev, H_SAVE, r->history_file) >= 0;
    umask(before);
    if (saved && chmod(r->history_file, 0600) == 0)
        return;
    fprintf(stderr, "quince: the history cannot be kept in %s: %s\n", r->history_file,
            strerror(errno));
    free(r->history_file);
    r->history_file = NULL;
}

static qn_err open_editor(struct repl *r, struct qn_error *e)
{
    r->el = el_init("quince", stdin, stdout, stderr);
    r->history = history_init();
    if (!r->el || !r->history)
        return qn_fail(e, QN_EIO, "the terminal cannot be used for line editing");
    HistEvent ev;
    history(r->history, &ev, H_SETSIZE, HISTORY_LINES);
    history(r->history, &ev, H_SETUNIQUE, 1);
    char *dir = qn_launch_data_dir();
    if (dir && qn_mkdirs(dir, 0700, NULL) == QN_OK) {
        r->history_file = qn_path_join(dir, "history");
        history(r->history, &ev, H_LOAD, r->history_file);
    }
    free(dir);
    el_set(r->el, EL_PROMPT, prompt);
    el_set(r->el, EL_EDITOR, "emacs");
    el_set(r->el, EL_HIST, history, r->history);
    el_set(r->el, EL_BIND, "^R", "em-inc-search-prev", NULL);
    return QN_OK;
}

static void close_editor(struct repl *r)
{
    if (r->history)
        history_end(r->history);
    if (r->el)
        el_end(r->el);
    free(r->history_file);
    qn_multiline_deinit(&r->input);
}

/* A refused request is most often a conversation that no longer fits the model's context. */
static void explain(struct repl *r, const struct qn_error *e)
{
    qn_cli_failed(r->c->cli, e);
    if (e->code == QN_EINVAL && r->c->messages.len)
        puts("(/clear begins the conversation anew)");
}

/* Asks, and reports what went wrong: the chat goes on. */
static void answer(struct repl *r)
{
    struct qn_error e;
    const char *text = qn_buf_cstr(&r->input.text);
    if (!qn_utf8_valid(text, r->input.text.len)) {
        puts("That text is not UTF-8; is the terminal set to another encoding?");
        return;
    }
    qn_keyboard_interrupted = 0;
    qn_err err = qn_conversation_ask(r->c, text, &qn_keyboard_interrupted, &e);
    if (err == QN_ECANCELLED)
        puts("(stopped)");
    else if (err)
        explain(r, &e);
    else if (r->c->answer.len == 0)
        puts("(an empty answer)");
    else if (qn_str_eq(r->c->finish, "length"))
        puts("(cut off: the answer reached its limit of tokens)");
}

qn_err qn_repl(struct qn_conversation *c, struct qn_error *e)
{
    struct repl r = {.c = c};
    qn_multiline_init(&r.input, INPUT_MAX);
    qn_err err = open_editor(&r, e);
    if (err) {
        close_editor(&r);
        return err;
    }
    qn_keyboard_open(r.el);
    fputs("Chatting with ", stdout);
    qn_print_safe(stdout, c->model);
    puts(". /help shows what there is; Ctrl-D leaves.");
    for (bool leaving = false; !leaving && !ferror(stdout);) {
        enum input in = read_input(&r);
        leaving = in == INPUT_END || (in == INPUT_COMMAND && !command(&r, r.input.text.data));
        if ((in == INPUT_TEXT || in == INPUT_COMMAND) && !leaving)
            remember(&r, r.input.text.data);
        if (in == INPUT_TEXT)
            answer(&r);
        if (in == INPUT_END)
            putchar('\n');
    }
    qn_keyboard_close();
    close_editor(&r);
    return QN_OK;
}
