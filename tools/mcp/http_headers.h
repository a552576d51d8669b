/* Headers of a reply. A line is not terminated. Pure functions. */
#ifndef QN_MCP_HTTP_HEADERS_H
#define QN_MCP_HTTP_HEADERS_H

#include <stdbool.h>
#include <stddef.h>

enum { QN_HTTP_ID_MAX = 1024 }; /* bytes of a session's id */

/* False: it is another header, and nothing has changed. */
bool qn_http_header_type(const char *line, size_t n, bool *streams); /* a stream of events */
/* id "": it is too long or has other characters than visible ones of ASCII, so it is not used. */
bool qn_http_header_id(const char *line, size_t n, char id[static QN_HTTP_ID_MAX + 1]);

#endif
