/* Settings while no server runs: quinced itself works on config.json then, see its
 * router/settings_file.h. */
#ifndef QN_CLI_OFFLINE_H
#define QN_CLI_OFFLINE_H

#include "base/error.h"
#include "base/json.h"
#include "cli/cli.h"

#include <stdbool.h>

/* True when the command is about this user's own server, and none answers: no host was named. */
bool qn_offline_is(const struct qn_cli *cli);

/* Runs `quinced config WORDS...`; n of them, at most QN_CLI_WORDS_MAX. *out: what it printed, the
 * caller's to free. An error has quinced's own message. */
qn_err qn_offline_config(const char *const *words, int n, struct qn_json **out, struct qn_error *e);

#endif
