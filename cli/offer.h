/* Asks whether a model that is not on this machine yet is to be downloaded. */
#ifndef QN_CLI_OFFER_H
#define QN_CLI_OFFER_H

#include "cli/cli.h"

/* When a person can be asked and the model is not here, offers to download it. *name: the model's
 * name then, the caller's to free; NULL: as it was given (it is here, or there is no terminal, or
 * the server shall say what is wrong). QN_ECANCELLED: the person does not want it, or the download
 * failed; everything has been said. */
qn_err qn_offer(struct qn_cli *cli, const char *model, char **name);

#endif
