/* See chat.h: the table of the chat's commands. */
#include "cli/chat.h"

#include "base/buf.h"
#include "base/near.h"
#include "base/str.h"
#include "cli/entry.h"
#include "cli/print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_help(struct qn_chat_session *chat, const char *text)
{
    (void)chat;
    (void)text;
    puts("/help            this text\n"
         "/clear           clear the conversation\n"
         "/system [TEXT]   set the system message; without TEXT, remove it\n"
         "/think WORD      on, off: reasoning before the reply; show, hide: whether it\n"
         "                 is shown\n"
         "/model [NAME]    continue with another model; without NAME, print the current one\n"
         "/load [NAME]     like /model, and load the model now\n"
         "/list            the installed models\n"
         "/ps              the models in memory\n"
         "/stats           tokens and speed of the last reply\n"
         "/exit            end the chat (also Ctrl-D)\n"
         "Ctrl-C stops a reply. A line that ends in \\ continues in the next;\n"
         "\"\"\" begins and ends a text of several lines.");
}

static void clear(struct qn_chat_session *chat, const char *text)
{
    (void)text;
    qn_conversation_clear(chat->c);
    puts("The conversation is cleared.");
}

static void print_stats(struct qn_chat_session *chat, const char *text)
{
    const struct qn_turn_stats *s = &chat->c->stats;
    (void)text;
    if (!s->asked) {
        puts("There is no reply yet.");
        return;
    }
    double generating = s->total_ms - s->first_ms;
    printf("prompt: %lld tokens (%lld from the cache), first text after %.0f ms\n",
           (long long)s->prompt_tokens, (long long)s->cached_tokens, s->first_ms);
    printf("reply: %lld tokens in %.1f s", (long long)s->output_tokens, s->total_ms / 1000);
    if (s->output_tokens > 1 && generating > 0)
        printf(", %.1f tokens/s", (double)(s->output_tokens - 1) * 1000 / generating);
    putchar('\n');
}

static void set_think(struct qn_chat_session *chat, const char *word)
{
    struct qn_conversation *c = chat->c;
    if (qn_str_eq(word, "on") || qn_str_eq(word, "off")) {
        c->think = qn_str_eq(word, "on") ? QN_THINK_ON : QN_THINK_OFF;
        puts(c->think == QN_THINK_ON ? "Models that support reasoning will reason first."
                                     : "Models that support it will reply without reasoning.");
    } else if (qn_str_eq(word, "show") || qn_str_eq(word, "hide")) {
        c->hide_thoughts = qn_str_eq(word, "hide");
        puts(c->hide_thoughts ? "Reasoning is not shown." : "Reasoning is shown.");
    } else {
        puts("/think needs one of: on, off, show, hide.");
    }
}

static void set_system(struct qn_chat_session *chat, const char *text)
{
    qn_conversation_set_system(chat->c, text);
    puts(*text ? "The system message is set." : "The system message is removed.");
}

/* If the server has the model, makes it the chat's model, under the server's name for it, and
 * returns true. */
static bool take_model(struct qn_chat_session *chat, const char *name)
{
    struct qn_json *doc = NULL;
    struct qn_error e;
    struct qn_entry m;
    qn_err err = qn_entry_fetch(chat->c->cli, name, &doc, &e);
    if (!err) {
        struct qn_jref root = qn_json_root(doc), here = qn_json_get(&root, "downloaded");
        qn_entry_read(&root, &m);
        if (!m.id[0] || (qn_json_type(&here) == QN_JSON_BOOL && !m.downloaded))
            err = qn_fail(&e, QN_ENOTFOUND,
                          "%.200s is not installed: `quince pull %.200s` downloads it", name, name);
    }
    if (err) {
        qn_cli_failed(chat->c->cli, &e);
    } else {
        char *chosen = qn_xstrdup(m.id);
        free(chat->model);
        chat->c->model = chat->model = chosen;
    }
    qn_json_free(doc);
    return err == QN_OK;
}

static void model(struct qn_chat_session *chat, const char *name)
{
    if (*name && !take_model(chat, name))
        return;
    fputs(*name ? "The conversation continues with " : "Chatting with ", stdout);
    qn_print_line(chat->c->model);
}

/* Runs the command line's command of the same name, on the chat's server. */
static void run_command(const struct qn_chat_session *chat,
                        int (*run)(struct qn_cli *cli, const struct qn_cli_args *a),
                        const char *word)
{
    struct qn_cli cli = *chat->c->cli;
    struct qn_cli_args args = {.words = {word}, .n_words = word != NULL};
    run(&cli, &args);
}

static void load(struct qn_chat_session *chat, const char *name)
{
    if (!*name || take_model(chat, name))
        run_command(chat, qn_cmd_load, chat->c->model);
}

static void list(struct qn_chat_session *chat, const char *filter)
{
    run_command(chat, qn_cmd_list, *filter ? filter : NULL);
}

static void ps(struct qn_chat_session *chat, const char *text)
{
    (void)text;
    run_command(chat, qn_cmd_ps, NULL);
}

/* run NULL: leaves the chat. The first name is the one that help shows; synonyms follow. */
static const struct {
    const char *name;
    bool takes_text;
    void (*run)(struct qn_chat_session *chat, const char *text);
} table[] = {
    {"/help", false, print_help},
    {"/?", false, print_help},
    {"/clear", false, clear},
    {"/system", true, set_system},
    {"/think", true, set_think},
    {"/model", true, model},
    {"/load", true, load},
    {"/list", true, list},
    {"/ls", true, list},
    {"/ps", false, ps},
    {"/stats", false, print_stats},
    {"/exit", false, NULL},
    {"/quit", false, NULL},
    {"/bye", false, NULL},
};
enum { COMMANDS = sizeof table / sizeof *table };

static void refuse(const char *word)
{
    struct qn_near near = qn_near_begin(word);
    for (size_t i = 0; i < COMMANDS; i++)
        qn_near_offer(&near, table[i].name, table[i].name);
    printf("There is no such command%s%s%s; /help lists them. For a text, begin with a space.\n",
           near.found ? " (did you mean " : "", near.found ? near.found : "",
           near.found ? "?)" : "");
}

bool qn_chat_obey(struct qn_chat_session *chat, char *line)
{
    size_t n = strlen(line);
    while (n && line[n - 1] == ' ')
        line[--n] = '\0';
    size_t name = strcspn(line, " ");
    const char *text = line + name + strspn(line + name, " ");
    for (size_t i = 0; i < COMMANDS; i++) {
        if (strlen(table[i].name) != name || strncmp(table[i].name, line, name) != 0 ||
            (*text && !table[i].takes_text))
            continue;
        if (table[i].run)
            table[i].run(chat, text);
        return table[i].run != NULL;
    }
    refuse(line);
    return true;
}
