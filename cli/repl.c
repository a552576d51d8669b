/* See repl.h. libedit provides line editing and history; its input comes from keyboard.c. */
#include "cli/repl.h"

#include "base/path.h"
#include "base/str.h"
#include "cli/chat.h"
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

static bool continuing; /* the prompt is for the second or a later line of a text */

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
    struct qn_chat_session chat;
};

enum input { INPUT_TEXT, INPUT_COMMAND, INPUT_NOTHING, INPUT_END };

/* Reads a text of one or several lines. */
static enum input read_input(struct repl *r)
{
    struct qn_multiline *m = &r->input;
    qn_multiline_clear(m);
    continuing = false;
    for (;;) {
        int n = 0;
        const char *line = qn_keyboard_line(r->el, &n);
        if (!line && qn_keyboard_interrupted) {
            puts("\n"
                 "(Ctrl-D or /exit ends the chat)");
            el_reset(r->el);
            return INPUT_NOTHING;
        }
        if (!line)
            return INPUT_END;
        bool complete = qn_multiline_add(m, line, (size_t)n);
        if (m->text.overflow) {
            puts("The text is too long.");
            return INPUT_NOTHING;
        }
        if (complete && m->text.len == 0)
            return INPUT_NOTHING;
        if (complete)
            return m->text.data[0] == '/' && !m->quoted ? INPUT_COMMAND : INPUT_TEXT;
        continuing = true;
    }
}

/* Adds the text to the history. Other users must not be able to read the history's file at any
 * time. */
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
    fprintf(stderr, "quince: the history cannot be written to %s: %s\n", r->history_file,
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

/* Adds advice to an error that earlier messages may have caused, for example if another model
 * accepts fewer kinds of input. */
static void explain(struct repl *r, const struct qn_error *e)
{
    qn_cli_failed(r->chat.c->cli, e);
    if ((e->code == QN_EINVAL || e->code == QN_ECONTEXT) && r->chat.c->messages.len)
        puts("(/clear clears the conversation)");
}

/* Sends a question and reports an error, after which the chat continues. */
static void answer(struct repl *r)
{
    struct qn_error e;
    const char *text = qn_buf_cstr(&r->input.text);
    if (!qn_utf8_valid(text, r->input.text.len)) {
        puts("The text is not UTF-8; does the terminal use another encoding?");
        return;
    }
    qn_keyboard_interrupted = 0;
    qn_err err = qn_conversation_ask(r->chat.c, text, &qn_keyboard_interrupted, &e);
    if (err == QN_ECANCELLED)
        puts("(stopped)");
    else if (err)
        explain(r, &e);
    else if (r->chat.c->answer.len == 0)
        puts("(an empty reply)");
    else if (qn_str_eq(r->chat.c->finish, "length"))
        puts("(cut off: the reply reached its token limit)");
}

qn_err qn_repl(struct qn_conversation *c, struct qn_error *e)
{
    struct repl r = {.chat.c = c};
    const char *model = c->model;
    qn_multiline_init(&r.input, INPUT_MAX);
    qn_err err = open_editor(&r, e);
    if (err) {
        close_editor(&r);
        return err;
    }
    qn_keyboard_open(r.el);
    fputs("Chatting with ", stdout);
    qn_print_safe(stdout, c->model);
    puts(". /help lists commands; Ctrl-D ends the chat.");
    for (bool leaving = false; !leaving && !ferror(stdout);) {
        enum input in = read_input(&r);
        leaving =
            in == INPUT_END || (in == INPUT_COMMAND && !qn_chat_obey(&r.chat, r.input.text.data));
        if ((in == INPUT_TEXT || in == INPUT_COMMAND) && !leaving)
            remember(&r, r.input.text.data);
        if (in == INPUT_TEXT)
            answer(&r);
        if (in == INPUT_END)
            putchar('\n');
    }
    qn_keyboard_close();
    close_editor(&r);
    c->model = model;
    free(r.chat.model);
    return QN_OK;
}
