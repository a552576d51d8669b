/* Parses request targets, see http_target.h. */
#include "io/http_target.h"

#include "base/str.h"

#include <string.h>
#include <strings.h>

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* Percent-decodes n bytes into the arena; NULL when they are malformed or not UTF-8. */
static char *decode(const char *s, size_t n, bool plus_is_space, struct qn_arena *a)
{
    char *out = qn_arena_try(a, n + 1);
    size_t len = 0;
    if (!out)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        char c = s[i];
        if (c == '%') {
            if (n - i < 3 || hex(s[i + 1]) < 0 || hex(s[i + 2]) < 0)
                return NULL;
            c = (char)(hex(s[i + 1]) * 16 + hex(s[i + 2]));
            i += 2;
        } else if (c == '+' && plus_is_space) {
            c = ' ';
        }
        if (c == 0)
            return NULL;
        out[len++] = c;
    }
    out[len] = 0;
    return qn_utf8_valid(out, len) ? out : NULL;
}

enum { SCHEME_LEN = 7 }; /* "http://" */

static bool has_scheme(const char *target, size_t n)
{
    return n >= SCHEME_LEN && strncasecmp(target, "http://", SCHEME_LEN) == 0;
}

/* Length of the authority after the scheme. */
static size_t authority_of(const char *target, size_t n)
{
    size_t len = 0;
    while (SCHEME_LEN + len < n && !strchr("/?", target[SCHEME_LEN + len]))
        len++;
    return len;
}

bool qn_target_ok(const char *method, const char *target, size_t n, const char **authority,
                  size_t *authority_len)
{
    *authority = NULL;
    *authority_len = 0;
    if (n == 0 || memchr(target, '#', n))
        return false;
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)target[i] <= 0x20 || target[i] == 0x7f)
            return false;
    if (target[0] == '/')
        return true;
    if (n == 1 && target[0] == '*')
        return strcmp(method, "OPTIONS") == 0;
    if (!has_scheme(target, n))
        return false;
    *authority = target + SCHEME_LEN;
    *authority_len = authority_of(target, n);
    return *authority_len > 0 && !memchr(*authority, '@', *authority_len);
}

bool qn_target_split(const char *target, size_t n, struct qn_arena *a, char **path, char **query)
{
    if (has_scheme(target, n)) {
        size_t skip = SCHEME_LEN + authority_of(target, n);
        target += skip;
        n -= skip;
    }
    const char *mark = memchr(target, '?', n);
    size_t path_len = mark ? (size_t)(mark - target) : n;
    *path = path_len ? decode(target, path_len, false, a) : qn_arena_strdup(a, "/");
    *query = qn_arena_strndup(a, mark ? mark + 1 : "", mark ? n - path_len - 1 : 0);
    return *path != NULL;
}

/* True when n bytes, decoded, are the name. */
static bool is_name(const char *s, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++, name++) {
        char c = s[i] == '+' ? ' ' : s[i];
        if (c == '%') {
            if (n - i < 3 || hex(s[i + 1]) < 0 || hex(s[i + 2]) < 0)
                return false;
            c = (char)(hex(s[i + 1]) * 16 + hex(s[i + 2]));
            i += 2;
        }
        if (!*name || c != *name)
            return false;
    }
    return !*name;
}

const char *qn_query_find(const char *query, const char *name, struct qn_arena *a)
{
    while (*query) {
        size_t n = strcspn(query, "&");
        const char *eq = memchr(query, '=', n);
        size_t key_len = eq ? (size_t)(eq - query) : n;
        if (is_name(query, key_len, name))
            return eq ? decode(eq + 1, n - key_len - 1, true, a) : "";
        query += n;
        if (*query)
            query++;
    }
    return NULL;
}

void qn_target_escape(struct qn_buf *out, const char *path)
{
    static const char plain[] = "-._~!$&'()*+,;=:@/"; /* pchar and the slash, section 3.3 */
    for (const unsigned char *p = (const unsigned char *)path; *p; p++) {
        if ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') ||
            strchr(plain, *p))
            qn_buf_char(out, (char)*p);
        else
            qn_buf_fmt(out, "%%%02X", *p);
    }
}
