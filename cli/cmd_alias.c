/* alias: additional names of models. */
#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/alias.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/listing.h"
#include "cli/print.h"
#include "cli/table.h"

#include <stdio.h>

enum { CALL_TIMEOUT_S = 30, BODY_MAX = 64 * 1024 };

static const char route[] = "/internal/aliases";

/* model NULL: writes the alias alone. */
static void write_body(struct qn_buf *out, const char *alias, const char *model)
{
    struct qn_jw w = qn_jw_to(out);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "alias", alias);
    if (model)
        qn_jw_kstr(&w, "model_name", model);
    qn_jw_obj_end(&w);
}

static qn_err change(const struct qn_cli *cli, const char *method, const char *alias,
                     const char *model, struct qn_json **reply, struct qn_error *e)
{
    struct qn_buf body;
    qn_buf_init(&body, BODY_MAX);
    write_body(&body, alias, model);
    qn_err err = body.overflow ? qn_fail(e, QN_EINVAL, "the name is too long")
                               : qn_client_send(cli, method, route, qn_buf_cstr(&body),
                                                CALL_TIMEOUT_S, reply, e);
    qn_buf_deinit(&body);
    return err;
}

qn_err qn_alias_add(const struct qn_cli *cli, const char *alias, const char *model,
                    struct qn_error *e)
{
    struct qn_json *reply = NULL;
    qn_err err = change(cli, "POST", alias, model, &reply, e);
    qn_json_free(reply);
    return err;
}

static void print_aliases(const struct qn_jref *aliases)
{
    static const char *const titles[] = {"Alias", "Model"};
    struct qn_table *t = qn_table_new(2, titles);
    struct qn_jref it;
    for (bool more = qn_json_first(aliases, &it); more; more = qn_json_next(&it)) {
        struct qn_jref name = qn_json_get(&it, "alias"), model = qn_json_get(&it, "model_name");
        const char *cells[] = {qn_json_raw_str(&name), qn_json_raw_str(&model)};
        qn_table_row(t, cells);
    }
    qn_table_print(t);
    qn_table_free(t);
}

static int list(const struct qn_cli *cli)
{
    return qn_listing(cli, route, "aliases", print_aliases,
                      "No aliases; add one with: quince alias add NAME MODEL");
}

static int tell(const struct qn_cli *cli, qn_err err, const struct qn_error *e,
                const struct qn_json *reply, const char *name, const char *model)
{
    if (err)
        return qn_cli_failed(cli, e);
    if (cli->json) {
        struct qn_jref root = qn_json_root(reply);
        qn_print_json(&root);
        return QN_EXIT_OK;
    }
    qn_print_safe(stdout, name);
    fputs(model ? " means " : " is no longer an alias", stdout);
    qn_print_line(model ? model : "");
    return QN_EXIT_OK;
}

int qn_cmd_alias(struct qn_cli *cli, const struct qn_cli_args *a)
{
    struct qn_json *reply = NULL;
    struct qn_error e = {0};
    const char *what = a->words[0];
    int status;
    if (qn_str_eq(what, "list") && a->n_words == 1)
        return list(cli);
    if (qn_str_eq(what, "add") && a->n_words == 3) {
        qn_err err = change(cli, "POST", a->words[1], a->words[2], &reply, &e);
        status = tell(cli, err, &e, reply, a->words[1], a->words[2]);
    } else if (qn_str_eq(what, "remove") && a->n_words == 2) {
        qn_err err = change(cli, "DELETE", a->words[1], NULL, &reply, &e);
        status = tell(cli, err, &e, reply, a->words[1], NULL);
    } else {
        return qn_cli_misused(cli, "usage: quince alias add NAME MODEL | remove NAME | list");
    }
    qn_json_free(reply);
    return status;
}
