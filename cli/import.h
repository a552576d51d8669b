/* Registers a model file or folder of this machine with the server, without copying it. */
#ifndef QN_CLI_IMPORT_H
#define QN_CLI_IMPORT_H

#include "cli/cli.h"

#include <stdbool.h>

/* name NULL: named after the file. Reports the result; with quiet prints only the model's name.
 * Returns an exit status. */
int qn_import_file(struct qn_cli *cli, const char *path, const char *name, bool quiet);

#endif
