/* Parses request heads: strictly where tolerance has been used for request smuggling (lengths,
 * folding, control bytes), and tolerantly where it is harmless (bare line feeds, leading empty
 * lines). */
#include "io/http_head.h"

#include "io/http_target.h"

#include <string.h>
#include <strings.h>

static int refuse(struct qn_head *h, int status, const char *why)
{
    h->why = why;
    return status;
}

/* Parses "HTTP/1.x". */
static int version(struct qn_head *h, const char *v, size_t n)
{
    if (n != 8 || memcmp(v, "HTTP/", 5) != 0 || v[6] != '.' || v[5] < '0' || v[5] > '9' ||
        v[7] < '0' || v[7] > '9')
        return refuse(h, 400, "the request line does not end in HTTP/1.1");
    if (v[5] != '1' || v[7] > '1')
        return refuse(h, 505, "only HTTP/1.0 and HTTP/1.1 are supported");
    h->minor = v[7] - '0';
    return 200;
}

/* Parses "method SP target SP HTTP/1.x"; fills in the head as far as it is valid and returns the
 * status. */
static int request_line(struct qn_head *h, const char *p, size_t at, size_t n)
{
    const char *line = p + at, *authority;
    size_t i = 0, authority_len;
    while (i < n && qn_http_is_token(line[i]))
        i++;
    if (i == 0 || i >= QN_HTTP_METHOD_MAX || i == n || line[i] != ' ')
        return refuse(h, 400, "the request line does not begin with a method and a space");
    memcpy(h->method, line, i);
    h->method[i] = 0;
    size_t from = i + 1, t = 0;
    while (from + t < n && (unsigned char)line[from + t] > 0x20 && line[from + t] != 0x7f)
        t++;
    if (t == 0 || from + t == n || line[from + t] != ' ')
        return refuse(h, 400, "the request line is not a method, a target and a version");
    h->target_at = at + from;
    h->target_len = t;
    int status = version(h, line + from + t + 1, n - from - t - 1);
    if (status == 200 && !qn_target_ok(h->method, line + from, t, &authority, &authority_len))
        return refuse(h, 400, "the request's target is neither a path nor an address of http://");
    return status;
}

/* Checks the head after its last line. */
static int head_end(struct qn_head *h, const char *p)
{
    struct qn_framing *f = &h->framing;
    const char *authority;
    size_t n;
    if (!qn_framing_ok(f))
        return refuse(h, 400, f->why);
    if (h->minor == 0 && f->chunked)
        return refuse(h, 400, "HTTP/1.0 has no Transfer-Encoding");
    if (h->minor > 0 && !f->has_host)
        return refuse(h, 400, "HTTP/1.1 requires the header Host");
    f->host = f->has_host ? p + h->host_at : NULL;
    /* RFC 9112, 3.2.2: the target's authority and Host must be equal, otherwise a check of Host
     * would be useless. */
    if (qn_target_ok(h->method, p + h->target_at, h->target_len, &authority, &n) && authority &&
        f->has_host && (n != f->host_len || strncasecmp(authority, f->host, n) != 0))
        return refuse(h, 400, "Host differs from the host in the request's target");
    return 200;
}

static int take_line(struct qn_head *h, const char *p, size_t at, size_t n)
{
    struct qn_framing *f = &h->framing;
    if (!h->started) {
        if (n == 0)
            return 0;
        h->started = true;
        int status = request_line(h, p, at, n);
        return status == 200 ? 0 : status;
    }
    if (n == 0)
        return head_end(h, p);
    if (++h->fields > QN_HTTP_FIELDS_MAX)
        return refuse(h, 431, "more than 128 headers");
    bool had_host = f->has_host;
    if (!qn_framing_line(f, p + at, n))
        return refuse(h, 400, f->why);
    if (f->has_host && !had_host)
        h->host_at = (size_t)(f->host - p);
    return 0;
}

void qn_head_more(struct qn_head *h, const char *p, size_t n, size_t max)
{
    size_t seen = n < max ? n : max;
    while (h->status == 0 && h->scanned < seen) {
        const char *nl = memchr(p + h->scanned, '\n', seen - h->scanned);
        if (!nl) {
            h->scanned = seen;
            break;
        }
        size_t at = h->at, line = (size_t)(nl - (p + at));
        h->at = h->scanned = at + line + 1;
        if (line > 0 && p[at + line - 1] == '\r')
            line--;
        h->status = take_line(h, p, at, line);
    }
    h->target = h->target_len ? p + h->target_at : NULL;
    if (h->status == 200)
        h->len = h->at;
    else if (h->status == 0 && n >= max)
        h->status = h->started ? refuse(h, 431, "the headers are too long")
                               : refuse(h, 414, "the request line is too long");
}

void qn_head_check(const char *p, size_t n, size_t max, struct qn_head *out)
{
    *out = (struct qn_head){0};
    qn_head_more(out, p, n, max);
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Finds the next field of this name from *at on; false: there is none. */
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
