/* run and chat: one reply to a prompt from the arguments or a pipe, or a conversation (repl.c). */
#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/conversation.h"
#include "cli/launch.h"
#include "cli/offer.h"
#include "cli/repl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CALL_TIMEOUT_S = 30, PROMPT_MAX = 16 * 1024 * 1024 };

enum {
    OPTION_SYSTEM,
    OPTION_MAX_TOKENS,
    OPTION_TEMPERATURE,
    OPTION_THINK,
    OPTION_NO_THINK,
    OPTION_HIDE_THINKING
};

/* Appends the text piped in, without line breaks at its end. If there is a prompt already, an empty
 * line comes first. */
static qn_err read_stdin(struct qn_buf *out, struct qn_error *e)
{
    char chunk[16384];
    size_t n, prompt = out->len;
    while ((n = fread(chunk, 1, sizeof chunk, stdin)) > 0) {
        if (memchr(chunk, '\0', n))
            return qn_fail(e, QN_EINVAL, "the input piped in is not text: it has a NUL byte");
        if (prompt && out->len == prompt)
            qn_buf_str(out, "\n\n");
        if (qn_buf_add(out, chunk, n))
            return qn_fail(e, QN_ELIMIT, "the text piped in is larger than %d bytes", PROMPT_MAX);
    }
    if (ferror(stdin))
        return qn_fail_errno(e, "reading the text piped in");
    while (out->len > prompt && out->data[out->len - 1] == '\n')
        out->data[--out->len] = '\0';
    return QN_OK;
}

/* True if stdin is a pipe, a socket or a file; false if it is /dev/null or a terminal. */
static bool text_is_piped_in(void)
{
    struct stat st;
    return fstat(STDIN_FILENO, &st) == 0 &&
           (S_ISFIFO(st.st_mode) || S_ISREG(st.st_mode) || S_ISSOCK(st.st_mode));
}

/* Returns the model used last, else the suggested one, else the first. The caller frees. */
static qn_err default_model(const struct qn_cli *cli, char **out, struct qn_error *e)
{
    struct qn_json *doc = NULL;
    qn_err err = qn_client_call(cli, "/api/v1/models", NULL, CALL_TIMEOUT_S, NULL, &doc, e);
    if (err)
        return err;
    struct qn_jref root = qn_json_root(doc);
    struct qn_jref data = qn_json_get(&root, "data"), it;
    double best = -1;
    *out = NULL;
    for (bool more = qn_json_first(&data, &it); more; more = qn_json_next(&it)) {
        struct qn_jref id = qn_json_get(&it, "id"), used = qn_json_get(&it, "last_use");
        struct qn_jref suggested = qn_json_get(&it, "suggested");
        double rank = qn_json_raw_f64(&used) * 2 + qn_json_raw_bool(&suggested);
        if (rank > best) {
            best = rank;
            free(*out);
            *out = qn_xstrdup(qn_json_raw_str(&id));
        }
    }
    qn_json_free(doc);
    return *out ? QN_OK
                : qn_fail(e, QN_ENOTFOUND,
                          "no model is installed yet: `quince list --all` shows some, quince pull "
                          "NAME downloads one");
}

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
    qn_buf_init(&text, PROMPT_MAX);
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
    bool declined = false;
    qn_err err = QN_OK;
    if (prompt && qn_buf_str(&text, prompt))
        err = qn_fail(&e, QN_ELIMIT, "the prompt is larger than %d bytes", PROMPT_MAX);
    if (!err && !chat && (!prompt || text_is_piped_in()))
        err = read_stdin(&text, &e);
    if (!err && !chat && text.len == 0)
        err = qn_fail(&e, QN_EINVAL, "the prompt is empty");
    if (!err && !qn_utf8_valid(qn_buf_cstr(&text), text.len))
        err = qn_fail(&e, QN_EINVAL, "the prompt is not UTF-8 text");
    if (!err)
        err = qn_launch_server(cli, &e);
    if (!err && !model) {
        err = default_model(cli, &found, &e);
        c.model = found;
    } else if (!err) {
        declined = qn_offer(cli, model, &found) != QN_OK;
        c.model = found ? found : model;
    }
    if (!err && !declined)
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
