/* list, import, load, unload: what the server does with models. */
#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/path.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/launch.h"
#include "cli/print.h"
#include "cli/table.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { CALL_TIMEOUT_S = 30, REQUEST_MAX = 1024 * 1024, NAME_BYTES = 128 };

static bool contains(const char *text, const char *part)
{
    size_t n = strlen(part);
    for (; *text; text++)
        if (strncasecmp(text, part, n) == 0)
            return true;
    return n == 0;
}

static void print_models(const struct qn_jref *list, const char *filter)
{
    static const char *const titles[] = {"Model", "Size", "Params", "Quant", "Loaded", "Last used"};
    struct qn_table *t = qn_table_new(6, titles);
    struct qn_jref it;
    for (bool more = qn_json_first(list, &it); more; more = qn_json_next(&it)) {
        struct qn_jref id = qn_json_get(&it, "id"), size = qn_json_get(&it, "size_bytes");
        struct qn_jref quant = qn_json_get(&it, "quantization"),
                       params = qn_json_get(&it, "parameters");
        struct qn_jref loaded = qn_json_get(&it, "loaded"), used = qn_json_get(&it, "last_use");
        if (!contains(qn_json_raw_str(&id), filter))
            continue;
        char bytes[16], count[16], when[25] = "never";
        qn_human_bytes(qn_json_raw_f64(&size), bytes);
        qn_human_count(qn_json_raw_f64(&params), count);
        if (qn_json_raw_f64(&used) > 0)
            qn_wall_format((int64_t)qn_json_raw_f64(&used) * 1000, when);
        when[10] = '\0'; /* the day is enough */
        const char *cells[] = {qn_json_raw_str(&id),
                               bytes,
                               count,
                               qn_json_raw_str(&quant),
                               qn_json_raw_bool(&loaded) ? "yes" : "no",
                               when};
        qn_table_row(t, cells);
    }
    qn_table_print(t);
    qn_table_free(t);
}

int qn_cmd_list(struct qn_cli *cli, const struct qn_cli_args *a, int argc, char **argv)
{
    (void)argc;
    (void)argv;
    struct qn_json *doc = NULL;
    struct qn_error e;
    if (qn_client_call(cli, "/api/v1/models", NULL, CALL_TIMEOUT_S, &doc, &e))
        return qn_cli_failed(cli, &e);
    struct qn_jref root = qn_json_root(doc);
    struct qn_jref data = qn_json_get(&root, "data");
    if (cli->json)
        qn_print_json(&data);
    else
        print_models(&data, a->n_words ? a->words[0] : "");
    qn_json_free(doc);
    return QN_EXIT_OK;
}

/* "My Model.Q4_K_M.gguf" -> "user.My-Model.Q4_K_M" */
static void name_from_file(const char *path, char out[static NAME_BYTES])
{
    const char *base = qn_path_base(path);
    size_t n = strlen(base);
    if (qn_str_ends(base, ".gguf"))
        n -= 5;
    size_t used = (size_t)snprintf(out, NAME_BYTES, "user.");
    for (size_t i = 0; i < n && used + 1 < NAME_BYTES; i++) {
        unsigned char c = (unsigned char)base[i];
        out[used++] = isalnum(c) || c == '.' || c == '_' || c == '-' ? (char)c : '-';
    }
    out[used] = '\0';
}

int qn_cmd_import(struct qn_cli *cli, const struct qn_cli_args *a, int argc, char **argv)
{
    (void)argc;
    (void)argv;
    struct qn_error e = {0};
    char *path = qn_path_absolute(a->words[0], &e);
    if (!path)
        return qn_cli_failed(cli, &e);
    char name[NAME_BYTES];
    if (a->values[0])
        snprintf(name, sizeof name, "%s%.100s", qn_str_starts(a->values[0], "user.") ? "" : "user.",
                 a->values[0]);
    else
        name_from_file(path, name);
    struct qn_buf body;
    qn_buf_init(&body, REQUEST_MAX);
    struct qn_jw w = qn_jw_to(&body);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "model_name", name);
    qn_jw_kstr(&w, "checkpoint", path);
    qn_jw_kstr(&w, "recipe", "llamacpp");
    qn_jw_obj_end(&w);
    struct qn_json *doc = NULL;
    qn_err err = qn_launch_server(cli, &e);
    if (!err)
        err = qn_client_call(cli, "/api/v1/models/register", qn_buf_cstr(&body), CALL_TIMEOUT_S,
                             &doc, &e);
    int status = QN_EXIT_OK;
    if (err) {
        status = qn_cli_failed(cli, &e);
    } else if (cli->json) {
        struct qn_jref root = qn_json_root(doc);
        qn_print_json(&root);
    } else {
        printf("Imported %s from %s (the file stays where it is)\nChat with it: quince run %s\n",
               name, path, name);
    }
    qn_json_free(doc);
    qn_buf_deinit(&body);
    free(path);
    return status;
}

int qn_cmd_load(struct qn_cli *cli, const struct qn_cli_args *a, int argc, char **argv)
{
    (void)argc;
    (void)argv;
    int64_t context = 0;
    if (a->values[0] && (!qn_parse_i64(a->values[0], &context) || context < 1)) {
        fputs("quince: --ctx-size needs a number of tokens\n", stderr);
        return QN_EXIT_USAGE;
    }
    struct qn_buf body;
    qn_buf_init(&body, REQUEST_MAX);
    struct qn_jw w = qn_jw_to(&body);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "model_name", a->words[0]);
    if (context)
        qn_jw_ki64(&w, "ctx_size", context);
    qn_jw_obj_end(&w);
    struct qn_json *doc = NULL;
    struct qn_error e;
    qn_err err = qn_launch_server(cli, &e);
    if (!err) {
        if (!cli->json && isatty(STDERR_FILENO))
            fprintf(stderr, "Loading model: %s\n", a->words[0]);
        err = qn_client_call(cli, "/api/v1/load", qn_buf_cstr(&body), 0, &doc, &e);
    }
    int status = QN_EXIT_OK;
    if (err) {
        status = qn_cli_failed(cli, &e);
    } else if (cli->json) {
        struct qn_jref root = qn_json_root(doc);
        qn_print_json(&root);
    } else {
        puts("Model loaded successfully!");
    }
    qn_json_free(doc);
    qn_buf_deinit(&body);
    return status;
}

int qn_cmd_unload(struct qn_cli *cli, const struct qn_cli_args *a, int argc, char **argv)
{
    (void)argc;
    (void)argv;
    struct qn_buf body;
    qn_buf_init(&body, REQUEST_MAX);
    struct qn_jw w = qn_jw_to(&body);
    qn_jw_obj(&w);
    if (a->n_words)
        qn_jw_kstr(&w, "model_name", a->words[0]);
    qn_jw_obj_end(&w);
    struct qn_json *doc = NULL;
    struct qn_error e;
    qn_err err = qn_client_call(cli, "/api/v1/unload", qn_buf_cstr(&body), 0, &doc, &e);
    int status = QN_EXIT_OK;
    if (err) {
        status = qn_cli_failed(cli, &e);
    } else {
        struct qn_jref root = qn_json_root(doc);
        struct qn_jref message = qn_json_get(&root, "message");
        if (cli->json)
            qn_print_json(&root);
        else
            qn_print_line(qn_json_raw_str(&message));
    }
    qn_json_free(doc);
    qn_buf_deinit(&body);
    return status;
}
