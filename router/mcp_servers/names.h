/* Builds the names under which MCP tools are offered to models. Pure functions. */
#ifndef QN_MCP_SERVERS_NAMES_H
#define QN_MCP_SERVERS_NAMES_H

#include <stddef.h>

enum { QN_MCP_NAME_MAX = 64 }; /* limit of OpenAI's API, which allows letters, digits, _ and - */

/* Writes SERVER__TOOL. Characters that are not allowed are replaced; the name is cut to
 * QN_MCP_NAME_MAX bytes, the server's part to a third of that. n: 0, or a number of 2 or more that
 * is appended to make the name unique. */
void qn_mcp_name(const char *server, const char *tool, size_t n,
                 char out[static QN_MCP_NAME_MAX + 1]);

#endif
