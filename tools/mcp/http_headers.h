/* Parses headers of an HTTP reply. Lines are not null-terminated. Pure functions. */
#ifndef QN_MCP_HTTP_HEADERS_H
#define QN_MCP_HTTP_HEADERS_H

#include <stdbool.h>
#include <stddef.h>

enum { QN_HTTP_ID_MAX = 1024 }; /* maximum bytes of a session id */

/* Parses Content-Type; sets *streams to whether it is text/event-stream. Returns false, without
 * changing anything, if the line is another header. */
bool qn_http_header_type(const char *line, size_t n, bool *streams);
/* Parses Mcp-Session-Id; returns false if the line is another header. Writes "" to `id` if the
 * value is longer than QN_HTTP_ID_MAX or has characters other than visible ASCII: such a session id
 * is not used. */
bool qn_http_header_id(const char *line, size_t n, char id[static QN_HTTP_ID_MAX + 1]);

#endif
