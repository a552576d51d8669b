/* serve, logs, version: about the server itself. */
#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/launch.h"
#include "cli/print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CALL_TIMEOUT_S = 30, LINES_DEFAULT = 100, LINES_MAX = 100000, FOLLOW_US = 500000 };

int qn_cmd_serve(struct qn_cli *cli, const struct qn_cli_args *a)
{
    size_t n = 0, rest = 0;
    char *program = qn_launch_program(), port[16];
    while (a->rest[rest])
        rest++;
    char **args = qn_xcalloc(rest + 6, sizeof *args);
    snprintf(port, sizeof port, "%d", cli->at.port);
    args[n++] = program;
    if (cli->at.named_host) {
        args[n++] = "--host";
        args[n++] = cli->at.host;
    }
    if (cli->at.named_port) {
        args[n++] = "--port";
        args[n++] = port;
    }
    memcpy(args + n, a->rest, rest * sizeof *args); /* the last of equal options counts */
    execv(program, args);
    struct qn_error e;
    qn_fail_errno(&e, "cannot start %s", program);
    free(args);
    free(program);
    return qn_cli_failed(cli, &e);
}

int qn_cmd_version(struct qn_cli *cli, const struct qn_cli_args *a)
{
    (void)a;
    if (cli->json)
        puts("{\"version\":\"" QN_VERSION "\"}");
    else
        puts("quince " QN_VERSION);
    return QN_EXIT_OK;
}

static void print_entries(const struct qn_cli *cli, const struct qn_jref *root)
{
    struct qn_jref entries = qn_json_get(root, "entries");
    struct qn_jref it;
    for (bool more = qn_json_first(&entries, &it); more; more = qn_json_next(&it)) {
        struct qn_jref line = qn_json_get(&it, "line");
        if (cli->json)
            qn_print_json(&it);
        else
            qn_print_line(qn_json_raw_str(&line));
    }
}

int qn_cmd_logs(struct qn_cli *cli, const struct qn_cli_args *a)
{
    bool follow = a->values[0] != NULL;
    int64_t lines = LINES_DEFAULT;
    if (a->values[1] && (!qn_parse_i64(a->values[1], &lines) || lines < 0 || lines > LINES_MAX))
        return qn_cli_misused(cli, "--lines needs a number from 0 to %d", LINES_MAX);
    int64_t after = -1;
    for (;;) {
        char path[128];
        if (after < 0)
            snprintf(path, sizeof path, "/api/v1/logs?lines=%lld", (long long)lines);
        else
            snprintf(path, sizeof path, "/api/v1/logs?after=%lld", (long long)after);
        struct qn_json *doc = NULL;
        struct qn_error e;
        if (qn_client_call(cli, path, NULL, CALL_TIMEOUT_S, NULL, &doc, &e))
            return qn_cli_failed(cli, &e);
        struct qn_jref root = qn_json_root(doc);
        struct qn_jref last = qn_json_get(&root, "last_seq");
        int64_t newest = (int64_t)qn_json_raw_f64(&last);
        print_entries(cli, &root);
        qn_json_free(doc);
        /* A server that was started anew counts from 1: then from its beginning. */
        after = newest < after ? 0 : newest;
        if (!follow)
            return QN_EXIT_OK;
        if (fflush(stdout) != 0)
            return QN_EXIT_FAILED;
        usleep(FOLLOW_US);
    }
}
