/* Starting the server from the command line when none runs. */
#ifndef QN_CLI_LAUNCH_H
#define QN_CLI_LAUNCH_H

#include "base/error.h"
#include "cli/cli.h"

/* Makes sure that a server answers: one that runs already, or quinced started in the background
 * (said on stderr), with its log in the data directory. Only for a server on this machine; a
 * remote one that does not answer is an error. */
qn_err qn_launch_server(const struct qn_cli *cli, struct qn_error *e);

/* The path of quinced: beside this program. The caller frees. */
char *qn_launch_program(void);

/* The data directory the server uses: QUINCE_DATA_DIR or the default place. The caller frees. */
char *qn_launch_data_dir(void);

#endif
