/* The one table of subcommands. */
#ifndef QN_CLI_COMMANDS_H
#define QN_CLI_COMMANDS_H

#include "cli/cli.h"

#include <stdio.h>

const struct qn_cli_command *qn_commands_find(const char *name); /* also by a synonym; NULL: none */
const struct qn_cli_command *qn_commands_at(size_t i);           /* in order; NULL past the last */

/* Says that there is no such command and which one may have been meant; returns QN_EXIT_USAGE. */
int qn_commands_unknown(const struct qn_cli *cli, const char *name);

/* Every command in a line, and the options for all. */
void qn_commands_print(FILE *out);
/* One command's usage, details and options. */
void qn_commands_print_one(const struct qn_cli_command *c, FILE *out);

#endif
