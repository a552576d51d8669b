/* See names.h. */
#include "mcp_servers/names.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { SERVER_MAX = QN_MCP_NAME_MAX / 3, NUMBER_MAX = 24 };

static bool is_allowed(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

/* Appends at most `max` characters of `text` to `out` at offset `at`; returns the new offset. Each
 * character that is not allowed is replaced by one "_", however many bytes it has in UTF-8. */
static size_t append(const char *text, size_t max, char *out, size_t at)
{
    for (size_t n = 0; *text && n < max; text++) {
        unsigned char c = (unsigned char)*text;
        if ((c & 0xC0) == 0x80)
            continue;
        out[at++] = is_allowed(c) ? (char)c : '_';
        n++;
    }
    return at;
}

void qn_mcp_name(const char *server, const char *tool, size_t n,
                 char out[static QN_MCP_NAME_MAX + 1])
{
    char number[NUMBER_MAX] = "";
    if (n)
        snprintf(number, sizeof number, "_%zu", n);
    size_t room = QN_MCP_NAME_MAX - strlen(number);
    size_t at = append(server, SERVER_MAX, out, 0);
    at = append("__", 2, out, at);
    at = append(tool, room - at, out, at);
    memcpy(out + at, number, strlen(number) + 1);
}
