/* Downloading a model, from what a person typed to its name in the list. */
#ifndef QN_CLI_PULL_H
#define QN_CLI_PULL_H

#include "cli/wish.h"

/* Says what it will cost, lets a person choose where there is something to choose, shows how it
 * comes. Everything is said here, failures too; the result is an exit status. name MAY be NULL; on
 * success it is the model's name, the caller's to free. Ctrl-C leaves the download to the server:
 * a person is asked whether it is to go on, and the program then ends by that signal. */
int qn_pull(struct qn_cli *cli, const struct qn_wish *wish, char **name);

/* Bytes of memory of the machine the server runs on; 0: not known (it is another one). */
double qn_pull_memory(const struct qn_cli *cli);

#endif
