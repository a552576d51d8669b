/* import: a model file of this machine becomes known, without a copy. */
#include "base/buf.h"
#include "base/json.h"
#include "base/path.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/launch.h"
#include "cli/print.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALL_TIMEOUT_S = 30, REQUEST_MAX = 1024 * 1024, NAME_BYTES = 128 };

static void print_reply(const struct qn_json *doc)
{
    struct qn_jref root = qn_json_root(doc);
    qn_print_json(&root);
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
