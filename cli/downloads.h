/* The server's downloads: jobs that go on whether or not a client watches. */
#ifndef QN_CLI_DOWNLOADS_H
#define QN_CLI_DOWNLOADS_H

#include "cli/cli.h"

/* action: "pause", "resume", "cancel", "remove"; id: a job's, or its model's name. */
qn_err qn_downloads_control(const struct qn_cli *cli, const char *id, const char *action,
                            struct qn_error *e);

#endif
