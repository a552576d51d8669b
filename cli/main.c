/* `quince`: the command line. Options that all commands accept may come before the command or after
 * it; the table of commands is in commands.c. */
#include "base/str.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/config.h"
#include "cli/launch.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* All texts are UTF-8, as the server uses no other encoding. Widths of characters and line editing
 * need a matching locale. */
static void use_utf8(void)
{
    setlocale(LC_CTYPE, "");
    if (!qn_str_eq(nl_langinfo(CODESET), "UTF-8"))
        setlocale(LC_CTYPE, "C.UTF-8");
}

/* Whether --json is among the arguments. Usage errors are reported as JSON even if --json comes
 * after the mistake. */
static bool mentions_json(int argc, char **argv)
{
    for (int i = 1; i < argc && !qn_str_eq(argv[i], "--"); i++)
        if (qn_str_eq(argv[i], "--json"))
            return true;
    return false;
}

static const char *given(const char *option, const char *env_name)
{
    const char *value = option ? option : getenv(env_name);
    return value && value[0] ? value : NULL;
}

/* A key given as an option is used for all requests. An admin key also has the rights of an API
 * key, but is sent only where it is needed, unless there is no other key. */
static void take_keys(struct qn_cli *cli, const struct qn_globals *g)
{
    const char *api = given(g->api_key, "QUINCE_API_KEY");
    const char *admin = given(g->api_key, "QUINCE_ADMIN_API_KEY");
    if (!api)
        api = given(NULL, "LEMONADE_API_KEY");
    if (!admin)
        admin = given(NULL, "LEMONADE_ADMIN_API_KEY");
    cli->api_key = api ? api : admin;
    cli->admin_key = admin ? admin : api;
}

/* Whether the key cannot be the value of an HTTP header. */
static bool bad_key(const char *key)
{
    for (; key && *key; key++)
        if ((unsigned char)*key < 0x20 || *key == 0x7f)
            return true;
    return false;
}

/* If a host is given, config.json is ignored; otherwise the server's own config.json may provide
 * the address. */
static qn_err find_server(struct qn_cli *cli, const struct qn_globals *g, struct qn_error *e)
{
    const char *host = given(g->host, "QUINCE_HOST"), *port_env = given(NULL, "QUINCE_PORT");
    struct qn_config config = {0};
    if (!host) {
        char *data_dir = qn_launch_data_dir();
        if (data_dir)
            qn_config_read(&config, data_dir);
        free(data_dir);
    }
    qn_err err = qn_target_parse(&cli->at, host ? host : config.host, g->port,
                                 port_env ? port_env : config.port, e);
    cli->at.named_host = host != NULL;
    qn_config_deinit(&config);
    return err;
}

static int run(struct qn_cli *cli, int argc, char **argv)
{
    struct qn_globals g = {0};
    struct qn_cli_args args = {0};
    struct qn_error e = {0};
    int i = 1;
    cli->json = mentions_json(argc, argv);
    if (qn_args_globals(&g, argc, argv, &i, &e))
        return qn_cli_misused(cli, "%s", e.message);
    if (g.version)
        return qn_cmd_version(cli, &args);
    if (i == argc) {
        qn_commands_print(g.help ? stdout : stderr);
        return g.help ? QN_EXIT_OK : QN_EXIT_USAGE;
    }
    const struct qn_cli_command *c = qn_commands_find(argv[i]);
    if (!c)
        return qn_commands_unknown(cli, argv[i]);
    i++;
    if (qn_args_sort(c, &g, argc - i, argv + i, &args, &e))
        return qn_cli_misused(cli, "%s", e.message);
    if (g.help) {
        qn_commands_print_one(c, stdout);
        return QN_EXIT_OK;
    }
    cli->json = g.json;
    take_keys(cli, &g);
    if (bad_key(cli->api_key) || bad_key(cli->admin_key))
        return qn_cli_misused(cli, "the API key has a line break or another control character");
    if (find_server(cli, &g, &e))
        return qn_cli_misused(cli, "%s", e.message);
    if (cli->at.port == 0 && !c->raw)
        return qn_cli_misused(cli, "the port must be a number from 1 to 65535");
    return c->run(cli, &args);
}

/* Whether all output was written. A closed pipe (`| head`) is not reported, a full disk is. */
static bool output_arrived(void)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return true;
    int why = errno;
    struct pollfd out = {.fd = STDOUT_FILENO};
    if (poll(&out, 1, 0) != 1 || !(out.revents & POLLERR))
        fprintf(stderr, "quince: the output cannot be written%s%s\n", why ? ": " : "",
                why ? strerror(why) : "");
    return false;
}

int main(int argc, char **argv)
{
    struct qn_cli cli = {0};
    use_utf8();
    signal(SIGPIPE, SIG_IGN); /* so that a closed pipe is a write error */
    int status = run(&cli, argc, argv);
    qn_target_deinit(&cli.at);
    if (!output_arrived() && status == QN_EXIT_OK)
        status = QN_EXIT_FAILED;
    return status;
}
