/* See multipart.h. Each byte of the body is examined a bounded number of times: delimiters are
 * found by memmem, and the text after one is read at most to the end of its line. */
#include "formats/multipart.h"

#include "base/buf.h"
#include "base/str.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

enum { DELIMITER_MAX = 4 + QN_MULTIPART_BOUNDARY_MAX }; /* CRLF, two dashes, the boundary */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* RFC 2045's characters of a token. */
static bool is_token(char c)
{
    return c > ' ' && c < 127 && !strchr("()<>@,;:\\\"/[]?=", c);
}

static bool is_boundary_char(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c && strchr("'()+_,-./:=? ", c));
}

/* The parameters of a header's value, after its first word: "; name=value" repeated. */
struct parameters {
    const char *at, *end;
    bool broken;
};

static void skip_blanks(struct parameters *p)
{
    while (p->at < p->end && is_blank(*p->at))
        p->at++;
}

/* Reads a value, quoted or not, into out, up to its limit. A backslash escapes only a quote or a
 * backslash: some browsers write Windows paths with unescaped backslashes. */
static bool read_value(struct parameters *p, struct qn_buf *out)
{
    if (p->at < p->end && *p->at == '"') {
        for (p->at++; p->at < p->end && *p->at != '"'; p->at++) {
            if (*p->at == '\\' && p->at + 1 < p->end && (p->at[1] == '"' || p->at[1] == '\\'))
                p->at++;
            qn_buf_char(out, *p->at);
        }
        if (p->at == p->end)
            return false; /* the closing quote is missing */
        p->at++;
        return true;
    }
    const char *begin = p->at;
    while (p->at < p->end && is_token(*p->at))
        p->at++;
    qn_buf_add(out, begin, (size_t)(p->at - begin));
    return p->at > begin;
}

/* Reads the next parameter; false at the end, or with p->broken set if the text is malformed. */
static bool next_parameter(struct parameters *p, const char **name, size_t *name_len,
                           struct qn_buf *value)
{
    skip_blanks(p);
    while (p->at < p->end && *p->at == ';') { /* a trailing semicolon is accepted */
        p->at++;
        skip_blanks(p);
    }
    if (p->at == p->end)
        return false;
    *name = p->at;
    while (p->at < p->end && is_token(*p->at))
        p->at++;
    *name_len = (size_t)(p->at - *name);
    skip_blanks(p);
    p->broken = *name_len == 0 || p->at == p->end || *p->at != '=';
    if (p->broken)
        return false;
    p->at++;
    skip_blanks(p);
    qn_buf_clear(value);
    bool read = read_value(p, value);
    skip_blanks(p);
    p->broken = !read || (p->at < p->end && *p->at != ';');
    return !p->broken;
}

static bool is_name(const char *name, size_t n, const char *wanted)
{
    return strlen(wanted) == n && strncasecmp(name, wanted, n) == 0;
}

qn_err qn_multipart_boundary(const char *content_type, char out[QN_MULTIPART_BOUNDARY_MAX + 1],
                             struct qn_error *e)
{
    static const char type[] = "multipart/form-data";
    size_t n = sizeof type - 1;
    if (!content_type || strncasecmp(content_type, type, n) != 0 ||
        (content_type[n] && content_type[n] != ';' && !is_blank(content_type[n])))
        return qn_fail(e, QN_EFORMAT, "the Content-Type is not multipart/form-data");
    struct parameters p = {.at = content_type + n, .end = content_type + strlen(content_type)};
    struct qn_buf value;
    const char *name;
    bool found = false;
    qn_buf_init(&value, QN_MULTIPART_BOUNDARY_MAX);
    while (!found && next_parameter(&p, &name, &n, &value))
        found = is_name(name, n, "boundary");
    bool good = found && !value.overflow && value.len > 0 && value.data[value.len - 1] != ' ';
    for (size_t i = 0; good && i < value.len; i++)
        good = is_boundary_char(value.data[i]);
    if (good)
        memcpy(out, value.data, value.len + 1);
    qn_buf_deinit(&value);
    return good ? QN_OK
                : qn_fail(e, QN_EFORMAT,
                          "the Content-Type names no boundary of 1 to %d allowed characters",
                          QN_MULTIPART_BOUNDARY_MAX);
}

/* Decodes %22, %0D and %0A, which browsers write for a quote, CR and LF in names; other percent
 * signs are literal. */
static void undo_percent(struct qn_buf *b)
{
    static const struct {
        char code[4];
        char c;
    } known[] = {{"%22", '"'}, {"%0D", '\r'}, {"%0A", '\n'}};
    size_t to = 0;
    for (size_t from = 0; from < b->len; to++) {
        char c = b->data[from];
        size_t used = 1;
        for (size_t k = 0; c == '%' && k < sizeof known / sizeof *known; k++)
            if (b->len - from >= 3 && !strncasecmp(b->data + from, known[k].code, 3)) {
                c = known[k].c;
                used = 3;
            }
        b->data[to] = c;
        from += used;
    }
    b->len = to;
    if (b->data)
        b->data[to] = '\0';
}

/* Copies the contents of b to the arena as a string. */
static qn_err keep(struct qn_buf *b, const char *what, size_t number, size_t max,
                   struct qn_arena *arena, const char **out, struct qn_error *e)
{
    if (b->overflow || b->len > max)
        return qn_fail(e, QN_ELIMIT, "part %zu of the form: %s has more than %zu bytes", number,
                       what, max);
    undo_percent(b);
    const char *text = qn_buf_cstr(b);
    if (memchr(text, '\0', b->len) || !qn_utf8_valid(text, b->len))
        return qn_fail(e, QN_EFORMAT, "part %zu of the form: %s is not proper UTF-8", number, what);
    char *copy = qn_arena_try(arena, b->len + 1);
    if (!copy)
        return qn_fail(e, QN_ELIMIT, "the form is too large");
    memcpy(copy, text, b->len);
    *out = copy;
    return QN_OK;
}

/* Parses: form-data; name="..."; filename="..." */
static qn_err read_disposition(const char *value, size_t n, size_t number, struct qn_arena *arena,
                               struct qn_part *part, struct qn_error *e)
{
    static const char kind[] = "form-data";
    size_t k = sizeof kind - 1;
    if (n < k || strncasecmp(value, kind, k) != 0 || (n > k && is_token(value[k])))
        return qn_fail(e, QN_EFORMAT,
                       "part %zu of the form: its Content-Disposition is not form-data", number);
    struct parameters p = {.at = value + k, .end = value + n};
    struct qn_buf text;
    const char *name;
    size_t name_len;
    qn_err err = QN_OK;
    qn_buf_init(&text, QN_MULTIPART_HEAD_BYTES_MAX);
    while (!err && next_parameter(&p, &name, &name_len, &text)) {
        if (is_name(name, name_len, "name") && !part->name)
            err = keep(&text, "its name", number, QN_MULTIPART_NAME_MAX, arena, &part->name, e);
        else if (is_name(name, name_len, "filename") && !part->filename)
            err = keep(&text, "its file name", number, QN_MULTIPART_FILENAME_MAX, arena,
                       &part->filename, e);
        else if (is_name(name, name_len, "name") || is_name(name, name_len, "filename"))
            err = qn_fail(e, QN_EFORMAT, "part %zu of the form is named twice", number);
    }
    qn_buf_deinit(&text);
    if (!err && p.broken)
        err = qn_fail(e, QN_EFORMAT, "part %zu of the form: its Content-Disposition is broken",
                      number);
    if (!err && !part->name)
        err = qn_fail(e, QN_EFORMAT, "part %zu of the form has no name", number);
    return err;
}

/* Parses one header line of a part, without its line end. */
static qn_err read_head(const char *line, size_t n, size_t number, struct qn_arena *arena,
                        struct qn_part *part, struct qn_error *e)
{
    size_t name_len = 0;
    while (name_len < n && is_token(line[name_len]))
        name_len++;
    if (name_len == 0 || name_len == n || line[name_len] != ':')
        return qn_fail(e, QN_EFORMAT, "part %zu of the form: a header line is broken", number);
    const char *value = line + name_len + 1, *end = line + n;
    while (value < end && is_blank(*value))
        value++;
    while (end > value && is_blank(end[-1]))
        end--;
    size_t len = (size_t)(end - value);
    if (is_name(line, name_len, "Content-Disposition")) {
        if (part->name)
            return qn_fail(e, QN_EFORMAT, "part %zu of the form has two Content-Dispositions",
                           number);
        return read_disposition(value, len, number, arena, part, e);
    }
    if (is_name(line, name_len, "Content-Type")) {
        char *copy = qn_arena_try(arena, len + 1);
        if (!copy)
            return qn_fail(e, QN_ELIMIT, "the form is too large");
        memcpy(copy, value, len);
        part->type = copy;
    }
    if (is_name(line, name_len, "Content-Transfer-Encoding") && !is_name(value, len, "binary") &&
        !is_name(value, len, "8bit") && !is_name(value, len, "7bit"))
        return qn_fail(e, QN_EUNSUPPORTED,
                       "part %zu of the form has a Content-Transfer-Encoding: send its bytes as "
                       "they are",
                       number);
    return QN_OK;
}

/* Parses the header lines from *at to the empty line; *at then is the part's first byte. */
static qn_err read_heads(const char **at, const char *end, size_t number, struct qn_arena *arena,
                         struct qn_part *part, struct qn_error *e)
{
    const char *begin = *at;
    for (size_t lines = 0;; lines++) {
        size_t left = (size_t)(end - *at), room = (size_t)QN_MULTIPART_HEAD_BYTES_MAX + 2;
        size_t used = (size_t)(*at - begin);
        size_t reach = left < room - used ? left : room - used;
        const char *eol = memmem(*at, reach, "\r\n", 2);
        if (!eol)
            return reach < left ? qn_fail(e, QN_ELIMIT,
                                          "part %zu of the form has more than %d bytes of headers",
                                          number, QN_MULTIPART_HEAD_BYTES_MAX)
                                : qn_fail(e, QN_EFORMAT,
                                          "part %zu of the form is cut off in its headers", number);
        const char *line = *at;
        *at = eol + 2;
        if (eol == line)
            break;
        if (lines == QN_MULTIPART_HEADS_MAX)
            return qn_fail(e, QN_ELIMIT, "part %zu of the form has more than %d headers", number,
                           QN_MULTIPART_HEADS_MAX);
        qn_err err = read_head(line, (size_t)(eol - line), number, arena, part, e);
        if (err)
            return err;
    }
    return part->name
               ? QN_OK
               : qn_fail(e, QN_EFORMAT,
                         "part %zu of the form has no Content-Disposition with a name", number);
}

/* Kinds of delimiters. */
enum mark { NO_MARK, NEXT_PART, LAST };

/* Checks the characters after a possible delimiter: two dashes and the end, or blanks and a line
 * end. Anything else means that it is part of the data. *after: the position behind the delimiter's
 * line. */
static enum mark judge(const char *p, const char *end, const char **after)
{
    if (end - p >= 2 && p[0] == '-' && p[1] == '-') {
        *after = p + 2;
        return LAST;
    }
    while (p < end && is_blank(*p))
        p++;
    if (end - p < 2 || p[0] != '\r' || p[1] != '\n')
        return NO_MARK;
    *after = p + 2;
    return NEXT_PART;
}

/* Finds the next delimiter at the beginning of a line, starting at `from`. *before: the end of the
 * data before it. */
static enum mark find_delimiter(const char *from, const char *end, const char *delimiter, size_t n,
                                const char **before, const char **after)
{
    while (from < end) {
        const char *at = memmem(from, (size_t)(end - from), delimiter, n);
        if (!at)
            break;
        enum mark m = judge(at + n, end, after);
        *before = at;
        if (m != NO_MARK)
            return m;
        from = at + 2; /* the CRLF may begin the real delimiter, the boundary cannot */
    }
    return NO_MARK;
}

static qn_err add_part(struct qn_multipart *m, const struct qn_part *part, size_t *room,
                       struct qn_arena *arena, struct qn_error *e)
{
    if (m->n == QN_MULTIPART_PARTS_MAX)
        return qn_fail(e, QN_ELIMIT, "the form has more than %d parts", QN_MULTIPART_PARTS_MAX);
    if (m->n == *room) {
        size_t wider = *room ? *room * 2 : 8;
        struct qn_part *v = qn_arena_try(arena, wider * sizeof *v);
        if (!v)
            return qn_fail(e, QN_ELIMIT, "the form is too large");
        if (m->n)
            memcpy(v, m->v, m->n * sizeof *v);
        m->v = v;
        *room = wider;
    }
    m->v[m->n++] = *part;
    return QN_OK;
}

qn_err qn_multipart_parse(const char *body, size_t n, const char *boundary, struct qn_arena *arena,
                          struct qn_multipart *out, struct qn_error *e)
{
    char delimiter[DELIMITER_MAX + 1] = "\r\n--";
    size_t len = strlen(boundary), room = 0;
    const char *end = body + n, *at = body, *before;
    *out = (struct qn_multipart){0};
    if (len == 0 || len > QN_MULTIPART_BOUNDARY_MAX)
        return qn_fail(e, QN_EFORMAT, "a boundary has 1 to %d characters",
                       QN_MULTIPART_BOUNDARY_MAX);
    memcpy(delimiter + 4, boundary, len + 1);
    len += 4;
    /* The first delimiter may be at the very beginning, without a CRLF before it. */
    enum mark m = NO_MARK;
    if (n >= len - 2 && memcmp(body, delimiter + 2, len - 2) == 0)
        m = judge(body + len - 2, end, &at);
    if (m == NO_MARK)
        m = find_delimiter(body, end, delimiter, len, &before, &at);
    if (m == NO_MARK)
        return qn_fail(e, QN_EFORMAT,
                       "the form does not hold the boundary that its Content-Type names");
    while (m == NEXT_PART) {
        struct qn_part part = {0};
        qn_err err = read_heads(&at, end, out->n + 1, arena, &part, e);
        if (err)
            return err;
        part.data = at;
        /* at - 2: if the part is empty, the CRLF of the empty line is the beginning of its
         * delimiter. */
        m = find_delimiter(at - 2, end, delimiter, len, &before, &at);
        if (m == NO_MARK)
            return qn_fail(
                e, QN_EFORMAT,
                "the form ends without its last boundary: it was cut off in part %zu ('%.40s')",
                out->n + 1, part.name);
        part.len = before > part.data ? (size_t)(before - part.data) : 0;
        if ((err = add_part(out, &part, &room, arena, e)))
            return err;
    }
    return QN_OK;
}
