/* A model file or folder of this machine becomes known to the server, without a copy. */
#ifndef QN_CLI_IMPORT_H
#define QN_CLI_IMPORT_H

#include "cli/cli.h"

#include <stdbool.h>

/* name NULL: after the file. Says what came of it; with quiet only the model's name. Returns an
 * exit status. */
int qn_import_file(struct qn_cli *cli, const char *path, const char *name, bool quiet);

#endif
