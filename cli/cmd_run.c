/* run and chat: one answer for a prompt from the arguments or a pipe, or a conversation (repl.c).
 */
#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/conversation.h"
#include "cli/launch.h"
#include "cli/print.h"
#include "cli/repl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CALL_TIMEOUT_S = 30, PROMPT_MAX = 16 * 1024 * 1024 };

enum { OPTION_SYSTEM, OPTION_MAX_TOKENS, OPTION_TEMPERATURE };

/* What is piped in, to its end. */
static qn_err read_stdin(struct qn_buf *out, struct qn_error *e)
{
    char chunk[16384];
    size_t n;
    while ((n = fread(chunk, 1, sizeof chunk, stdin)) > 0)
        if (qn_buf_add(out, chunk, n))
            return qn_fail(e, QN_ELIMIT, "the text piped in is larger than %d bytes", PROMPT_MAX);
    if (!qn_utf8_valid(qn_buf_cstr(out), out->len))
        return qn_fail(e, QN_EINVAL, "the text piped in is not UTF-8");
    while (out->len && out->data[out->len - 1] == '\n')
        out->data[--out->len] = '\0';
    return QN_OK;
}

static qn_err check_numbers(const struct qn_cli_args *a, struct qn_error *e)
{
    int64_t i;
    double d;
    const char *v = a->values[OPTION_MAX_TOKENS];
    if (v && (!qn_parse_i64(v, &i) || i < 1))
        return qn_fail(e, QN_EINVAL, "--max-tokens needs a number from 1");
    v = a->values[OPTION_TEMPERATURE];
    if (v && (!qn_parse_f64(v, &d) || d < 0))
        return qn_fail(e, QN_EINVAL, "--temperature needs a number from 0");
    return QN_OK;
}

static void print_answer_json(const struct qn_conversation *c, const char *text)
{
    struct qn_buf b;
    qn_buf_init(&b, SIZE_MAX - 1);
    struct qn_jw w = qn_jw_to(&b);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "model", c->model);
    qn_jw_kstr(&w, "content", text);
    qn_jw_obj_end(&w);
    puts(qn_buf_cstr(&b));
    qn_buf_deinit(&b);
}

/* --json asks without streaming: the answer is one value. */
static qn_err ask_json(struct qn_conversation *c, const char *prompt, struct qn_error *e)
{
    struct qn_buf body;
    qn_buf_init(&body, PROMPT_MAX * 2);
    struct qn_jw w = qn_jw_to(&body);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "model", c->model);
    if (c->max_tokens) {
        qn_jw_key(&w, "max_tokens");
        qn_jw_raw(&w, c->max_tokens, strlen(c->max_tokens));
    }
    if (c->temperature) {
        qn_jw_key(&w, "temperature");
        qn_jw_raw(&w, c->temperature, strlen(c->temperature));
    }
    qn_jw_key(&w, "messages");
    qn_jw_arr(&w);
    const char *const roles[] = {"system", "user"};
    const char *const texts[] = {c->system, prompt};
    for (int i = 0; i < 2; i++) {
        if (!texts[i])
            continue;
        qn_jw_obj(&w);
        qn_jw_kstr(&w, "role", roles[i]);
        qn_jw_kstr(&w, "content", texts[i]);
        qn_jw_obj_end(&w);
    }
    qn_jw_arr_end(&w);
    qn_jw_obj_end(&w);
    struct qn_json *doc = NULL;
    qn_err err = qn_client_call(c->cli, "/v1/chat/completions", qn_buf_cstr(&body), 0, &doc, e);
    if (!err) {
        struct qn_jref root = qn_json_root(doc);
        struct qn_jref choices = qn_json_get(&root, "choices"), choice;
        if (qn_json_first(&choices, &choice)) {
            struct qn_jref message = qn_json_get(&choice, "message");
            struct qn_jref content = qn_json_get(&message, "content");
            print_answer_json(c, qn_json_raw_str(&content));
        } else {
            err = qn_fail(e, QN_EFORMAT, "the server's answer has no choices");
        }
    }
    qn_json_free(doc);
    qn_buf_deinit(&body);
    return err;
}

static int converse(struct qn_cli *cli, const struct qn_cli_args *a, const char *model,
                    const char *prompt)
{
    struct qn_error e;
    if (check_numbers(a, &e)) {
        fprintf(stderr, "quince: %s\n", e.message);
        return QN_EXIT_USAGE;
    }
    struct qn_buf text;
    qn_buf_init(&text, PROMPT_MAX);
    struct qn_conversation c;
    qn_conversation_init(&c, cli, model);
    qn_conversation_set_system(&c, a->values[OPTION_SYSTEM]);
    c.max_tokens = a->values[OPTION_MAX_TOKENS];
    c.temperature = a->values[OPTION_TEMPERATURE];
    qn_err err = QN_OK;
    bool piped = !isatty(STDIN_FILENO);
    if (prompt)
        err = qn_buf_str(&text, prompt);
    if (!err && piped && !prompt)
        err = read_stdin(&text, &e);
    if (!err)
        err = qn_launch_server(cli, &e);
    if (err)
        ;
    else if (!prompt && !piped)
        err = qn_repl(&c, &e);
    else if (text.len == 0)
        err = qn_fail(&e, QN_EINVAL, "the prompt is empty");
    else
        err = cli->json ? ask_json(&c, qn_buf_cstr(&text), &e)
                        : qn_conversation_ask(&c, qn_buf_cstr(&text), NULL, &e);
    qn_conversation_deinit(&c);
    qn_buf_deinit(&text);
    return err ? qn_cli_failed(cli, &e) : QN_EXIT_OK;
}

int qn_cmd_run(struct qn_cli *cli, const struct qn_cli_args *a, int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return converse(cli, a, a->words[0], a->n_words > 1 ? a->words[1] : NULL);
}

/* The model used last, else the suggested one, else the first. The caller frees. */
static qn_err default_model(const struct qn_cli *cli, char **out, struct qn_error *e)
{
    struct qn_json *doc = NULL;
    qn_err err = qn_client_call(cli, "/api/v1/models", NULL, CALL_TIMEOUT_S, &doc, e);
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
                : qn_fail(e, QN_ENOTFOUND, "the server knows no model: quince import FILE.gguf");
}

int qn_cmd_chat(struct qn_cli *cli, const struct qn_cli_args *a, int argc, char **argv)
{
    (void)argc;
    (void)argv;
    struct qn_error e;
    char *model = NULL;
    qn_err err = qn_launch_server(cli, &e);
    if (!err)
        err = default_model(cli, &model, &e);
    if (err)
        return qn_cli_failed(cli, &e);
    int status = converse(cli, a, model, a->n_words ? a->words[0] : NULL);
    free(model);
    return status;
}
