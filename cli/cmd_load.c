/* load, unload: brings models into memory and removes them. */
#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/launch.h"
#include "cli/note.h"
#include "cli/offer.h"
#include "cli/print.h"

#include <stdio.h>
#include <stdlib.h>

enum { REQUEST_MAX = 1024 * 1024, COUNT_TEXT_MAX = 32 };
enum { OPTION_CTX_SIZE, OPTION_KEEP_ALIVE, OPTION_PINNED, OPTION_SAVE, OPTION_MEMBERS };

/* Options that are members of the request under their own name. They are the last options of `load`
 * in commands.c, in the same order. `flag`: the option's name if its value is a number. */
static const struct {
    const char *member, *flag;
} members[] = {
    {"llamacpp_backend", NULL}, {"llamacpp_args", NULL},      {"whispercpp_backend", NULL},
    {"whispercpp_args", NULL},  {"sd-cpp_backend", NULL},     {"sdcpp_args", NULL},
    {"steps", "--steps"},       {"cfg_scale", "--cfg-scale"}, {"width", "--width"},
    {"height", "--height"},
};
enum { MEMBERS = sizeof members / sizeof *members };

/* Returns the first option that must be a number and is not, or NULL. */
static const char *no_number(const struct qn_cli_args *a)
{
    double value;
    for (int i = 0; i < MEMBERS; i++) {
        const char *given = a->values[OPTION_MEMBERS + i];
        if (members[i].flag && given && !qn_parse_f64(given, &value))
            return members[i].flag;
    }
    return NULL;
}

static void write_members(struct qn_jw *w, const struct qn_cli_args *a)
{
    for (int i = 0; i < MEMBERS; i++) {
        const char *given = a->values[OPTION_MEMBERS + i];
        double value;
        if (given && members[i].flag && qn_parse_f64(given, &value))
            qn_jw_kf64(w, members[i].member, value);
        else if (given)
            qn_jw_kstr(w, members[i].member, given);
    }
}

static void print_reply(const struct qn_json *doc)
{
    struct qn_jref root = qn_json_root(doc);
    qn_print_json(&root);
}

/* Writes 100000 as "100,000". */
static void write_count(double n, char out[static COUNT_TEXT_MAX])
{
    char digits[COUNT_TEXT_MAX];
    size_t at = 0, len = (size_t)snprintf(digits, sizeof digits, "%.0f", n);
    for (size_t i = 0; i < len && at + 2 < COUNT_TEXT_MAX; i++) {
        if (i && (len - i) % 3 == 0)
            out[at++] = ',';
        out[at++] = digits[i];
    }
    out[at] = '\0';
}

/* Reports that the model is loaded and, if so, that its context is smaller than requested. */
static void say_loaded(const char *model, const struct qn_json *doc)
{
    struct qn_jref root = qn_json_root(doc), has = qn_json_get(&root, "ctx_size");
    struct qn_jref asked = qn_json_get(&root, "requested_ctx_size");
    qn_print_safe(stdout, model);
    if (qn_json_type(&has) == QN_JSON_NUMBER && qn_json_type(&asked) == QN_JSON_NUMBER) {
        char got[COUNT_TEXT_MAX], wanted[COUNT_TEXT_MAX];
        write_count(qn_json_raw_f64(&has), got);
        write_count(qn_json_raw_f64(&asked), wanted);
        printf(" is loaded with a context of %s tokens, the most that it supports of the requested "
               "%s\n",
               got, wanted);
    } else {
        puts(" is loaded");
    }
    struct qn_jref warnings = qn_json_get(&root, "warnings"), it;
    for (bool more = qn_json_first(&warnings, &it); more; more = qn_json_next(&it))
        qn_print_line(qn_json_raw_str(&it));
}

int qn_cmd_load(struct qn_cli *cli, const struct qn_cli_args *a)
{
    int64_t context = 0;
    const char *tokens = a->values[OPTION_CTX_SIZE];
    if (tokens && (!qn_parse_i64(tokens, &context) || context < 1))
        return qn_cli_misused(cli, "--ctx-size needs a number of tokens");
    const char *flag = no_number(a);
    if (flag)
        return qn_cli_misused(cli, "%s needs a number", flag);
    struct qn_error e;
    char *pulled = NULL;
    qn_err err = qn_launch_server(cli, &e);
    if (!err && qn_offer(cli, a->words[0], &pulled))
        return QN_EXIT_FAILED; /* qn_offer has printed the reason */
    const char *model = pulled ? pulled : a->words[0];
    struct qn_buf body;
    qn_buf_init(&body, REQUEST_MAX);
    struct qn_jw w = qn_jw_to(&body);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "model_name", model);
    if (context)
        qn_jw_ki64(&w, "ctx_size", context);
    if (a->values[OPTION_KEEP_ALIVE])
        qn_jw_kstr(&w, "keep_alive", a->values[OPTION_KEEP_ALIVE]);
    write_members(&w, a);
    if (a->values[OPTION_PINNED])
        qn_jw_kbool(&w, "pinned", true);
    if (a->values[OPTION_SAVE])
        qn_jw_kbool(&w, "save_options", true);
    qn_jw_obj_end(&w);
    struct qn_json *doc = NULL;
    if (!err) {
        struct qn_note note;
        qn_note_begin(&note, cli, model);
        const struct qn_client_wait wait = {.tick = qn_note_tick, .ctx = &note};
        err = qn_client_call(cli, "/api/v1/load", qn_buf_cstr(&body), 0, &wait, &doc, &e);
        qn_note_end(&note);
    }
    if (!err && cli->json) {
        print_reply(doc);
    } else if (!err) {
        say_loaded(model, doc);
    }
    qn_json_free(doc);
    free(pulled);
    qn_buf_deinit(&body);
    return err ? qn_cli_failed(cli, &e) : QN_EXIT_OK;
}

int qn_cmd_unload(struct qn_cli *cli, const struct qn_cli_args *a)
{
    struct qn_buf body;
    qn_buf_init(&body, REQUEST_MAX);
    struct qn_jw w = qn_jw_to(&body);
    qn_jw_obj(&w);
    if (a->n_words)
        qn_jw_kstr(&w, "model_name", a->words[0]);
    qn_jw_obj_end(&w);
    struct qn_json *doc = NULL;
    struct qn_error e;
    qn_err err = qn_client_call(cli, "/api/v1/unload", qn_buf_cstr(&body), 0, NULL, &doc, &e);
    if (!err && cli->json) {
        print_reply(doc);
    } else if (!err) {
        struct qn_jref root = qn_json_root(doc), message = qn_json_get(&root, "message");
        qn_print_line(qn_json_raw_str(&message));
    }
    qn_json_free(doc);
    qn_buf_deinit(&body);
    return err ? qn_cli_failed(cli, &e) : QN_EXIT_OK;
}
