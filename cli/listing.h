/* A list that the server keeps, shown as a table: aliases, keys. */
#ifndef QN_CLI_LISTING_H
#define QN_CLI_LISTING_H

#include "base/json.h"
#include "cli/cli.h"

/* Asks for route and prints the array that its answer holds under member: with --json as it is,
 * else by print, or the line nothing where it is empty. Returns the command's exit status. */
int qn_listing(const struct qn_cli *cli, const char *route, const char *member,
               void (*print)(const struct qn_jref *array), const char *nothing);

#endif
