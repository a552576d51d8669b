/* See http_headers.h. */
#include "mcp/http_headers.h"

#include <string.h>
#include <strings.h>

/* Returns the offset of the header's value; 0: the line is not the header `name`. */
static size_t value_of(const char *line, size_t n, const char *name)
{
    size_t at = strlen(name);
    if (n <= at || line[at] != ':' || strncasecmp(line, name, at) != 0)
        return 0;
    at++;
    while (at < n && line[at] == ' ')
        at++;
    return at;
}

bool qn_http_header_type(const char *line, size_t n, bool *streams)
{
    static const char events[] = "text/event-stream";
    size_t at = value_of(line, n, "Content-Type");
    if (at)
        *streams =
            n - at >= sizeof events - 1 && !strncasecmp(line + at, events, sizeof events - 1);
    return at != 0;
}

bool qn_http_header_id(const char *line, size_t n, char id[static QN_HTTP_ID_MAX + 1])
{
    size_t at = value_of(line, n, "Mcp-Session-Id"), end = n;
    if (!at)
        return false;
    while (end > at && (line[end - 1] == ' ' || line[end - 1] == '\r' || line[end - 1] == '\n'))
        end--;
    size_t length = end - at <= QN_HTTP_ID_MAX ? end - at : 0;
    for (size_t i = 0; i < length; i++)
        if (line[at + i] < 0x21 || line[at + i] > 0x7E)
            length = 0;
    memcpy(id, line + at, length);
    id[length] = '\0';
    return true;
}
