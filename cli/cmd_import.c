/* import: registers a model file of this machine without copying it, or the models of a JSON
 * definition. */
#include "base/buf.h"
#include "base/json.h"
#include "base/path.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/definition.h"
#include "cli/import.h"
#include "cli/launch.h"
#include "cli/print.h"

#include <stdio.h>
#include <stdlib.h>

enum { CALL_TIMEOUT_S = 120, REQUEST_MAX = 1024 * 1024, FILE_MAX = 16 * 1024 * 1024 };

enum { OPTION_NAME };

static qn_err call_register(struct qn_cli *cli, struct qn_buf *body, struct qn_json **reply,
                            struct qn_error *e)
{
    return body->overflow ? qn_fail(e, QN_EINVAL, "the definition is too long")
                          : qn_client_call(cli, "/api/v1/models/register", qn_buf_cstr(body),
                                           CALL_TIMEOUT_S, NULL, reply, e);
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

/* Writes the name that the user gave; without one the server names the model after its file. */
static void write_name(const char *wanted, struct qn_jw *w)
{
    struct qn_buf name;
    if (!wanted)
        return;
    qn_buf_init(&name, REQUEST_MAX);
    qn_buf_fmt(&name, "%s%s", qn_str_starts(wanted, "user.") ? "" : "user.", wanted);
    qn_jw_kstr(w, "model_name", qn_buf_cstr(&name));
    qn_buf_deinit(&name);
}

int qn_import_file(struct qn_cli *cli, const char *file, const char *wanted, bool quiet)
{
    struct qn_error e = {0};
    if (qn_str_starts(file, "file://"))
        file += 7;
    /* for a server on another machine, the path is passed on unchanged */
    char *path = cli->at.local ? qn_path_absolute(file, &e) : qn_xstrdup(file);
    if (!path)
        return qn_cli_failed(cli, &e);
    struct qn_buf body;
    qn_buf_init(&body, REQUEST_MAX);
    struct qn_jw w = qn_jw_to(&body);
    qn_jw_obj(&w);
    write_name(wanted, &w);
    qn_jw_kstr(&w, "checkpoint", path);
    qn_jw_kstr(&w, "recipe", "llamacpp");
    qn_jw_obj_end(&w);
    struct qn_json *doc = NULL;
    qn_err err = qn_launch_server(cli, &e);
    if (!err)
        err = call_register(cli, &body, &doc, &e);
    struct qn_jref root = doc ? qn_json_root(doc) : (struct qn_jref){0};
    struct qn_jref name = qn_json_get(&root, "model_name");
    if (!err && cli->json)
        qn_print_json(&root);
    else if (!err && quiet)
        qn_print_line(qn_json_raw_str(&name));
    else if (!err)
        print_imported(qn_json_raw_str(&name), path);
    qn_json_free(doc);
    qn_buf_deinit(&body);
    free(path);
    return err ? qn_cli_failed(cli, &e) : QN_EXIT_OK;
}

static void print_registered(const struct qn_cli *cli, const struct qn_json *reply)
{
    struct qn_jref root = qn_json_root(reply), name = qn_json_get(&root, "model_name");
    struct qn_jref model = qn_json_get(&root, "model"), here = qn_json_get(&model, "downloaded");
    if (cli->json) {
        qn_print_json(&root);
        return;
    }
    fputs("Registered ", stdout);
    qn_print_line(qn_json_raw_str(&name));
    fputs(qn_json_raw_bool(&here) ? "Chat with it: quince run " : "Download it: quince pull ",
          stdout);
    qn_print_line(qn_json_raw_str(&name));
}

/* Registers one definition after another and stops at the first that the server refuses. */
static qn_err import_definitions(struct qn_cli *cli, const struct qn_json *doc, const char *name,
                                 struct qn_error *e)
{
    struct qn_definition_walk walk = {.root = qn_json_root(doc)};
    struct qn_jref definition;
    size_t n = 0;
    qn_err err = QN_OK;
    while (!err && qn_definition_next(&walk, &definition)) {
        struct qn_buf body;
        struct qn_json *reply = NULL;
        qn_buf_init(&body, REQUEST_MAX);
        if (name && n)
            err = qn_fail(e, QN_EINVAL, "--name names one model, and the file defines several");
        if (!err)
            err = qn_definition_register(&definition, name, &body, e);
        if (!err)
            err = call_register(cli, &body, &reply, e);
        if (!err)
            print_registered(cli, reply);
        qn_json_free(reply);
        qn_buf_deinit(&body);
        n++;
    }
    return err || n ? err : qn_fail(e, QN_EINVAL, "the file has no model definition");
}

static qn_err read_definitions(const char *path, struct qn_buf *text, struct qn_error *e)
{
    char chunk[16384];
    size_t n;
    if (!qn_str_eq(path, "-"))
        return qn_file_read(path, text, e);
    while ((n = fread(chunk, 1, sizeof chunk, stdin)) > 0)
        if (qn_buf_add(text, chunk, n))
            return qn_fail(e, QN_ELIMIT, "the text piped in is larger than %d bytes", FILE_MAX);
    return ferror(stdin) ? qn_fail_errno(e, "reading the text piped in") : QN_OK;
}

static int import_json(struct qn_cli *cli, const char *path, const char *name)
{
    struct qn_error e = {0}, syntax = {0};
    struct qn_buf text;
    struct qn_json *doc = NULL;
    qn_buf_init(&text, FILE_MAX);
    qn_err err = read_definitions(path, &text, &e);
    if (!err && qn_json_parse(qn_buf_cstr(&text), text.len, &doc, &syntax))
        err = qn_fail(&e, QN_EFORMAT, "%.256s is not JSON: %.500s", path, syntax.message);
    if (!err)
        err = qn_launch_server(cli, &e);
    if (!err)
        err = import_definitions(cli, doc, name, &e);
    qn_json_free(doc);
    qn_buf_deinit(&text);
    return err ? qn_cli_failed(cli, &e) : QN_EXIT_OK;
}

int qn_cmd_import(struct qn_cli *cli, const struct qn_cli_args *a)
{
    const char *path = a->words[0], *name = a->values[OPTION_NAME];
    return qn_str_eq(path, "-") || qn_str_ends(path, ".json")
               ? import_json(cli, path, name)
               : qn_import_file(cli, path, name, false);
}
