/* Starts the server in the background if none runs. */
#ifndef QN_CLI_LAUNCH_H
#define QN_CLI_LAUNCH_H

#include "base/error.h"
#include "cli/cli.h"

/* Makes sure that a server answers: one that runs already, or quinced started in the background
 * (reported on stderr) with its log in the data folder. Only for this machine; a server on another
 * machine that does not answer is an error. */
qn_err qn_launch_server(const struct qn_cli *cli, struct qn_error *e);

/* Returns the path of quinced, beside this program. The caller frees. */
char *qn_launch_program(void);

/* Returns the server's data folder: QUINCE_DATA_DIR or the default. The caller frees. */
char *qn_launch_data_dir(void);

#endif
