/* Lists of the server shown as a table: aliases, keys. */
#ifndef QN_CLI_LISTING_H
#define QN_CLI_LISTING_H

#include "base/json.h"
#include "cli/cli.h"

/* Requests route and prints the array in its member `member`: with --json unchanged, otherwise with
 * print, or the line `nothing` if it is empty. Returns the command's exit status. */
int qn_listing(const struct qn_cli *cli, const char *route, const char *member,
               void (*print)(const struct qn_jref *array), const char *nothing);

#endif
