/* remote: models that other servers compute: vLLM, SGLang, llama-server, another quince. */
#include "base/buf.h"
#include "base/json.h"
#include "base/path.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/launch.h"
#include "cli/print.h"
#include "cli/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALL_TIMEOUT_S = 60, REQUEST_MAX = 1024 * 1024, KEY_MAX = 8192 };

enum {
    OPTION_MODEL,
    OPTION_KEY_ENV,
    OPTION_KEY_FILE,
    OPTION_FLAVOUR,
    OPTION_CONTEXT,
    OPTION_CA_FILE,
    OPTION_LABEL
};

/* Reads a key from a file. A key is never an argument, because all users of the machine can see the
 * arguments of a process. */
static qn_err read_key(const char *path, struct qn_buf *out, struct qn_error *e)
{
    char line[KEY_MAX];
    qn_err err = QN_OK;
    if (!qn_str_eq(path, "-"))
        err = qn_file_read(path, out, e);
    else if (fgets(line, sizeof line, stdin))
        qn_buf_str(out, line);
    while (!err && out->len && strchr(" \t\r\n", out->data[out->len - 1]))
        out->data[--out->len] = '\0';
    return !err && !out->len ? qn_fail(e, QN_EINVAL, "there is no key in %.300s", path) : err;
}

/* Writes "3*https://host/v1", an address with its weight. */
static void write_upstream(struct qn_jw *w, const char *word)
{
    const char *star = strchr(word, '*');
    char digits[8] = "";
    int64_t weight = 1;
    bool weighted = star && (size_t)(star - word) < sizeof digits;
    if (weighted)
        memcpy(digits, word, (size_t)(star - word));
    weighted = weighted && qn_parse_i64(digits, &weight);
    qn_jw_obj(w);
    qn_jw_kstr(w, "url", weighted ? star + 1 : word);
    qn_jw_ki64(w, "weight", weight);
    qn_jw_obj_end(w);
}

static void write_labels(struct qn_jw *w, const struct qn_cli_args *a)
{
    qn_jw_key(w, "labels");
    qn_jw_arr(w);
    for (int i = 0; i < a->n_given; i++)
        if (a->given[i].option == OPTION_LABEL)
            qn_jw_str(w, a->given[i].value);
    qn_jw_arr_end(w);
}

static qn_err write_definition(const struct qn_cli_args *a, struct qn_buf *out, struct qn_error *e)
{
    static const struct {
        int option;
        const char *member;
    } texts[] = {{OPTION_MODEL, "model"},
                 {OPTION_KEY_ENV, "key_env"},
                 {OPTION_FLAVOUR, "flavour"},
                 {OPTION_CA_FILE, "ca_file"}};
    struct qn_buf name, key;
    int64_t context = 0;
    qn_err err = QN_OK;
    const char *given = a->values[OPTION_CONTEXT];
    if (given && (!qn_parse_i64(given, &context) || context < 1))
        return qn_fail(e, QN_EINVAL, "--ctx-size takes a number of tokens, not '%.40s'", given);
    qn_buf_init(&name, REQUEST_MAX);
    qn_buf_init(&key, KEY_MAX);
    qn_buf_fmt(&name, "%s%s", qn_str_starts(a->words[1], "user.") ? "" : "user.", a->words[1]);
    if (a->values[OPTION_KEY_FILE])
        err = read_key(a->values[OPTION_KEY_FILE], &key, e);
    struct qn_jw w = qn_jw_to(out);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "model_name", qn_buf_cstr(&name));
    qn_jw_kstr(&w, "recipe", "remote");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (a->values[texts[i].option])
            qn_jw_kstr(&w, texts[i].member, a->values[texts[i].option]);
    if (key.len)
        qn_jw_kstr(&w, "api_key", key.data);
    if (context)
        qn_jw_ki64(&w, "context", context);
    write_labels(&w, a);
    qn_jw_key(&w, "upstreams");
    qn_jw_arr(&w);
    for (int i = 2; i < a->n_words; i++)
        write_upstream(&w, a->words[i]);
    qn_jw_arr_end(&w);
    qn_jw_obj_end(&w);
    qn_buf_deinit(&name);
    qn_buf_deinit(&key);
    return err ? err : out->overflow ? qn_fail(e, QN_EINVAL, "the definition is too long") : QN_OK;
}

static int add(struct qn_cli *cli, const struct qn_cli_args *a)
{
    struct qn_error e = {0};
    struct qn_buf body;
    struct qn_json *reply = NULL;
    qn_buf_init(&body, REQUEST_MAX);
    qn_err err = write_definition(a, &body, &e);
    if (!err)
        err = qn_launch_server(cli, &e);
    if (!err)
        err = qn_client_call(cli, "/api/v1/models/register", qn_buf_cstr(&body), CALL_TIMEOUT_S,
                             NULL, &reply, &e);
    qn_buf_deinit(&body);
    if (err)
        return qn_cli_failed(cli, &e);
    struct qn_jref root = qn_json_root(reply), name = qn_json_get(&root, "model_name");
    if (cli->json) {
        qn_print_json(&root);
    } else {
        fputs("Added ", stdout);
        qn_print_line(qn_json_raw_str(&name));
        fputs("Chat with it: quince run ", stdout);
        qn_print_line(qn_json_raw_str(&name));
    }
    qn_json_free(reply);
    return QN_EXIT_OK;
}

static void add_row(struct qn_table *t, const struct qn_jref *model, const struct qn_jref *upstream)
{
    struct qn_jref id = qn_json_get(model, "id"), url = qn_json_get(upstream, "url"),
                   weight = qn_json_get(upstream, "weight"), name = qn_json_get(upstream, "model"),
                   key = qn_json_get(upstream, "has_key");
    char number[16];
    snprintf(number, sizeof number, "%d", (int)qn_json_raw_f64(&weight));
    const char *cells[] = {qn_json_raw_str(&id), number, qn_json_raw_bool(&key) ? "yes" : "no",
                           *qn_json_raw_str(&name) ? qn_json_raw_str(&name) : "-",
                           qn_json_raw_str(&url)};
    qn_table_row(t, cells);
}

/* Adds a row for every server of every remote model. */
static size_t add_rows(struct qn_table *t, const struct qn_jref *models)
{
    struct qn_jref m, u;
    size_t n = 0;
    for (bool more = qn_json_first(models, &m); more; more = qn_json_next(&m)) {
        struct qn_jref remote = qn_json_get(&m, "remote"), list = qn_json_get(&remote, "upstreams");
        for (bool also = qn_json_first(&list, &u); also; also = qn_json_next(&u), n++)
            add_row(t, &m, &u);
    }
    return n;
}

static void print_remotes(const struct qn_jref *models)
{
    struct qn_buf out;
    struct qn_jw w;
    struct qn_jref m;
    qn_buf_init(&out, QN_CLIENT_REPLY_MAX);
    w = qn_jw_to(&out);
    qn_jw_arr(&w);
    for (bool more = qn_json_first(models, &m); more; more = qn_json_next(&m)) {
        struct qn_jref remote = qn_json_get(&m, "remote"), id = qn_json_get(&m, "id");
        if (qn_json_type(&remote) != QN_JSON_OBJECT)
            continue;
        qn_jw_obj(&w);
        qn_jw_kstr(&w, "id", qn_json_raw_str(&id));
        qn_jw_key(&w, "remote");
        qn_json_print(&remote, &out);
        w.comma = true;
        qn_jw_obj_end(&w);
    }
    qn_jw_arr_end(&w);
    puts(qn_buf_cstr(&out));
    qn_buf_deinit(&out);
}

static int list(const struct qn_cli *cli)
{
    static const char *const titles[] = {"Model", "Weight", "Key", "Name there", "Server"};
    struct qn_json *doc = NULL;
    struct qn_error e = {0};
    if (qn_client_call(cli, "/api/v1/models", NULL, CALL_TIMEOUT_S, NULL, &doc, &e))
        return qn_cli_failed(cli, &e);
    struct qn_jref root = qn_json_root(doc), models = qn_json_get(&root, "data");
    struct qn_table *t = qn_table_new(sizeof titles / sizeof *titles, titles);
    size_t n = add_rows(t, &models);
    if (cli->json)
        print_remotes(&models);
    else if (n)
        qn_table_print(t);
    else
        puts("No remote models; add one with: quince remote add NAME URL");
    qn_table_free(t);
    qn_json_free(doc);
    return QN_EXIT_OK;
}

int qn_cmd_remote(struct qn_cli *cli, const struct qn_cli_args *a)
{
    if (qn_str_eq(a->words[0], "list") && a->n_words == 1)
        return list(cli);
    if (qn_str_eq(a->words[0], "add") && a->n_words >= 3)
        return add(cli, a);
    return qn_cli_misused(cli, "usage: quince remote add NAME [WEIGHT*]URL... | list");
}
