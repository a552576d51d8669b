/* See http_framing.h. */
#include "io/http_framing.h"

#include <string.h>
#include <strings.h>

enum { LENGTH_DIGITS_MAX = 18 }; /* of a Content-Length, so that it fits 64 bits */

bool qn_http_is_token(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           (c != 0 && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

bool qn_http_is_text(char c)
{
    return c == '\t' || ((unsigned char)c >= 0x20 && c != 0x7f);
}

/* True for the characters of a host with a port (RFC 3986, 3.2.2). */
static bool is_host(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           (c != 0 && strchr("-._~!$&'()*+,;=%:[]", c) != NULL);
}

static bool refuse(struct qn_framing *f, const char *why)
{
    f->why = why;
    return false;
}

static bool add_length(struct qn_framing *f, const char *v, size_t n)
{
    int64_t length = 0;
    if (n == 0 || n > LENGTH_DIGITS_MAX)
        return refuse(f, "Content-Length must be a number of at most 18 digits");
    for (size_t i = 0; i < n; i++) {
        if (v[i] < '0' || v[i] > '9')
            return refuse(f, "Content-Length must be one number of decimal digits");
        length = 10 * length + (v[i] - '0');
    }
    if (f->has_length && f->length != length)
        return refuse(f, "two different values of Content-Length");
    f->has_length = true;
    f->length = length;
    return true;
}

static bool add_coding(struct qn_framing *f, const char *v, size_t n)
{
    if (n != strlen("chunked") || strncasecmp(v, "chunked", n) != 0)
        return refuse(f, "the only Transfer-Encoding that is understood is chunked");
    if (f->chunked)
        return refuse(f, "Transfer-Encoding is given twice");
    f->chunked = true;
    return true;
}

static bool add_host(struct qn_framing *f, const char *v, size_t n)
{
    if (f->has_host)
        return refuse(f, "Host is given twice");
    for (size_t i = 0; i < n; i++)
        if (!is_host(v[i]))
            return refuse(f, "Host is not the name or address of a machine");
    f->has_host = true;
    f->host = v;
    f->host_len = n;
    return true;
}

/* Whether a comma-separated list has this member; upper and lower case are the same. */
static bool lists(const char *v, size_t n, const char *member)
{
    size_t wanted = strlen(member);
    for (size_t at = 0; at < n;) {
        size_t len = 0;
        while (at + len < n && !strchr(", \t", v[at + len]))
            len++;
        if (len == wanted && strncasecmp(v + at, member, len) == 0)
            return true;
        at += len + 1;
    }
    return false;
}

static bool add(struct qn_framing *f, const char *name, size_t name_len, const char *v, size_t n)
{
#define IS(s) (name_len == sizeof(s) - 1 && strncasecmp(name, s, sizeof(s) - 1) == 0)
    if (IS("content-length"))
        return add_length(f, v, n);
    if (IS("transfer-encoding"))
        return add_coding(f, v, n);
    if (IS("host"))
        return add_host(f, v, n);
    if (IS("upgrade")) {
        f->upgrade = true;
    } else if (IS("expect")) {
        f->expects_continue = f->expects_continue || lists(v, n, "100-continue");
    } else if (IS("connection")) {
        f->close = f->close || lists(v, n, "close");
        f->keep_alive = f->keep_alive || lists(v, n, "keep-alive");
    }
    return true;
#undef IS
}

bool qn_framing_line(struct qn_framing *f, const char *line, size_t n)
{
    size_t name_len = 0;
    while (name_len < n && qn_http_is_token(line[name_len]))
        name_len++;
    if (n > 0 && (line[0] == ' ' || line[0] == '\t'))
        return refuse(f, "a header is folded onto a second line");
    if (name_len == 0 || name_len == n || line[name_len] != ':')
        return refuse(f, "a header is not of the form 'Name: value'");
    const char *v = line + name_len + 1;
    n -= name_len + 1;
    while (n > 0 && (*v == ' ' || *v == '\t')) {
        v++;
        n--;
    }
    while (n > 0 && (v[n - 1] == ' ' || v[n - 1] == '\t'))
        n--;
    for (size_t i = 0; i < n; i++)
        if (!qn_http_is_text(v[i]))
            return refuse(f, "a header has a control character in its value");
    return add(f, line, name_len, v, n);
}

bool qn_framing_ok(struct qn_framing *f)
{
    if (f->has_length && f->chunked)
        return refuse(f, "Content-Length beside Transfer-Encoding");
    return true;
}
