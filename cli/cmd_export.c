/* export: writes a model's definition as JSON, for another machine or a list. */
#include "base/buf.h"
#include "base/json.h"
#include "cli/cli.h"
#include "cli/definition.h"
#include "cli/entry.h"
#include "cli/outfile.h"
#include "cli/print.h"

#include <stdio.h>

enum { TEXT_MAX = 1024 * 1024 };

enum { OPTION_OUTPUT, OPTION_YES };

/* Warns that the definition names a file of this machine, which other machines do not have. */
static void warn_local(const struct qn_jref *entry)
{
    struct qn_jref checkpoint = qn_json_get(entry, "checkpoint");
    if (qn_json_raw_str(&checkpoint)[0] != '/')
        return;
    fputs("Its checkpoint is a file of this machine: ", stderr);
    qn_print_safe(stderr, qn_json_raw_str(&checkpoint));
    fputc('\n', stderr);
}

static qn_err write_out(const struct qn_cli *cli, const struct qn_cli_args *a,
                        const struct qn_buf *text, struct qn_error *e)
{
    struct qn_outfile out;
    const char *path = a->values[OPTION_OUTPUT];
    qn_err err = qn_outfile_init(&out, cli, path, a->values[OPTION_YES] != NULL, NULL, e);
    if (!err)
        err = qn_outfile_write(&out, text->data, text->len, e);
    return err ? err : qn_outfile_end(&out, e);
}

int qn_cmd_export(struct qn_cli *cli, const struct qn_cli_args *a)
{
    struct qn_json *doc = NULL;
    struct qn_error e = {0};
    struct qn_buf text;
    qn_buf_init(&text, TEXT_MAX);
    qn_err err = qn_entry_fetch(cli, a->words[0], &doc, &e);
    if (!err) {
        struct qn_jref root = qn_json_root(doc);
        struct qn_jw w = qn_jw_to(&text);
        qn_definition_write(&root, &w);
        qn_buf_char(&text, '\n');
        if (text.overflow)
            err = qn_fail(&e, QN_ELIMIT, "the definition is too long");
        else
            err = write_out(cli, a, &text, &e);
        if (!err && !cli->json)
            warn_local(&root);
    }
    qn_json_free(doc);
    qn_buf_deinit(&text);
    return qn_outfile_status(cli, err, &e);
}
