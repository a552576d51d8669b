/* cleanup: deletes leftovers of downloads that no model needs. */
#include "base/json.h"
#include "cli/ask.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/print.h"
#include "cli/table.h"

#include <stdio.h>

enum { CALL_TIMEOUT_S = 600, QUESTION_MAX = 128 };

enum { OPTION_DRY_RUN, OPTION_YES };

static double number(const struct qn_jref *reply, const char *key)
{
    struct qn_jref v = qn_json_get(reply, key);
    return qn_json_raw_f64(&v);
}

static void print_found(const struct qn_jref *reply)
{
    static const char *const titles[] = {"Path", "Size", "What"};
    struct qn_table *t = qn_table_new(3, titles);
    struct qn_jref found = qn_json_get(reply, "files"), it;
    for (bool more = qn_json_first(&found, &it); more; more = qn_json_next(&it)) {
        struct qn_jref path = qn_json_get(&it, "path"), size = qn_json_get(&it, "size_bytes");
        struct qn_jref what = qn_json_get(&it, "kind");
        char bytes[16];
        qn_human_bytes(qn_json_raw_f64(&size), bytes);
        const char *cells[] = {qn_json_raw_str(&path), bytes, qn_json_raw_str(&what)};
        qn_table_row(t, cells);
    }
    qn_table_print(t);
    qn_table_free(t);
}

static qn_err ask_server(const struct qn_cli *cli, bool dry, struct qn_json **out,
                         struct qn_error *e)
{
    return qn_client_call(cli, "/internal/cleanup-cache",
                          dry ? "{\"dry_run\":true}" : "{\"dry_run\":false}", CALL_TIMEOUT_S, NULL,
                          out, e);
}

/* Lists what would be deleted. With --dry-run that is all; otherwise the user is asked. */
static qn_err preview(struct qn_cli *cli, bool dry, bool *goes_on, struct qn_error *e)
{
    struct qn_json *doc = NULL;
    char question[QUESTION_MAX], bytes[16];
    qn_err err = ask_server(cli, true, &doc, e);
    *goes_on = false;
    if (err)
        return err;
    struct qn_jref root = qn_json_root(doc), files = qn_json_get(&root, "files");
    qn_human_bytes(number(&root, "freed_bytes"), bytes);
    if (cli->json) {
        qn_print_json(&root);
    } else if (qn_json_count(&files) == 0) {
        puts("There is nothing to clean up");
    } else {
        print_found(&root);
        if (dry) {
            printf("Frees %s\n", bytes);
        } else {
            snprintf(question, sizeof question, "Delete these (%s)?", bytes);
            *goes_on = qn_ask_yes(question);
        }
    }
    qn_json_free(doc);
    return QN_OK;
}

int qn_cmd_cleanup(struct qn_cli *cli, const struct qn_cli_args *a)
{
    struct qn_json *doc = NULL;
    struct qn_error e = {0};
    bool dry = a->values[OPTION_DRY_RUN] != NULL, yes = a->values[OPTION_YES] != NULL;
    bool goes_on = yes && !dry;
    qn_err err = QN_OK;
    if (!dry && !yes && !qn_ask_possible(cli))
        return qn_cli_misused(cli, "there is no terminal for a question: --yes deletes without "
                                   "asking, --dry-run only lists");
    if (!goes_on)
        err = preview(cli, dry, &goes_on, &e);
    if (!err && goes_on)
        err = ask_server(cli, false, &doc, &e);
    if (!err && goes_on) {
        struct qn_jref root = qn_json_root(doc);
        char bytes[16];
        qn_human_bytes(number(&root, "freed_bytes"), bytes);
        if (cli->json)
            qn_print_json(&root);
        else
            printf("%s freed\n", bytes);
    }
    qn_json_free(doc);
    return err ? qn_cli_failed(cli, &e) : QN_EXIT_OK;
}
