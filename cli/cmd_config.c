/* config: the settings of the running server or, if none runs, config.json itself. */
#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/offline.h"
#include "cli/print.h"
#include "cli/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALL_TIMEOUT_S = 30, BODY_MAX = 256 * 1024, VALUE_MAX = 64 * 1024 };

/* Texts without quotes, other values as JSON. */
static void value_text(const struct qn_jref *value, struct qn_buf *out)
{
    if (qn_json_type(value) == QN_JSON_STRING)
        qn_buf_str(out, qn_json_raw_str(value));
    else
        qn_json_print(value, out);
}

static void print_settings(const struct qn_jref *settings)
{
    static const char *const titles[] = {"Setting", "From", "Value"};
    struct qn_table *t = qn_table_new(3, titles);
    struct qn_jref it;
    bool waits = false;
    for (bool more = qn_json_first(settings, &it); more; more = qn_json_next(&it)) {
        struct qn_jref name = qn_json_get(&it, "name"), value = qn_json_get(&it, "value");
        struct qn_jref from = qn_json_get(&it, "from");
        struct qn_jref restart = qn_json_get(&it, "restart_required");
        struct qn_buf text;
        qn_buf_init(&text, VALUE_MAX);
        value_text(&value, &text);
        if (qn_json_raw_bool(&restart))
            qn_buf_str(&text, " *");
        waits = waits || qn_json_raw_bool(&restart);
        const char *cells[] = {qn_json_raw_str(&name), qn_json_raw_str(&from), qn_buf_cstr(&text)};
        qn_table_row(t, cells);
        qn_buf_deinit(&text);
    }
    qn_table_print(t);
    qn_table_free(t);
    if (waits)
        puts("* takes effect at the server's next start");
}

/* Prints what is invalid in the file, and how to correct it. */
static void print_problems(const struct qn_jref *settings)
{
    struct qn_jref it;
    for (bool more = qn_json_first(settings, &it); more; more = qn_json_next(&it)) {
        struct qn_jref name = qn_json_get(&it, "name"), problem = qn_json_get(&it, "problem");
        if (qn_json_type(&problem) != QN_JSON_STRING)
            continue;
        fputs("The next server will not start: ", stderr);
        qn_print_safe(stderr, qn_json_raw_str(&problem));
        fputs("\n  quince config reset ", stderr);
        qn_print_safe(stderr, qn_json_raw_str(&name));
        fputs(" removes it\n", stderr);
    }
}

static bool same_name(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if ((*a == '_' || *a == '.' ? '-' : *a) != (*b == '_' || *b == '.' ? '-' : *b))
            return false;
    return *a == *b;
}

/* Prints one setting's value without its name, for scripts. */
static int print_one(const struct qn_cli *cli, const struct qn_jref *settings, const char *wanted)
{
    struct qn_jref it;
    for (bool more = qn_json_first(settings, &it); more; more = qn_json_next(&it)) {
        struct qn_jref name = qn_json_get(&it, "name"), value = qn_json_get(&it, "value");
        if (!same_name(qn_json_raw_str(&name), wanted))
            continue;
        if (cli->json) {
            qn_print_json(&value);
        } else {
            struct qn_buf text;
            qn_buf_init(&text, VALUE_MAX);
            value_text(&value, &text);
            qn_print_line(qn_buf_cstr(&text));
            qn_buf_deinit(&text);
        }
        return QN_EXIT_OK;
    }
    return qn_cli_misused(cli, "there is no setting '%.80s': `quince config` lists them", wanted);
}

/* Prints {"name": value} for all rows, in the form of GET /internal/config. */
static void print_values(const struct qn_jref *settings)
{
    struct qn_buf text;
    struct qn_jref it;
    struct qn_json *doc;
    qn_buf_init(&text, BODY_MAX);
    struct qn_jw w = qn_jw_to(&text);
    qn_jw_obj(&w);
    for (bool more = qn_json_first(settings, &it); more; more = qn_json_next(&it)) {
        struct qn_jref name = qn_json_get(&it, "name"), value = qn_json_get(&it, "value");
        char *key = qn_xstrdup(qn_json_raw_str(&name));
        for (char *p = key; *p; p++)
            *p = *p == '-' ? '_' : *p;
        qn_jw_key(&w, key);
        qn_jw_value(&w, &value);
        free(key);
    }
    qn_jw_obj_end(&w);
    if (!qn_json_parse(qn_buf_cstr(&text), text.len, &doc, NULL)) {
        struct qn_jref root = qn_json_root(doc);
        qn_print_json(&root);
        qn_json_free(doc);
    }
    qn_buf_deinit(&text);
}

static int show(const struct qn_cli *cli, const char *name)
{
    static const char *const list[] = {"list"};
    struct qn_json *doc = NULL;
    struct qn_error e;
    bool all = cli->json && !name, offline = qn_offline_is(cli);
    qn_err err =
        offline ? qn_offline_config(list, 1, &doc, &e)
                : qn_client_call(cli, all ? "/internal/config" : "/internal/config?details=true",
                                 NULL, CALL_TIMEOUT_S, NULL, &doc, &e);
    if (err)
        return qn_cli_failed(cli, &e);
    struct qn_jref root = qn_json_root(doc), settings = qn_json_get(&root, "settings");
    int status = QN_EXIT_OK;
    if (all && offline)
        print_values(&settings);
    else if (all)
        qn_print_json(&root);
    else if (name)
        status = print_one(cli, &settings, name);
    else
        print_settings(&settings);
    if (offline)
        print_problems(&settings);
    qn_json_free(doc);
    return status;
}

/* Converts arguments NAME=VALUE or (reset) NAME to the body of a request. */
static int write_changes(const struct qn_cli *cli, const struct qn_cli_args *a, bool reset,
                         struct qn_buf *body)
{
    struct qn_jw w = qn_jw_to(body);
    qn_jw_obj(&w);
    for (int i = 1; i < a->n_words; i++) {
        const char *word = a->words[i], *equals = strchr(word, '=');
        if (reset == (equals != NULL) || equals == word)
            return qn_cli_misused(cli,
                                  reset ? "'%.80s' is not a name: quince config reset NAME..."
                                        : "'%.80s' is not NAME=VALUE: quince config set "
                                          "NAME=VALUE...",
                                  word);
        char *name = equals ? qn_xstrndup(word, (size_t)(equals - word)) : qn_xstrdup(word);
        if (reset)
            qn_jw_knull(&w, name);
        else
            qn_jw_kstr(&w, name, equals + 1);
        free(name);
    }
    qn_jw_obj_end(&w);
    return body->overflow ? qn_cli_misused(cli, "the changes have more than %d bytes", BODY_MAX)
                          : QN_EXIT_OK;
}

static void print_names(const struct qn_jref *names, const char *what)
{
    struct qn_jref it;
    for (bool more = qn_json_first(names, &it); more; more = qn_json_next(&it)) {
        qn_print_safe(stdout, qn_json_raw_str(&it));
        puts(what);
    }
}

static void print_changed(const struct qn_jref *reply)
{
    struct qn_jref problem = qn_json_get(reply, "problem");
    struct qn_jref updated = qn_json_get(reply, "updated"), it;
    struct qn_jref restart = qn_json_get(reply, "restart_required");
    struct qn_jref overridden = qn_json_get(reply, "overridden");
    for (bool more = qn_json_first(&updated, &it); more; more = qn_json_next(&it)) {
        qn_print_safe(stdout, it.key);
        if (qn_json_type(&it) == QN_JSON_NULL) {
            puts(" is no longer set in config.json");
            continue;
        }
        fputs(" = ", stdout);
        qn_print_line(qn_json_raw_str(&it));
    }
    print_names(&restart, " takes effect at the server's next start");
    print_names(
        &overridden,
        " is saved, but a flag or an environment variable of the running server overrides it");
    if (qn_json_type(&problem) == QN_JSON_STRING) {
        fputs("The next server will not start: ", stderr);
        qn_print_safe(stderr, qn_json_raw_str(&problem));
        fputs("\n", stderr);
    }
}

static int change(const struct qn_cli *cli, const struct qn_cli_args *a, bool reset)
{
    struct qn_json *doc = NULL;
    struct qn_error e;
    struct qn_buf body;
    qn_buf_init(&body, BODY_MAX);
    int status = write_changes(cli, a, reset, &body);
    if (status == QN_EXIT_OK) {
        qn_err err = qn_offline_is(cli) ? qn_offline_config(a->words, a->n_words, &doc, &e)
                                        : qn_client_call(cli, "/internal/set", qn_buf_cstr(&body),
                                                         CALL_TIMEOUT_S, NULL, &doc, &e);
        if (err) {
            status = qn_cli_failed(cli, &e);
        } else {
            struct qn_jref root = qn_json_root(doc);
            if (cli->json)
                qn_print_json(&root);
            else
                print_changed(&root);
        }
    }
    qn_json_free(doc);
    qn_buf_deinit(&body);
    return status;
}

int qn_cmd_config(struct qn_cli *cli, const struct qn_cli_args *a)
{
    const char *first = a->n_words ? a->words[0] : NULL;
    bool set = qn_str_eq(first, "set"), reset = qn_str_eq(first, "reset");
    if ((set || reset) && a->n_words > 1)
        return change(cli, a, reset);
    if (set || reset || a->n_words > 1)
        return qn_cli_misused(cli, "usage: quince config [NAME | set NAME=VALUE... | reset "
                                   "NAME...]");
    return show(cli, first);
}
