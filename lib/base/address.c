/* See address.h. */
#include "base/address.h"

#include <stdbool.h>
#include <string.h>

#define BLANKS " \t\r\n"

/* Copies the n bytes at `from`, the part of a URL after "://", to `to` without user name, query and
 * fragment; returns the length of the result. keeps: the URL is within running text, so punctuation
 * at the end of its query or fragment belongs to that text and is copied. */
static size_t strip(char *to, const char *from, size_t n, bool keeps)
{
    size_t host = 0, end = 0, tail = n;
    while (end < n && !strchr("/?#", from[end]))
        if (from[end++] == '@')
            host = end;
    while (end < n && from[end] != '?' && from[end] != '#')
        end++;
    while (keeps && end < tail && strchr("'\":,;.)]}", from[tail - 1]))
        tail--;
    size_t left = end - host;
    memmove(to, from + host, left);
    if (end == n)
        return left;
    to[left++] = '?';
    if (tail <= end) /* the query is empty: "...?" ends a sentence */
        tail = end + 1;
    memmove(to + left, from + tail, n - tail);
    return left + n - tail;
}

static void strip_all(char *text, const char *ends)
{
    char *to = text, *from = text, *mark;
    while ((mark = strstr(from, "://"))) {
        char *begins = mark + strlen("://");
        size_t n = strcspn(begins, ends);
        memmove(to, from, (size_t)(begins - from));
        to += begins - from;
        to += strip(to, begins, n, *ends);
        from = begins + n;
    }
    memmove(to, from, strlen(from) + 1);
}

void qn_address_strip(char *address)
{
    strip_all(address, "");
}

void qn_addresses_strip(char *text)
{
    strip_all(text, BLANKS);
}
