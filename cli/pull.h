/* Downloading a model, from the word that the user typed to its name in the list. */
#ifndef QN_CLI_PULL_H
#define QN_CLI_PULL_H

#include "cli/wish.h"

/* Prints the size, asks for a variant if there are several, shows the progress and reports errors;
 * returns an exit status. name MAY be NULL; on success *name is the model's name, freed by the
 * caller. After Ctrl-C the server continues the download; the user is asked whether it should, and
 * the program ends by that signal. */
int qn_pull(struct qn_cli *cli, const struct qn_wish *wish, char **name);

/* Bytes of memory of the server's machine; 0: unknown (it is another machine). */
double qn_pull_memory(const struct qn_cli *cli);

#endif
