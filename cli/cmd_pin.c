/* pin, unpin: whether a model may be made to leave memory. */
#include "base/buf.h"
#include "base/json.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/print.h"

#include <stdio.h>

enum { REQUEST_MAX = 64 * 1024 };

static qn_err pin(struct qn_cli *cli, const char *model, bool pinned, struct qn_error *e)
{
    struct qn_json *doc = NULL;
    struct qn_buf body;
    qn_buf_init(&body, REQUEST_MAX);
    struct qn_jw w = qn_jw_to(&body);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "model_name", model);
    qn_jw_kbool(&w, "pinned", pinned);
    qn_jw_obj_end(&w);
    qn_err err = qn_client_call(cli, "/internal/pin", qn_buf_cstr(&body), 0, NULL, &doc, e);
    if (!err) {
        struct qn_jref root = qn_json_root(doc), name = qn_json_get(&root, "model_name");
        if (cli->json) {
            qn_print_json(&root);
        } else {
            qn_print_safe(stdout, qn_json_raw_str(&name));
            puts(pinned ? " is pinned" : " is no longer pinned");
        }
    }
    qn_json_free(doc);
    qn_buf_deinit(&body);
    return err;
}

/* Handles all models, even after one of them has failed. */
static int pin_all(struct qn_cli *cli, const struct qn_cli_args *a, bool pinned)
{
    int status = QN_EXIT_OK;
    for (int i = 0; i < a->n_words; i++) {
        struct qn_error e = {0};
        if (pin(cli, a->words[i], pinned, &e))
            status = qn_cli_failed(cli, &e);
    }
    return status;
}

int qn_cmd_pin(struct qn_cli *cli, const struct qn_cli_args *a)
{
    return pin_all(cli, a, true);
}

int qn_cmd_unpin(struct qn_cli *cli, const struct qn_cli_args *a)
{
    return pin_all(cli, a, false);
}
