/* Aliases: additional names of models. */
#ifndef QN_CLI_ALIAS_H
#define QN_CLI_ALIAS_H

#include "cli/cli.h"

qn_err qn_alias_add(const struct qn_cli *cli, const char *alias, const char *model,
                    struct qn_error *e);

#endif
