/* Settings while no server runs: quinced itself reads and changes config.json, see
 * router/settings_file.h. */
#ifndef QN_CLI_OFFLINE_H
#define QN_CLI_OFFLINE_H

#include "base/error.h"
#include "base/json.h"
#include "cli/cli.h"

#include <stdbool.h>

/* True if no host was given and this user's own server does not answer. */
bool qn_offline_is(const struct qn_cli *cli);

/* Runs `quinced config WORDS...` with n words, at most QN_CLI_WORDS_MAX. *out: its output, freed by
 * the caller. Errors have quinced's message. */
qn_err qn_offline_config(const char *const *words, int n, struct qn_json **out, struct qn_error *e);

#endif
