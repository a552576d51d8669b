/* The server's downloads, which continue independently of clients. */
#ifndef QN_CLI_DOWNLOADS_H
#define QN_CLI_DOWNLOADS_H

#include "cli/cli.h"

/* action: "pause", "resume", "cancel", "remove"; id: of a job, or the name of its model. */
qn_err qn_downloads_control(const struct qn_cli *cli, const char *id, const char *action,
                            struct qn_error *e);

#endif
