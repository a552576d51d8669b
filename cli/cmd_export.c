/* export: writes a model's definition as JSON, for another machine or a list. */
#include "base/buf.h"
#include "base/json.h"
#include "cli/ask.h"
#include "cli/cli.h"
#include "cli/definition.h"
#include "cli/entry.h"
#include "cli/print.h"

#include <stdio.h>
#include <unistd.h>

enum { TEXT_MAX = 1024 * 1024, QUESTION_MAX = 512 };

enum { OPTION_OUTPUT, OPTION_YES };

/* Asks before an existing file is overwritten. */
static qn_err may_write(const struct qn_cli *cli, const struct qn_cli_args *a, struct qn_error *e)
{
    const char *path = a->values[OPTION_OUTPUT];
    char question[QUESTION_MAX];
    if (a->values[OPTION_YES] || access(path, F_OK) != 0)
        return QN_OK;
    snprintf(question, sizeof question, "%.400s exists. Replace it?", path);
    if (qn_ask_possible(cli) && qn_ask_yes(question))
        return QN_OK;
    return qn_fail(e, QN_ECONFLICT, "%.400s exists: --yes replaces it", path);
}

static qn_err write_file(const char *path, const struct qn_buf *text, struct qn_error *e)
{
    FILE *f = fopen(path, "w");
    if (!f)
        return qn_fail_errno(e, "write %.400s", path);
    bool whole = fwrite(text->data, 1, text->len, f) == text->len;
    if (fclose(f) != 0 || !whole)
        return qn_fail_errno(e, "write %.400s", path);
    return QN_OK;
}

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
        else if (!a->values[OPTION_OUTPUT])
            fputs(text.data, stdout);
        else if (!(err = may_write(cli, a, &e)))
            err = write_file(a->values[OPTION_OUTPUT], &text, &e);
        if (!err && !cli->json)
            warn_local(&root);
    }
    qn_json_free(doc);
    qn_buf_deinit(&text);
    return err ? qn_cli_failed(cli, &e) : QN_EXIT_OK;
}
