/* A command line sorted into options and words. Nothing here prints or looks at the environment. */
#ifndef QN_CLI_ARGS_H
#define QN_CLI_ARGS_H

#include "cli/cli.h"

/* The options that every command takes; NULL: not given. */
struct qn_globals {
    const char *host, *port, *api_key;
    bool json, help, version;
};

/* Takes the options before the command; *i is the next word (from 1). QN_EINVAL says what is
 * wrong. */
qn_err qn_args_globals(struct qn_globals *g, int argc, char **argv, int *i, struct qn_error *e);

/* Sorts what follows the command's name; "--" ends the options. With --help among them the number
 * of words is not checked. */
qn_err qn_args_sort(const struct qn_cli_command *c, struct qn_globals *g, int argc, char **argv,
                    struct qn_cli_args *a, struct qn_error *e);

#endif
