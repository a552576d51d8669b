/* serve, version: starts the server, prints its version. */
#include "base/buf.h"
#include "cli/cli.h"
#include "cli/launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    /* the user's options come last, and the last of equal options is used */
    memcpy(args + n, a->rest, rest * sizeof *args);
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
