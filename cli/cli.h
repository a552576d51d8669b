/* What every subcommand of `quince` gets: where the server is, how to print, its own arguments. */
#ifndef QN_CLI_CLI_H
#define QN_CLI_CLI_H

#include "base/error.h"
#include "cli/target.h"

#include <stdbool.h>
#include <stddef.h>

/* Exit statuses: scripts depend on them. */
enum { QN_EXIT_OK = 0, QN_EXIT_FAILED = 1, QN_EXIT_USAGE = 2 };

struct qn_cli {
    struct qn_target at;   /* the server */
    const char *api_key;   /* NULL: none */
    const char *admin_key; /* for what changes the server itself; NULL: none */
    bool json;             /* machine-readable output */
};

/* An option of a subcommand: "--name" with or without a value, or with two. */
struct qn_cli_option {
    const char *name;  /* "--system" */
    const char *value; /* what stands for the value in the help, NULL: a switch */
    const char *help;
    const char *second; /* what stands for a second value, NULL: there is none */
};

enum { QN_CLI_OPTIONS_MAX = 16, QN_CLI_WORDS_MAX = 64, QN_CLI_GIVEN_MAX = 64 };

/* An option as it was given: some may be given more than once. */
struct qn_cli_given {
    int option;                 /* its place in the option table */
    const char *value, *second; /* "" for a switch; second: NULL when it takes one value */
};

struct qn_cli_args {
    const char *values[QN_CLI_OPTIONS_MAX];      /* by the option table's order, the last one given;
                                                    NULL: not given; "" for a switch */
    struct qn_cli_given given[QN_CLI_GIVEN_MAX]; /* all, in order */
    int n_given;
    const char *words[QN_CLI_WORDS_MAX]; /* what is not an option */
    int n_words;
    char **rest; /* of a raw command: everything after its name, NULL at the end */
};

struct qn_cli_command {
    const char *name;
    const char *usage;                   /* "run MODEL [PROMPT]" */
    const char *summary;                 /* one line */
    const char *details;                 /* more lines for `quince help NAME`, or NULL */
    const struct qn_cli_option *options; /* ends with a NULL name; may be NULL */
    int min_words, max_words;            /* at most QN_CLI_WORDS_MAX */
    bool raw;                            /* takes its arguments as they are (serve) */
    int (*run)(struct qn_cli *cli, const struct qn_cli_args *args);
};

/* Tells why a command failed and returns QN_EXIT_FAILED: "quince: message" on stderr, or with
 * --json {"error":{"message","code"}} on stdout. */
int qn_cli_failed(const struct qn_cli *cli, const struct qn_error *e);

/* The same for a wrong command line; returns QN_EXIT_USAGE. */
int qn_cli_misused(const struct qn_cli *cli, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

int qn_cmd_serve(struct qn_cli *cli, const struct qn_cli_args *a);
int qn_cmd_stop(struct qn_cli *cli, const struct qn_cli_args *a);
int qn_cmd_status(struct qn_cli *cli, const struct qn_cli_args *a);
int qn_cmd_ps(struct qn_cli *cli, const struct qn_cli_args *a);
int qn_cmd_stats(struct qn_cli *cli, const struct qn_cli_args *a);
int qn_cmd_top(struct qn_cli *cli, const struct qn_cli_args *a);
int qn_cmd_list(struct qn_cli *cli, const struct qn_cli_args *a);
int qn_cmd_show(struct qn_cli *cli, const struct qn_cli_args *a);
int qn_cmd_search(struct qn_cli *cli, const struct qn_cli_args *a);
int qn_cmd_delete(struct qn_cli *cli, const struct qn_cli_args *a);
int qn_cmd_pull(struct qn_cli *cli, const struct qn_cli_args *a);
int qn_cmd_downloads(struct qn_cli *cli, const struct qn_cli_args *a);
int qn_cmd_export(struct qn_cli *cli, const struct qn_cli_args *a);
int qn_cmd_alias(struct qn_cli *cli, const struct qn_cli_args *a);
int qn_cmd_backends(struct qn_cli *cli, const struct qn_cli_args *a);
int qn_cmd_config(struct qn_cli *cli, const struct qn_cli_args *a);
int qn_cmd_keys(struct qn_cli *cli, const struct qn_cli_args *a);
int qn_cmd_cleanup(struct qn_cli *cli, const struct qn_cli_args *a);
int qn_cmd_import(struct qn_cli *cli, const struct qn_cli_args *a);
int qn_cmd_remote(struct qn_cli *cli, const struct qn_cli_args *a);
int qn_cmd_load(struct qn_cli *cli, const struct qn_cli_args *a);
int qn_cmd_unload(struct qn_cli *cli, const struct qn_cli_args *a);
int qn_cmd_pin(struct qn_cli *cli, const struct qn_cli_args *a);
int qn_cmd_unpin(struct qn_cli *cli, const struct qn_cli_args *a);
int qn_cmd_run(struct qn_cli *cli, const struct qn_cli_args *a);
int qn_cmd_chat(struct qn_cli *cli, const struct qn_cli_args *a);
int qn_cmd_logs(struct qn_cli *cli, const struct qn_cli_args *a);
int qn_cmd_completion(struct qn_cli *cli, const struct qn_cli_args *a);
int qn_cmd_version(struct qn_cli *cli, const struct qn_cli_args *a);
int qn_cmd_help(struct qn_cli *cli, const struct qn_cli_args *a);

#endif
