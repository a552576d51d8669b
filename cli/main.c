/* `quince`: the command line. One table of subcommands; global options may stand anywhere before
 * the subcommand or among its own. */
#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/cli.h"

#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct qn_cli_option import_options[] = {
    {"--name", "NAME", "the name it gets: user.NAME (default: from the file's name)"},
    {0},
};
static const struct qn_cli_option run_options[] = {
    {"--system", "TEXT", "a system message to begin with"},
    {"--max-tokens", "N", "longest answer, in tokens"},
    {"--temperature", "T", "randomness; 0 always takes the likeliest token"},
    {0},
};
static const struct qn_cli_option logs_options[] = {
    {"--follow", NULL, "go on printing until Ctrl-C"},
    {"--lines", "N", "how many lines to begin with (default 100)"},
    {0},
};
static const struct qn_cli_option load_options[] = {
    {"--ctx-size", "N", "tokens of context each conversation gets"},
    {0},
};

static int cmd_help(struct qn_cli *cli, const struct qn_cli_args *a, int argc, char **argv);

static const struct qn_cli_command commands[] = {
    {"serve", "serve [OPTIONS OF quinced]", "start the server in the foreground",
     "Every option goes to quinced: see `quinced --help`.", NULL, 0, 0, true, qn_cmd_serve},
    {"status", "status", "is the server running, and what is loaded?", NULL, NULL, 0, 0, false,
     qn_cmd_status},
    {"list", "list [FILTER]", "the models this server knows", NULL, NULL, 0, 1, false, qn_cmd_list},
    {"import", "import FILE.gguf [--name user.NAME]",
     "make a local GGUF file known, without copying it",
     "The file stays where it is; quince never moves or deletes it.", import_options, 1, 1, false,
     qn_cmd_import},
    {"load", "load MODEL", "load a model into memory", NULL, load_options, 1, 1, false,
     qn_cmd_load},
    {"unload", "unload [MODEL]", "free a model's memory; without a name, every model's",
     "Files stay where they are.", NULL, 0, 1, false, qn_cmd_unload},
    {"run", "run MODEL [PROMPT]", "chat with a model in the terminal",
     "With PROMPT, or with text piped in, prints one answer and ends.\n"
     "In the chat: /help /clear /system /stats /exit; Ctrl-C stops an answer, Ctrl-D leaves.\n"
     "A line that ends in \\ goes on in the next; \"\"\" begins and ends a text of many lines.",
     run_options, 1, 2, false, qn_cmd_run},
    {"chat", "chat [PROMPT]", "the same with the model used last", NULL, run_options, 0, 1, false,
     qn_cmd_chat},
    {"logs", "logs [--follow] [--lines N]", "the server's log", NULL, logs_options, 0, 0, false,
     qn_cmd_logs},
    {"version", "version", "this program's version", NULL, NULL, 0, 0, false, qn_cmd_version},
    {"help", "help [COMMAND]", "this text, or more about one command", NULL, NULL, 0, 1, false,
     cmd_help},
};

static const struct qn_cli_command *find_command(const char *name)
{
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (qn_str_eq(commands[i].name, name))
            return &commands[i];
    return NULL;
}

static void print_overview(FILE *out)
{
    fputs("quince: talk to local AI models\n\nusage: quince [OPTIONS] COMMAND\n\n", out);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        fprintf(out, "  %-22.22s %s\n", commands[i].usage[0] ? commands[i].name : "",
                commands[i].summary);
    fputs(
        "\noptions for every command:\n"
        "  --host HOST            the server's host, or its URL (QUINCE_HOST; default localhost)\n"
        "  --port PORT            the server's port (QUINCE_PORT; default 13305)\n"
        "  --api-key KEY          sent to the server (QUINCE_API_KEY)\n"
        "  --json                 machine-readable output\n"
        "  --help, --version\n\n"
        "`quince help COMMAND` says more. First chat: quince run quince-starter\n",
        out);
}

static void print_command(const struct qn_cli_command *c, FILE *out)
{
    fprintf(out, "usage: quince %s\n\n%s.\n", c->usage, c->summary);
    if (c->details)
        fprintf(out, "%s\n", c->details);
    for (const struct qn_cli_option *o = c->options; o && o->name; o++) {
        char left[40];
        snprintf(left, sizeof left, "%s %s", o->name, o->value ? o->value : "");
        fprintf(out, "%s  %-22s %s\n", o == c->options ? "\n" : "", left, o->help);
    }
}

static int cmd_help(struct qn_cli *cli, const struct qn_cli_args *a, int argc, char **argv)
{
    (void)cli;
    (void)argc;
    (void)argv;
    if (a->n_words == 0) {
        print_overview(stdout);
        return QN_EXIT_OK;
    }
    const struct qn_cli_command *c = find_command(a->words[0]);
    if (!c) {
        fprintf(stderr, "quince: there is no command '%s'; `quince help` lists them\n",
                a->words[0]);
        return QN_EXIT_USAGE;
    }
    print_command(c, stdout);
    return QN_EXIT_OK;
}

int qn_cli_failed(const struct qn_cli *cli, const struct qn_error *e)
{
    if (cli->json) {
        struct qn_buf b;
        qn_buf_init(&b, 64 * 1024);
        struct qn_jw w = qn_jw_to(&b);
        qn_jw_obj(&w);
        qn_jw_key(&w, "error");
        qn_jw_obj(&w);
        qn_jw_kstr(&w, "message", e->message);
        qn_jw_kstr(&w, "code", qn_err_name(e->code));
        qn_jw_obj_end(&w);
        qn_jw_obj_end(&w);
        puts(qn_buf_cstr(&b));
        qn_buf_deinit(&b);
    } else {
        fprintf(stderr, "quince: %s\n", e->message);
    }
    return QN_EXIT_FAILED;
}

static int usage_error(const char *fmt, const char *what)
{
    fputs("quince: ", stderr);
    fprintf(stderr, fmt, what);
    fputs("\n", stderr);
    return QN_EXIT_USAGE;
}

/* What the global options and the environment say of the server. */
struct target {
    const char *host, *port, *api_key;
    bool json, help, version;
};

static bool is_local(const char *host)
{
    return qn_str_eq(host, "localhost") || qn_str_eq(host, "127.0.0.1") || qn_str_eq(host, "::1") ||
           qn_str_eq(host, "[::1]");
}

/* "--name value" and "--name=value"; *value is NULL when argv[i] is not this option. */
static int take_option(const char *name, bool wants_value, int argc, char **argv, int i,
                       const char **value)
{
    size_t n = strlen(name);
    *value = NULL;
    if (strncmp(argv[i], name, n) != 0)
        return 0;
    if (argv[i][n] == '=' && wants_value) {
        *value = argv[i] + n + 1;
        return 1;
    }
    if (argv[i][n] != '\0')
        return 0;
    if (!wants_value) {
        *value = "";
        return 1;
    }
    if (i + 1 >= argc)
        return -1;
    *value = argv[i + 1];
    return 2;
}

static int take_global(struct target *t, int argc, char **argv, int i)
{
    const char *v;
    int n = take_option("--host", true, argc, argv, i, &v);
    if (n) {
        t->host = v;
        return n;
    }
    n = take_option("--port", true, argc, argv, i, &v);
    if (n) {
        t->port = v;
        return n;
    }
    n = take_option("--api-key", true, argc, argv, i, &v);
    if (n) {
        t->api_key = v;
        return n;
    }
    if (qn_str_eq(argv[i], "--json"))
        t->json = true;
    else if (qn_str_eq(argv[i], "--help") || qn_str_eq(argv[i], "-h"))
        t->help = true;
    else if (qn_str_eq(argv[i], "--version"))
        t->version = true;
    else
        return 0;
    return 1;
}

/* host may be a name, an address, or a URL with its own port. */
static bool resolve_target(const struct target *t, struct qn_cli *cli)
{
    const char *host = t->host ? t->host : getenv("QUINCE_HOST");
    const char *port_text = t->port ? t->port : getenv("QUINCE_PORT");
    if (!host || !host[0] || qn_str_eq(host, "0.0.0.0") || qn_str_eq(host, "::"))
        host = "localhost";
    int64_t port = QN_CLI_PORT;
    if (port_text && port_text[0] && (!qn_parse_i64(port_text, &port) || port < 1 || port > 65535))
        return false;
    cli->port = (int)port;
    cli->local = is_local(host);
    cli->api_key = t->api_key ? t->api_key : getenv("QUINCE_API_KEY");
    if (cli->api_key && !cli->api_key[0])
        cli->api_key = NULL;
    cli->json = t->json;
    struct qn_buf url;
    qn_buf_init(&url, 4096);
    if (strstr(host, "://")) {
        qn_buf_str(&url, host);
        while (url.len && url.data[url.len - 1] == '/')
            url.data[--url.len] = '\0';
    } else {
        bool v6 = strchr(host, ':') && host[0] != '[' && strchr(host, ':') != strrchr(host, ':');
        bool has_port = !v6 && host[0] != '[' && strchr(host, ':');
        qn_buf_fmt(&url, v6 ? "http://[%s]" : "http://%s", host);
        if (!has_port)
            qn_buf_fmt(&url, ":%d", (int)port);
    }
    cli->base_url = qn_buf_take(&url);
    return true;
}

/* Sorts a subcommand's arguments into options and words. Returns an exit status, or -1 to go on. */
static int sort_args(const struct qn_cli_command *c, struct target *t, int argc, char **argv,
                     struct qn_cli_args *a)
{
    bool words_only = false;
    for (int i = 0; i < argc;) {
        if (!words_only && qn_str_eq(argv[i], "--")) {
            words_only = true;
            i++;
            continue;
        }
        if (!words_only && argv[i][0] == '-' && argv[i][1] != '\0') {
            int n = take_global(t, argc, argv, i);
            for (int o = 0; n == 0 && c->options && c->options[o].name; o++) {
                const char *v;
                n = take_option(c->options[o].name, c->options[o].value != NULL, argc, argv, i, &v);
                if (n > 0)
                    a->values[o] = v;
            }
            if (n < 0)
                return usage_error("%s needs a value", argv[i]);
            if (n == 0)
                return usage_error("unknown option '%s'; `quince help` shows what there is",
                                   argv[i]);
            i += n;
            continue;
        }
        if (a->n_words == c->max_words)
            return usage_error("unexpected argument '%s' (quote a prompt of several words)",
                               argv[i]);
        a->words[a->n_words++] = argv[i++];
    }
    if (t->help) {
        print_command(c, stdout);
        return QN_EXIT_OK;
    }
    if (a->n_words < c->min_words)
        return usage_error("usage: quince %s", c->usage);
    return -1;
}

int main(int argc, char **argv)
{
    setlocale(LC_CTYPE, "");
    signal(SIGPIPE, SIG_IGN); /* a reader that leaves shows up as a write error */
    struct target t = {0};
    int i = 1;
    while (i < argc && argv[i][0] == '-') {
        int n = take_global(&t, argc, argv, i);
        if (n < 0)
            return usage_error("%s needs a value", argv[i]);
        if (n == 0)
            return usage_error("unknown option '%s'; `quince help` shows what there is", argv[i]);
        i += n;
    }
    if (t.version)
        return qn_cmd_version(NULL, NULL, 0, NULL);
    if (i == argc) {
        print_overview(t.help ? stdout : stderr);
        return t.help ? QN_EXIT_OK : QN_EXIT_USAGE;
    }
    const struct qn_cli_command *c = find_command(argv[i]);
    if (!c)
        return usage_error("there is no command '%s'; `quince help` lists them", argv[i]);
    i++;
    struct qn_cli_args args = {0};
    if (!c->raw) {
        int status = sort_args(c, &t, argc - i, argv + i, &args);
        if (status >= 0)
            return status;
    }
    struct qn_cli cli = {0};
    if (!resolve_target(&t, &cli))
        return usage_error("%s", "the port must be a number from 1 to 65535");
    int status = c->run(&cli, &args, argc - i, argv + i);
    free(cli.base_url);
    if (fflush(stdout) != 0 && status == QN_EXIT_OK)
        status = QN_EXIT_FAILED;
    return status;
}
