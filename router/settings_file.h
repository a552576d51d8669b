/* `quinced config`: shows and changes config.json while no server runs. A server that does not
 * start because of an invalid setting has no API to correct it; so the program that checks settings
 * corrects the file, holding the lock of the data folder and using the server's own checks. `quince
 * config` runs it.
 *
 *   quinced config list
 *   quinced config set NAME=VALUE...
 *   quinced config reset NAME...
 *
 * The output is one line of JSON: the reply of GET /internal/config?details=true or POST
 * /internal/set, with "problem" for an invalid value of the file, or {"error": "..."} with exit
 * status 1. */
#ifndef QN_ROUTER_SETTINGS_FILE_H
#define QN_ROUTER_SETTINGS_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the program's arguments are such a command. */
bool qn_settings_file_meant(size_t n, const char *const *words);

/* Runs the command; returns the exit status. env: NAME=VALUE strings, ends with NULL. */
int qn_settings_file_main(size_t n, const char *const *words, const char *const *env);

#endif
