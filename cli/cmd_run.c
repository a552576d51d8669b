/* run and chat: one reply to a prompt from the arguments or a pipe, or a conversation (repl.c). */
#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/choice.h"
#include "cli/cli.h"
#include "cli/conversation.h"
#include "cli/input.h"
#include "cli/repl.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    OPTION_SYSTEM,
    OPTION_MAX_TOKENS,
    OPTION_TEMPERATURE,
    OPTION_THINK,
    OPTION_NO_THINK,
    OPTION_HIDE_THINKING
};

static const char *wrong_option(const struct qn_cli_args *a)
{
    int64_t i;
    double d;
    const char *v = a->values[OPTION_MAX_TOKENS];
    if (v && (!qn_parse_i64(v, &i) || i < 1))
        return "--max-tokens needs a number from 1";
    v = a->values[OPTION_TEMPERATURE];
    if (v && (!qn_parse_f64(v, &d) || d < 0))
        return "--temperature needs a number from 0";
    if (a->values[OPTION_THINK] && a->values[OPTION_NO_THINK])
        return "--think and --no-think exclude each other";
    return NULL;
}

static void print_json(const struct qn_conversation *c)
{
    struct qn_buf b;
    qn_buf_init(&b, SIZE_MAX - 1);
    struct qn_jw w = qn_jw_to(&b);
    qn_conversation_write(c, &w);
    puts(qn_buf_cstr(&b));
    qn_buf_deinit(&b);
}

static qn_err answer_once(struct qn_conversation *c, const char *prompt, bool json,
                          struct qn_error *e)
{
    c->silent = json;
    qn_err err = qn_conversation_ask(c, prompt, NULL, e);
    if (!err && json)
        print_json(c);
    return err;
}

/* prompt NULL: it is piped in, or the user types prompts in a chat. model NULL: the default
 * model. */
static int converse(struct qn_cli *cli, const struct qn_cli_args *a, const char *model,
                    const char *prompt)
{
    const char *wrong = wrong_option(a);
    bool chat = !prompt && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    if (wrong)
        return qn_cli_misused(cli, "%s", wrong);
    if (cli->json && chat)
        return qn_cli_misused(cli, "--json needs a prompt: an argument, or text piped in");
    struct qn_error e = {0};
    struct qn_buf text;
    qn_buf_init(&text, QN_INPUT_TEXT_MAX);
    struct qn_conversation c;
    qn_conversation_init(&c, cli, model);
    qn_conversation_set_system(&c, a->values[OPTION_SYSTEM]);
    c.max_tokens = a->values[OPTION_MAX_TOKENS];
    c.temperature = a->values[OPTION_TEMPERATURE];
    c.think = a->values[OPTION_THINK]      ? QN_THINK_ON
              : a->values[OPTION_NO_THINK] ? QN_THINK_OFF
                                           : QN_THINK_AS_EVER;
    c.hide_thoughts = a->values[OPTION_HIDE_THINKING] != NULL;
    char *found = NULL;
    qn_err err = QN_OK;
    if (!chat)
        err = qn_input_text(prompt, "prompt", &text, &e);
    if (!err)
        err = qn_choice_ready(cli, model, NULL, &found, &e);
    bool declined = err == QN_ECANCELLED;
    c.model = found;
    if (!err)
        err = chat ? qn_repl(&c, &e) : answer_once(&c, qn_buf_cstr(&text), cli->json, &e);
    qn_conversation_deinit(&c);
    qn_buf_deinit(&text);
    free(found);
    if (declined || (err && ferror(stdout)))
        return QN_EXIT_FAILED; /* main reports the write error, unless it is a closed pipe */
    return err ? qn_cli_failed(cli, &e) : QN_EXIT_OK;
}

int qn_cmd_run(struct qn_cli *cli, const struct qn_cli_args *a)
{
    return converse(cli, a, a->words[0], a->n_words > 1 ? a->words[1] : NULL);
}

int qn_cmd_chat(struct qn_cli *cli, const struct qn_cli_args *a)
{
    return converse(cli, a, NULL, a->n_words ? a->words[0] : NULL);
}
