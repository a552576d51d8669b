/* The context of every subcommand of `quince`: the server's address, the form of the output, the
 * arguments. */
#ifndef QN_CLI_CLI_H
#define QN_CLI_CLI_H

#include "base/error.h"
#include "cli/target.h"

#include <stdbool.h>
#include <stddef.h>

/* Exit statuses, which scripts rely on. */
enum { QN_EXIT_OK = 0, QN_EXIT_FAILED = 1, QN_EXIT_USAGE = 2 };

struct qn_cli {
    struct qn_target at;   /* the server's address */
    const char *api_key;   /* NULL: none */
    const char *admin_key; /* for requests that need an admin; NULL: none */
    bool json;             /* machine-readable output */
};

/* An option of a subcommand: "--name" without a value, with one or with two. */
struct qn_cli_option {
    const char *name;  /* "--system" */
    const char *value; /* placeholder for the value in the help; NULL: a switch */
    const char *help;
    const char *second; /* placeholder for a second value; NULL: none */
};

enum { QN_CLI_OPTIONS_MAX = 16, QN_CLI_WORDS_MAX = 64, QN_CLI_GIVEN_MAX = 64 };

/* One occurrence of an option; some options may be given more than once. */
struct qn_cli_given {
    int option;                 /* index in the option table */
    const char *value, *second; /* "" for a switch; second: NULL if the option has one value */
};

struct qn_cli_args {
    /* For each option of the table, the last value given; NULL: not given; "" for a switch. */
    const char *values[QN_CLI_OPTIONS_MAX];
    struct qn_cli_given given[QN_CLI_GIVEN_MAX]; /* all occurrences, in order */
    int n_given;
    const char *words[QN_CLI_WORDS_MAX]; /* the arguments that are not options */
    int n_words;
    char **rest; /* for a raw command: the arguments after its name, ends with NULL */
};

struct qn_cli_command {
    const char *name;
    const char *usage;                   /* "run MODEL [PROMPT]" */
    const char *summary;                 /* one line */
    const char *details;                 /* more lines for `quince help NAME`, or NULL */
    const struct qn_cli_option *options; /* ends with a NULL name; may be NULL */
    int min_words, max_words;            /* allowed number of words, at most QN_CLI_WORDS_MAX */
    bool raw;                            /* gets its arguments unparsed (serve) */
    int (*run)(struct qn_cli *cli, const struct qn_cli_args *args);
};

/* Reports why a command failed and returns QN_EXIT_FAILED: "quince: message" on stderr, or with
 * --json {"error":{"message","code"}} on stdout. */
int qn_cli_failed(const struct qn_cli *cli, const struct qn_error *e);

/* Like qn_cli_failed, for an invalid command line; returns QN_EXIT_USAGE. */
int qn_cli_misused(const struct qn_cli *cli, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

int qn_cmd_serve(struct qn_cli *cli, const struct qn_cli_args *a);
int qn_cmd_stop(struct qn_cli *cli, const struct qn_cli_args *a);
int qn_cmd_open(struct qn_cli *cli, const struct qn_cli_args *a);
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
int qn_cmd_embed(struct qn_cli *cli, const struct qn_cli_args *a);
int qn_cmd_rerank(struct qn_cli *cli, const struct qn_cli_args *a);
int qn_cmd_transcribe(struct qn_cli *cli, const struct qn_cli_args *a);
int qn_cmd_say(struct qn_cli *cli, const struct qn_cli_args *a);
int qn_cmd_image(struct qn_cli *cli, const struct qn_cli_args *a);
int qn_cmd_logs(struct qn_cli *cli, const struct qn_cli_args *a);
int qn_cmd_completion(struct qn_cli *cli, const struct qn_cli_args *a);
int qn_cmd_version(struct qn_cli *cli, const struct qn_cli_args *a);
int qn_cmd_help(struct qn_cli *cli, const struct qn_cli_args *a);

#endif
