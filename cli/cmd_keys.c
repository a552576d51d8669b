/* keys: API keys of the server. */
#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/listing.h"
#include "cli/print.h"
#include "cli/table.h"

#include <stdio.h>

enum { CALL_TIMEOUT_S = 30, BODY_MAX = 64 * 1024 };

static const char route[] = "/internal/keys";

static void print_keys(const struct qn_jref *keys)
{
    static const char *const titles[] = {"Name", "Opens", "From", "Made"};
    struct qn_table *t = qn_table_new(4, titles);
    struct qn_jref it;
    for (bool more = qn_json_first(keys, &it); more; more = qn_json_next(&it)) {
        struct qn_jref name = qn_json_get(&it, "name"), admin = qn_json_get(&it, "admin");
        struct qn_jref from = qn_json_get(&it, "from"), created = qn_json_get(&it, "created");
        char day[11] = "-";
        double when = qn_json_raw_f64(&created);
        if (when > 0 && when < 1e15)
            qn_wall_day((int64_t)when, day);
        const char *cells[] = {qn_json_raw_str(&name),
                               qn_json_raw_bool(&admin) ? "everything" : "models",
                               qn_json_raw_str(&from), day};
        qn_table_row(t, cells);
    }
    qn_table_print(t);
    qn_table_free(t);
}

static int list(const struct qn_cli *cli)
{
    return qn_listing(cli, route, "keys", print_keys,
                      "No keys: all programs that can reach the server may use its models");
}

/* Prints only the key on stdout, so that a script can read it. */
static int add(const struct qn_cli *cli, const char *name, bool admin, bool mine)
{
    struct qn_json *doc = NULL;
    struct qn_error e;
    struct qn_buf body;
    qn_buf_init(&body, BODY_MAX);
    struct qn_jw w = qn_jw_to(&body);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "name", name);
    qn_jw_kbool(&w, "admin", admin);
    qn_jw_kbool(&w, "take_over", mine);
    qn_jw_obj_end(&w);
    qn_err err = body.overflow ? qn_fail(&e, QN_EINVAL, "the name is too long")
                               : qn_client_call(cli, route, qn_buf_cstr(&body), CALL_TIMEOUT_S,
                                                NULL, &doc, &e);
    qn_buf_deinit(&body);
    if (err)
        return qn_cli_failed(cli, &e);
    struct qn_jref root = qn_json_root(doc), key = qn_json_get(&root, "key"),
                   took = qn_json_get(&root, "taken_over");
    if (cli->json) {
        qn_print_json(&root);
    } else {
        qn_print_line(qn_json_raw_str(&key));
        fflush(stdout);
        fputs(
            "Store it: it is not shown again. From now on all requests to the server need a key;\n"
            "programs send it as their API key, quince reads it from QUINCE_API_KEY.\n",
            stderr);
        if (qn_json_raw_bool(&took))
            fputs("The chats that you have had on this server so far are this key's now.\n",
                  stderr);
        else if (mine)
            fputs("Your chats could not be given to the key: `quince logs` shows why.\n", stderr);
    }
    bool lost = mine && !qn_json_raw_bool(&took);
    qn_json_free(doc);
    return lost ? QN_EXIT_FAILED : QN_EXIT_OK;
}

static int take_away(const struct qn_cli *cli, const char *name)
{
    struct qn_json *doc = NULL;
    struct qn_error e;
    struct qn_buf path;
    qn_buf_init(&path, BODY_MAX);
    qn_buf_fmt(&path, "%s/", route);
    qn_client_escape(&path, name, false);
    qn_err err = path.overflow ? qn_fail(&e, QN_EINVAL, "the name is too long")
                               : qn_client_send(cli, "DELETE", qn_buf_cstr(&path), NULL,
                                                CALL_TIMEOUT_S, &doc, &e);
    qn_buf_deinit(&path);
    if (err)
        return qn_cli_failed(cli, &e);
    if (cli->json) {
        struct qn_jref root = qn_json_root(doc);
        qn_print_json(&root);
    } else {
        qn_print_safe(stdout, name);
        puts(" is no longer valid");
    }
    qn_json_free(doc);
    return QN_EXIT_OK;
}

int qn_cmd_keys(struct qn_cli *cli, const struct qn_cli_args *a)
{
    const char *what = a->n_words ? a->words[0] : "list";
    bool admin = a->values[0] != NULL, mine = a->values[1] != NULL;
    if (qn_str_eq(what, "list") && a->n_words <= 1 && !admin && !mine)
        return list(cli);
    if (qn_str_eq(what, "add") && a->n_words == 2)
        return add(cli, a->words[1], admin, mine);
    if (qn_str_eq(what, "remove") && a->n_words == 2 && !admin && !mine)
        return take_away(cli, a->words[1]);
    return qn_cli_misused(cli,
                          "usage: quince keys [list | add NAME [--admin] [--mine] | remove NAME]");
}
