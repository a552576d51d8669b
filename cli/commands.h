/* The table of subcommands. */
#ifndef QN_CLI_COMMANDS_H
#define QN_CLI_COMMANDS_H

#include "cli/cli.h"

#include <stdio.h>

/* name may be a synonym; NULL: not found */
const struct qn_cli_command *qn_commands_find(const char *name);
/* in the order of the help; NULL past the last */
const struct qn_cli_command *qn_commands_at(size_t i);

/* Reports that the command does not exist and suggests a similar one; returns QN_EXIT_USAGE. */
int qn_commands_unknown(const struct qn_cli *cli, const char *name);

/* Prints one line for every command, and the options that all commands accept. */
void qn_commands_print(FILE *out);
/* Prints one command's usage, details and options. */
void qn_commands_print_one(const struct qn_cli_command *c, FILE *out);

#endif
