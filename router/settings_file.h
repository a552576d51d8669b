/* `quinced config`: config.json itself, while no server runs. A server that does not start because
 * of a setting has no API to repair it with; the program that checks settings does it in its place,
 * under the lock of the data folder and with the server's own checks. The program quince calls it.
 *
 *   quinced config list
 *   quinced config set NAME=VALUE...
 *   quinced config reset NAME...
 *
 * What comes out is one line of JSON: what GET /internal/config?details=true and POST /internal/set
 * answer, with "problem" where a value of the file is wrong, or {"error": "..."} and status 1. */
#ifndef QN_ROUTER_SETTINGS_FILE_H
#define QN_ROUTER_SETTINGS_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* True when the program's words (behind its name) mean this. */
bool qn_settings_file_meant(size_t n, const char *const *words);

/* Does it; the exit status. env: NAME=VALUE words ending in NULL. */
int qn_settings_file_main(size_t n, const char *const *words, const char *const *env);

#endif
