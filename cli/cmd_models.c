/* list, import, load, unload: what the server does with models. */
#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/path.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/launch.h"
#include "cli/note.h"
#include "cli/print.h"
#include "cli/table.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { CALL_TIMEOUT_S = 30, REQUEST_MAX = 1024 * 1024, NAME_BYTES = 128 };

static void print_reply(const struct qn_json *doc)
{
    struct qn_jref root = qn_json_root(doc);
    qn_print_json(&root);
}

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
    size_t rows = 0;
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
        rows++;
    }
    if (rows)
        qn_table_print(t);
    else
        puts(filter[0] ? "No model's name contains that"
                       : "No model is known; make one known with: quince import FILE.gguf");
    qn_table_free(t);
}

/* An array of the server's own entries. */
static void print_models_json(const struct qn_jref *list, const char *filter)
{
    struct qn_buf b;
    qn_buf_init(&b, SIZE_MAX - 1);
    qn_buf_char(&b, '[');
    struct qn_jref it;
    for (bool more = qn_json_first(list, &it); more; more = qn_json_next(&it)) {
        struct qn_jref id = qn_json_get(&it, "id");
        if (!contains(qn_json_raw_str(&id), filter))
            continue;
        if (b.len > 1)
            qn_buf_char(&b, ',');
        qn_json_print(&it, &b);
    }
    qn_buf_char(&b, ']');
    puts(qn_buf_cstr(&b));
    qn_buf_deinit(&b);
}

int qn_cmd_list(struct qn_cli *cli, const struct qn_cli_args *a)
{
    struct qn_json *doc = NULL;
    struct qn_error e;
    if (qn_client_call(cli, "/api/v1/models", NULL, CALL_TIMEOUT_S, NULL, &doc, &e))
        return qn_cli_failed(cli, &e);
    struct qn_jref root = qn_json_root(doc);
    struct qn_jref data = qn_json_get(&root, "data");
    const char *filter = a->n_words ? a->words[0] : "";
    if (cli->json)
        print_models_json(&data, filter);
    else
        print_models(&data, filter);
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

/* The name in the catalog: what was asked for, or after the file. */
static void choose_name(const char *wanted, const char *path, struct qn_buf *out)
{
    char own[NAME_BYTES];
    name_from_file(path, own);
    if (wanted)
        qn_buf_fmt(out, "%s%s", qn_str_starts(wanted, "user.") ? "" : "user.", wanted);
    else
        qn_buf_str(out, own);
}

static void print_imported(const char *name, const char *path)
{
    fputs("Imported ", stdout);
    qn_print_safe(stdout, name);
    fputs(" from ", stdout);
    qn_print_safe(stdout, path);
    fputs(" (the file stays where it is)\nChat with it: quince run ", stdout);
    qn_print_line(name);
}

int qn_cmd_import(struct qn_cli *cli, const struct qn_cli_args *a)
{
    struct qn_error e = {0};
    /* A file of another machine is named as that machine knows it. */
    char *path = cli->at.local ? qn_path_absolute(a->words[0], &e) : qn_xstrdup(a->words[0]);
    if (!path)
        return qn_cli_failed(cli, &e);
    struct qn_buf name, body;
    qn_buf_init(&name, REQUEST_MAX);
    qn_buf_init(&body, REQUEST_MAX);
    choose_name(a->values[0], path, &name);
    struct qn_jw w = qn_jw_to(&body);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "model_name", qn_buf_cstr(&name));
    qn_jw_kstr(&w, "checkpoint", path);
    qn_jw_kstr(&w, "recipe", "llamacpp");
    qn_jw_obj_end(&w);
    struct qn_json *doc = NULL;
    qn_err err = qn_launch_server(cli, &e);
    if (!err)
        err = qn_client_call(cli, "/api/v1/models/register", qn_buf_cstr(&body), CALL_TIMEOUT_S,
                             NULL, &doc, &e);
    if (!err && cli->json)
        print_reply(doc);
    else if (!err)
        print_imported(qn_buf_cstr(&name), path);
    qn_json_free(doc);
    qn_buf_deinit(&body);
    qn_buf_deinit(&name);
    free(path);
    return err ? qn_cli_failed(cli, &e) : QN_EXIT_OK;
}

int qn_cmd_load(struct qn_cli *cli, const struct qn_cli_args *a)
{
    int64_t context = 0;
    if (a->values[0] && (!qn_parse_i64(a->values[0], &context) || context < 1))
        return qn_cli_misused(cli, "--ctx-size needs a number of tokens");
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
        struct qn_note note;
        qn_note_begin(&note, cli, a->words[0]);
        const struct qn_client_wait wait = {.tick = qn_note_tick, .ctx = &note};
        err = qn_client_call(cli, "/api/v1/load", qn_buf_cstr(&body), 0, &wait, &doc, &e);
        qn_note_end(&note);
    }
    if (!err && cli->json) {
        print_reply(doc);
    } else if (!err) {
        qn_print_safe(stdout, a->words[0]);
        puts(" is loaded");
    }
    qn_json_free(doc);
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
