/* Offers the download of a model that is not installed. */
#ifndef QN_CLI_OFFER_H
#define QN_CLI_OFFER_H

#include "cli/cli.h"

/* If the model is not installed and the user can be asked, offers to download it. *name: name of
 * the downloaded model, freed by the caller; NULL: use the given name (the model is installed, or
 * stdin is not a terminal, or the server is to report the error). QN_ECANCELLED: the user declined,
 * or the download failed; the reason has been printed. */
qn_err qn_offer(struct qn_cli *cli, const char *model, char **name);

#endif
