/* The names by which models call the tools of MCP servers. Pure. */
#ifndef QN_MCP_SERVERS_NAMES_H
#define QN_MCP_SERVERS_NAMES_H

#include <stddef.h>

enum { QN_MCP_NAME_MAX = 64 }; /* of OpenAI's API; letters, digits, _ and - */

/* Writes SERVER__TOOL, without other characters and cut; a server's name gets at most a third. n:
 * 0, or a number that is put at the end, 2 or more, to tell it from another name. */
void qn_mcp_name(const char *server, const char *tool, size_t n,
                 char out[static QN_MCP_NAME_MAX + 1]);

#endif
