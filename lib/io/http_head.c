/* Request heads, checked strictly where leniency has been used for smuggling (lengths, folding,
 * control bytes) and leniently where it is harmless (bare line feeds, empty lines before). */
#include "io/http_head.h"

#include "base/str.h"

#include <string.h>
#include <strings.h>

enum { LENGTH_DIGITS_MAX = 18 }; /* of a Content-Length: it fits 64 bits */

static bool is_token(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           (c != 0 && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static bool is_text(char c)
{
    return c == '\t' || ((unsigned char)c >= 0x20 && c != 0x7f);
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool is_field(const char *name, size_t n, const char *wanted)
{
    return n == strlen(wanted) && strncasecmp(name, wanted, n) == 0;
}

static bool add_length(struct qn_framing *f, const char *v, size_t n)
{
    if (n == 0 || n > LENGTH_DIGITS_MAX)
        return false;
    int64_t length = 0;
    for (size_t i = 0; i < n; i++) {
        if (v[i] < '0' || v[i] > '9')
            return false;
        length = 10 * length + (v[i] - '0');
    }
    if (f->has_length && f->length != length)
        return false;
    f->has_length = true;
    f->length = length;
    return true;
}

bool qn_framing_add(struct qn_framing *f, const char *name, size_t name_len, const char *v,
                    size_t n)
{
    for (size_t i = 0; i < name_len; i++)
        if (!is_token(name[i]))
            return false;
    while (n > 0 && (*v == ' ' || *v == '\t')) {
        v++;
        n--;
    }
    while (n > 0 && (v[n - 1] == ' ' || v[n - 1] == '\t'))
        n--;
    for (size_t i = 0; i < n; i++)
        if (!is_text(v[i]))
            return false;
    if (is_field(name, name_len, "content-length"))
        return add_length(f, v, n);
    if (is_field(name, name_len, "transfer-encoding")) {
        if (f->chunked || !is_field(v, n, "chunked"))
            return false;
        f->chunked = true;
    } else if (is_field(name, name_len, "host")) {
        if (f->has_host)
            return false;
        f->has_host = true;
    } else if (is_field(name, name_len, "upgrade")) {
        f->upgrade = true;
    }
    return name_len > 0;
}

bool qn_framing_ok(const struct qn_framing *f)
{
    return !(f->has_length && f->chunked);
}

bool qn_framing_line(struct qn_framing *f, const char *line, size_t n)
{
    const char *colon = memchr(line, ':', n);
    size_t len = colon ? (size_t)(colon - line) : n;
    return len < n && qn_framing_add(f, line, len, colon + 1, n - len - 1);
}

/* method SP target SP HTTP/1.x; fills the head as far as it gets and returns the status. */
static int request_line(const char *p, size_t n, struct qn_head *h)
{
    size_t i = 0;
    while (i < n && is_token(p[i]))
        i++;
    if (i == 0 || i >= QN_HTTP_METHOD_MAX || i == n || p[i] != ' ')
        return 400;
    memcpy(h->method, p, i);
    h->method[i] = 0;
    const char *target = p + i + 1;
    size_t t = 0;
    while (i + 1 + t < n && (unsigned char)target[t] > 0x20 && target[t] != 0x7f)
        t++;
    if (t == 0 || i + 1 + t == n || target[t] != ' ')
        return 400;
    h->target = target;
    h->target_len = t;
    const char *version = target + t + 1;
    size_t v = n - i - 2 - t;
    if (v != 8 || memcmp(version, "HTTP/", 5) != 0 || version[6] != '.')
        return 400;
    if (version[5] != '1' || (version[7] != '0' && version[7] != '1'))
        return 505;
    return 200;
}

void qn_head_check(const char *p, size_t n, size_t max, struct qn_head *out)
{
    *out = (struct qn_head){0};
    struct qn_framing f = {0};
    size_t at = 0;
    bool first = true;
    while (at < n) {
        const char *nl = memchr(p + at, '\n', n - at);
        if (!nl)
            break;
        size_t line = (size_t)(nl - (p + at));
        const char *text = p + at;
        at += line + 1;
        if (at > max)
            break;
        if (line > 0 && text[line - 1] == '\r')
            line--;
        if (first) {
            if (line == 0)
                continue;
            first = false;
            int status = request_line(text, line, out);
            if (status != 200) {
                out->status = status;
                return;
            }
        } else if (line == 0) {
            out->len = at;
            out->upgrade = f.upgrade;
            out->status = qn_framing_ok(&f) ? 200 : 400;
            return;
        } else if (!qn_framing_line(&f, text, line)) {
            out->status = 400;
            return;
        }
    }
    out->status = n >= max ? 431 : 0;
}

/* The next field of this name from *at on; false: there is none. */
static bool next_value(const char **at, const char *end, const char *name, const char **v,
                       size_t *n)
{
    size_t name_len = strlen(name);
    for (const char *nl; *at < end; *at = nl + 1) {
        const char *line = *at;
        nl = memchr(line, '\n', (size_t)(end - line));
        if (!nl)
            return false;
        if ((size_t)(nl - line) <= name_len || line[name_len] != ':' ||
            strncasecmp(line, name, name_len) != 0)
            continue;
        const char *last = nl;
        *at = nl + 1;
        for (*v = line + name_len + 1; *v < last && is_space(**v);)
            (*v)++;
        while (last > *v && is_space(last[-1]))
            last--;
        *n = (size_t)(last - *v);
        return true;
    }
    return false;
}

const char *qn_head_field(const char *head, size_t n, const char *name, struct qn_arena *a)
{
    const char *v, *at = head, *end = head + n;
    size_t len, total = 0, used = 0;
    while (next_value(&at, end, name, &v, &len))
        total += len + 2;
    if (!total)
        return NULL;
    char *out = qn_arena_alloc(a, total);
    for (at = head; next_value(&at, end, name, &v, &len); used += len) {
        if (used > 0) {
            memcpy(out + used, ", ", 2);
            used += 2;
        }
        memcpy(out + used, v, len);
    }
    out[used] = '\0';
    return out;
}

bool qn_head_lists(const char *value, const char *token)
{
    size_t wanted = strlen(token);
    while (value && *value) {
        value += strspn(value, ", \t");
        size_t n = strcspn(value, ", \t");
        if (n == wanted && strncasecmp(value, token, n) == 0)
            return true;
        value += n;
    }
    return false;
}

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

/* Percent-decodes n bytes into the arena; NULL when they are malformed or not text. */
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

bool qn_target_split(const char *target, size_t n, struct qn_arena *a, char **path, char **query)
{
    if (n >= 7 && strncasecmp(target, "http://", 7) == 0) {
        const char *slash = memchr(target + 7, '/', n - 7);
        if (!slash) {
            target = "/";
            n = 1;
        } else {
            n -= (size_t)(slash - target);
            target = slash;
        }
    }
    const char *mark = memchr(target, '?', n);
    size_t path_len = mark ? (size_t)(mark - target) : n;
    *path = decode(target, path_len, false, a);
    *query = qn_arena_strndup(a, mark ? mark + 1 : "", mark ? n - path_len - 1 : 0);
    return *path != NULL;
}

const char *qn_query_find(const char *query, const char *name, struct qn_arena *a)
{
    while (*query) {
        size_t n = strcspn(query, "&");
        const char *eq = memchr(query, '=', n);
        size_t key_len = eq ? (size_t)(eq - query) : n;
        const char *key = decode(query, key_len, true, a);
        if (key && strcmp(key, name) == 0)
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
