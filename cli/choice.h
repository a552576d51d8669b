/* Which model a command uses: the one that its command line names, or a default. */
#ifndef QN_CLI_CHOICE_H
#define QN_CLI_CHOICE_H

#include "cli/cli.h"

/* Starts the server if none runs, and chooses the model: `named`, whose download is offered if it
 * is not installed, or, if that is NULL, a default among the installed models: the one used last,
 * else the suggested one, else the first. label: the default has this label of the server's list
 * ("embeddings", "tts", ...); NULL: it is for chat. The caller frees *out. QN_ENOTFOUND with a
 * message that says how to get a model. QN_ECANCELLED: the user declined the download, or it
 * failed; the reason has been printed. */
qn_err qn_choice_ready(struct qn_cli *cli, const char *named, const char *label, char **out,
                       struct qn_error *e);

#endif
