/* search: finds models on a hub by words. */
#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/print.h"
#include "cli/table.h"

#include <stdio.h>

enum { CALL_TIMEOUT_S = 60, PATH_LIMIT = 16 * 1024, LIMIT_MAX = 50, DAY_CHARS = 10 };

enum { OPTION_LIMIT, OPTION_SOURCE, OPTION_ANY };

static void print_results(const struct qn_jref *results)
{
    static const char *const titles[] = {"Repository", "Downloads", "Likes", "Changed", "Note"};
    struct qn_table *t = qn_table_new(5, titles);
    struct qn_jref it;
    for (bool more = qn_json_first(results, &it); more; more = qn_json_next(&it)) {
        struct qn_jref id = qn_json_get(&it, "repository_id");
        struct qn_jref downloads = qn_json_get(&it, "downloads"), likes = qn_json_get(&it, "likes");
        struct qn_jref updated = qn_json_get(&it, "updated"), gguf = qn_json_get(&it, "has_gguf");
        struct qn_jref gated = qn_json_get(&it, "gated");
        char fetched[16], liked[16], day[DAY_CHARS + 1];
        qn_human_count(qn_json_raw_f64(&downloads), fetched);
        qn_human_count(qn_json_raw_f64(&likes), liked);
        snprintf(day, sizeof day, "%s", qn_json_raw_str(&updated));
        const char *note = qn_json_raw_bool(&gated)   ? "needs a token"
                           : !qn_json_raw_bool(&gguf) ? "no GGUF files"
                                                      : "";
        const char *cells[] = {qn_json_raw_str(&id), fetched, liked, day, note};
        qn_table_row(t, cells);
    }
    qn_table_print(t);
    qn_table_free(t);
}

int qn_cmd_search(struct qn_cli *cli, const struct qn_cli_args *a)
{
    int64_t limit = 20;
    const char *given = a->values[OPTION_LIMIT], *source = a->values[OPTION_SOURCE];
    if (given && (!qn_parse_i64(given, &limit) || limit < 1 || limit > LIMIT_MAX))
        return qn_cli_misused(cli, "--limit needs a number from 1 to %d", LIMIT_MAX);
    struct qn_buf path;
    qn_buf_init(&path, PATH_LIMIT);
    qn_buf_str(&path, "/api/v1/registry/search?query=");
    for (int i = 0; i < a->n_words; i++) {
        qn_buf_str(&path, i ? "%20" : "");
        qn_client_escape(&path, a->words[i], false);
    }
    qn_buf_fmt(&path, "&limit=%lld", (long long)limit);
    if (source) {
        qn_buf_str(&path, "&source=");
        qn_client_escape(&path, source, false);
    }
    if (!a->values[OPTION_ANY])
        qn_buf_str(&path, "&format=gguf");
    struct qn_json *doc = NULL;
    struct qn_error e;
    qn_err err = path.overflow
                     ? qn_fail(&e, QN_EINVAL, "the query is too long")
                     : qn_client_call(cli, path.data, NULL, CALL_TIMEOUT_S, NULL, &doc, &e);
    if (!err) {
        struct qn_jref root = qn_json_root(doc), results = qn_json_get(&root, "results");
        if (cli->json)
            qn_print_json(&results);
        else if (qn_json_count(&results) == 0)
            puts("Nothing was found; fewer or shorter words find more");
        else
            print_results(&results);
    }
    qn_json_free(doc);
    qn_buf_deinit(&path);
    return err ? qn_cli_failed(cli, &e) : QN_EXIT_OK;
}
