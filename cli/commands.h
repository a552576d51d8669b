/* The one table of subcommands. */
#ifndef QN_CLI_COMMANDS_H
#define QN_CLI_COMMANDS_H

#include "cli/cli.h"

#include <stdio.h>

const struct qn_cli_command *qn_commands_find(const char *name); /* NULL: there is none */
const struct qn_cli_command *qn_commands_at(size_t i);           /* in order; NULL past the last */

/* Every command in a line, and the options for all. */
void qn_commands_print(FILE *out);
/* One command's usage, details and options. */
void qn_commands_print_one(const struct qn_cli_command *c, FILE *out);

#endif
