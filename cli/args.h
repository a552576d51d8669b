/* Sorts a command line into options and words. Nothing here prints or reads the environment. */
#ifndef QN_CLI_ARGS_H
#define QN_CLI_ARGS_H

#include "cli/cli.h"

/* The options that every command accepts; NULL: not given. */
struct qn_globals {
    const char *host, *port, *api_key;
    bool json, help, version;
};

/* Parses the options before the command; *i becomes the index of the next argument (from 1).
 * QN_EINVAL with a message about the faulty option. */
qn_err qn_args_globals(struct qn_globals *g, int argc, char **argv, int *i, struct qn_error *e);

/* Sorts the arguments after the command's name; "--" ends the options. The number of words is not
 * checked if --help is given. */
qn_err qn_args_sort(const struct qn_cli_command *c, struct qn_globals *g, int argc, char **argv,
                    struct qn_cli_args *a, struct qn_error *e);

#endif
