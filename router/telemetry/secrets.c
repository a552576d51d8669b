/* Finds members of JSON text that are secrets by their names; see requests.h. The text may be cut
 * or invalid, so it is read by tokens and not parsed. */
#include "telemetry/requests.h"

#include "base/str.h"

#include <string.h>

enum { NAME_MAX_BYTES = 32 }; /* longer names are none of the list */

static bool is_secret(const char *name, size_t n)
{
    static const char *const names[] = {
        "api_key",       "apikey",      "api-key",      "x-api-key",     "x-admin-token",
        "authorization", "auth_token",  "access_token", "refresh_token", "authorization_token",
        "bearer",        "password",    "passwd",       "secret",        "client_secret",
        "credentials",   "private_key", "cookie",       "headers",
    };
    char copy[NAME_MAX_BYTES + 1];
    if (memchr(name, '\\', n))
        return true; /* escapes could spell any name */
    if (n > NAME_MAX_BYTES)
        return false;
    memcpy(copy, name, n);
    copy[n] = '\0';
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (qn_str_ieq(copy, names[i]))
            return true;
    return false;
}

/* The offset after the string that begins at i, which is a quotation mark. */
static size_t string_end(const char *text, size_t n, size_t i)
{
    for (i++; i < n && text[i] != '"'; i++)
        if (text[i] == '\\')
            i++;
    return i < n ? i + 1 : n;
}

/* The JSON parser skips all bytes up to ' ' as blanks. If fewer were skipped here, a secret behind
 * one of the others would stay readable. */
static size_t blanks_end(const char *text, size_t n, size_t i)
{
    while (i < n && (unsigned char)text[i] <= ' ')
        i++;
    return i;
}

void qn_requests_hide_secrets(char *text, size_t n)
{
    size_t depth = 0, hidden = 0; /* hidden: the depth of a secret value that is being read */
    bool next = false;            /* the next value is secret */
    for (size_t i = 0; i < n;) {
        char c = text[i];
        if (c == '"') {
            size_t end = string_end(text, n, i), after = blanks_end(text, n, end);
            if (after < n && text[after] == ':') {
                next = is_secret(text + i + 1, end - i - 2);
                i = after + 1;
                continue;
            }
            if (next || hidden) {
                size_t last = end > i + 1 && text[end - 1] == '"' ? end - 1 : end;
                memset(text + i + 1, '*', last - i - 1);
            }
            next = false;
            i = end;
            continue;
        }
        if (c == '{' || c == '[') {
            depth++;
            if (next && !hidden)
                hidden = depth;
            next = false;
        } else if (c == '}' || c == ']') {
            if (hidden == depth)
                hidden = 0;
            depth -= depth > 0;
        } else if (c == ',') {
            next = false;
        }
        i++;
    }
}
