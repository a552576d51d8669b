/* delete: removes models from this machine. */
#include "base/buf.h"
#include "base/json.h"
#include "cli/ask.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/entry.h"
#include "cli/print.h"
#include "cli/table.h"

#include <stdio.h>

enum { CALL_TIMEOUT_S = 120, BODY_MAX = 64 * 1024, QUESTION_MAX = 512 };

enum { OPTION_YES };

/* Asks the user at the terminal. Without a terminal, --yes is required. */
static bool agreed(const struct qn_cli *cli, const struct qn_cli_args *a, const struct qn_entry *m)
{
    char question[QUESTION_MAX], bytes[16];
    if (a->values[OPTION_YES])
        return true;
    qn_human_bytes(m->size_bytes, bytes);
    snprintf(question, sizeof question, "Delete %.256s (%s)?", m->id, bytes);
    return qn_ask_possible(cli) && qn_ask_yes(question);
}

static void print_deleted(const struct qn_cli *cli, const struct qn_jref *reply, const char *id)
{
    if (cli->json) {
        qn_print_json(reply);
        return;
    }
    struct qn_jref freed = qn_json_get(reply, "freed_bytes"), note = qn_json_get(reply, "note");
    fputs("Deleted ", stdout);
    qn_print_safe(stdout, id);
    if (qn_json_raw_f64(&freed) > 0) {
        char bytes[16];
        qn_human_bytes(qn_json_raw_f64(&freed), bytes);
        printf(" (%s freed)", bytes);
    }
    putchar('\n');
    if (qn_json_raw_str(&note)[0])
        qn_print_line(qn_json_raw_str(&note));
}

static qn_err delete_one(struct qn_cli *cli, const struct qn_cli_args *a, const char *name,
                         struct qn_error *e)
{
    struct qn_json *doc = NULL, *reply = NULL;
    struct qn_entry m;
    struct qn_buf body;
    qn_buf_init(&body, BODY_MAX);
    qn_err err = qn_entry_fetch(cli, name, &doc, e);
    if (!err) {
        struct qn_jref root = qn_json_root(doc);
        qn_entry_read(&root, &m);
        if (!agreed(cli, a, &m))
            err = qn_fail(e, QN_ECANCELLED, "%.256s was not deleted", name);
    }
    if (!err) {
        struct qn_jw w = qn_jw_to(&body);
        qn_jw_obj(&w);
        qn_jw_kstr(&w, "model_name", m.id);
        qn_jw_obj_end(&w);
        err = qn_client_call(cli, "/api/v1/delete", qn_buf_cstr(&body), CALL_TIMEOUT_S, NULL,
                             &reply, e);
    }
    if (!err) {
        struct qn_jref root = qn_json_root(reply);
        print_deleted(cli, &root, m.id);
    }
    qn_buf_deinit(&body);
    qn_json_free(reply);
    qn_json_free(doc);
    return err;
}

/* If one model cannot be deleted, the others still are. */
int qn_cmd_delete(struct qn_cli *cli, const struct qn_cli_args *a)
{
    int status = QN_EXIT_OK;
    if (!a->values[OPTION_YES] && !qn_ask_possible(cli))
        return qn_cli_misused(cli,
                              "there is no terminal for a question: --yes deletes without asking");
    for (int i = 0; i < a->n_words; i++) {
        struct qn_error e;
        if (delete_one(cli, a, a->words[i], &e))
            status = qn_cli_failed(cli, &e);
    }
    return status;
}
