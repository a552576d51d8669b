/* list: installed models, and models that can be downloaded. */
#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/entry.h"
#include "cli/pull.h"
#include "cli/table.h"
#include "cli/variants.h"

#include <stdio.h>
#include <unistd.h>

enum { CALL_TIMEOUT_S = 30, LABELS_MAX = 4096 };

enum { OPTION_ALL, OPTION_DOWNLOADED };

/* Whether a model is installed. */
enum place { HERE, AVAILABLE, UNSUPPORTED /* in the list, but no engine here can run it */ };

static bool shown(const struct qn_jref *it, enum place place, const char *filter)
{
    struct qn_jref here = qn_json_get(it, "downloaded"), why = qn_json_get(it, "unsupported");
    enum place is = qn_json_raw_bool(&here)    ? HERE
                    : qn_json_raw_str(&why)[0] ? UNSUPPORTED
                                               : AVAILABLE;
    return is == place && qn_entry_matches(it, filter);
}

static size_t count(const struct qn_jref *list, enum place place, const char *filter)
{
    struct qn_jref it;
    size_t n = 0;
    for (bool more = qn_json_first(list, &it); more; more = qn_json_next(&it))
        n += shown(&it, place, filter);
    return n;
}

static void print_local(const struct qn_jref *list, const char *filter)
{
    static const char *const titles[] = {"Model", "Size", "Params", "Quant", "Loaded", "Last used"};
    struct qn_table *t = qn_table_new(6, titles);
    struct qn_jref it;
    for (bool more = qn_json_first(list, &it); more; more = qn_json_next(&it)) {
        struct qn_entry m;
        if (!shown(&it, HERE, filter))
            continue;
        qn_entry_read(&it, &m);
        char bytes[16], params[16], when[11] = "never";
        qn_human_bytes(m.size_bytes, bytes);
        qn_human_count(m.parameters, params);
        if (m.last_use_s > 0)
            qn_wall_day(m.last_use_s, when);
        const char *cells[] = {m.id, bytes, params, m.quantization, m.loaded ? "yes" : "no", when};
        qn_table_row(t, cells);
    }
    qn_table_print(t);
    qn_table_free(t);
}

/* memory: bytes of the machine's memory; 0: unknown. */
static void print_available(const struct qn_jref *list, const char *filter, double memory)
{
    static const char *const titles[] = {"Model", "Size", "Labels"};
    struct qn_table *t = qn_table_new(3, titles);
    bool large = false;
    struct qn_buf labels;
    qn_buf_init(&labels, LABELS_MAX);
    struct qn_jref it;
    for (bool more = qn_json_first(list, &it); more; more = qn_json_next(&it)) {
        struct qn_entry m;
        if (!shown(&it, AVAILABLE, filter))
            continue;
        qn_entry_read(&it, &m);
        char bytes[16] = "-", size[24];
        if (m.size_bytes > 0)
            qn_human_bytes(m.size_bytes, bytes);
        bool fits = qn_fit_judge(m.size_bytes, memory) != QN_FIT_NOT;
        snprintf(size, sizeof size, "%s%s", bytes, fits ? "" : " !");
        large = large || !fits;
        qn_buf_clear(&labels);
        qn_entry_labels(&it, true, &labels);
        const char *cells[] = {m.id, size, qn_buf_cstr(&labels)};
        qn_table_row(t, cells);
    }
    qn_table_print(t);
    if (large)
        puts("\n! is too large for this machine's memory");
    qn_table_free(t);
    qn_buf_deinit(&labels);
}

static void print_tables(const struct qn_jref *list, const char *filter, bool all, double memory)
{
    size_t local = count(list, HERE, filter), available = count(list, AVAILABLE, filter);
    size_t unsupported = count(list, UNSUPPORTED, filter);
    if (all)
        puts("Local");
    if (local)
        print_local(list, filter);
    else
        puts(filter[0] ? "No installed model has this in its name"
                       : "No model is installed yet: quince pull NAME downloads one");
    if (all) {
        puts("\nAvailable for download");
        if (available)
            print_available(list, filter, memory);
        else
            puts(filter[0] ? "No model of the list has this in its name"
                           : "The server's list has no more models");
        if (unsupported)
            printf("\n"
                   "%zu more cannot be run here: quince show NAME gives the reason\n",
                   unsupported);
    } else if (available && (isatty(STDOUT_FILENO) || !local)) {
        printf("\n%zu more can be downloaded: quince list %s--all\n", available,
               filter[0] ? "FILTER " : "");
    }
}

/* Prints the server's entries as an array. */
static void print_json(const struct qn_jref *list, const char *filter, bool all)
{
    struct qn_buf b;
    qn_buf_init(&b, SIZE_MAX - 1);
    qn_buf_char(&b, '[');
    struct qn_jref it;
    for (bool more = qn_json_first(list, &it); more; more = qn_json_next(&it)) {
        bool here = shown(&it, HERE, filter);
        if (!here && !(all && qn_entry_matches(&it, filter)))
            continue;
        if (b.len > 1)
            qn_buf_char(&b, ',');
        qn_json_print(&it, &b);
    }
    qn_buf_char(&b, ']');
    puts(qn_buf_cstr(&b));
    qn_buf_deinit(&b);
}

int qn_cmd_list(struct qn_cli *cli, const struct qn_cli_args *a)
{
    struct qn_json *doc = NULL;
    struct qn_error e;
    bool all = a->values[OPTION_ALL] != NULL;
    if (all && a->values[OPTION_DOWNLOADED])
        return qn_cli_misused(cli, "--all and --downloaded exclude each other");
    if (qn_client_call(cli, "/api/v1/models?show_all=true", NULL, CALL_TIMEOUT_S, NULL, &doc, &e))
        return qn_cli_failed(cli, &e);
    struct qn_jref root = qn_json_root(doc), data = qn_json_get(&root, "data");
    const char *filter = a->n_words ? a->words[0] : "";
    if (cli->json)
        print_json(&data, filter, all);
    else
        print_tables(&data, filter, all, qn_pull_memory(cli));
    qn_json_free(doc);
    return QN_EXIT_OK;
}
