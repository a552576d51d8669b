/* A state machine over lines and counted bytes. A line that is complete in the input is parsed in
 * place; an incomplete one is kept in a buffer. */
#include "io/http_response.h"

#include <string.h>
#include <strings.h>

enum state {
    STATUS_LINE,
    FIELDS,
    COUNTED,    /* `left` bytes of the body remain */
    CHUNK_LINE, /* a chunk's size */
    CHUNK,      /* `left` bytes of the chunk remain */
    CHUNK_END,  /* the line end after a chunk */
    TRAILERS,
    TO_THE_END /* everything until the close is the body */
};

enum { CHUNK_DIGITS_MAX = 15 }; /* hexadecimal; fits an int64_t */

void qn_response_init(struct qn_response *r, bool head_only)
{
    *r = (struct qn_response){.head_only = head_only, .state = STATUS_LINE};
    qn_buf_init(&r->line, QN_RESPONSE_HEAD_MAX);
}

void qn_response_deinit(struct qn_response *r)
{
    qn_buf_deinit(&r->line);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Parses "HTTP/1.1 200 words". */
static qn_err status_line(struct qn_response *r, const char *p, size_t n, struct qn_error *e)
{
    if (n < 12 || memcmp(p, "HTTP/1.", 7) != 0 || !is_digit(p[7]) || p[8] != ' ' ||
        !is_digit(p[9]) || !is_digit(p[10]) || !is_digit(p[11]) || (n > 12 && p[12] != ' '))
        return qn_fail(e, QN_EFORMAT, "the reply is not HTTP/1.1");
    r->next_status = (p[9] - '0') * 100 + (p[10] - '0') * 10 + (p[11] - '0');
    if (r->next_status < 100 || r->next_status == 101)
        return qn_fail(e, QN_EFORMAT, "the reply has status %d, which was not asked for",
                       r->next_status);
    r->framing = (struct qn_framing){0};
    r->type[0] = '\0';
    r->state = FIELDS;
    return QN_OK;
}

static qn_err field_line(struct qn_response *r, const char *p, size_t n, struct qn_error *e)
{
    static const char type[] = "content-type:";
    if (!qn_framing_line(&r->framing, p, n))
        return qn_fail(e, QN_EFORMAT, "the reply's head is malformed");
    if (n < sizeof type - 1 || strncasecmp(p, type, sizeof type - 1) != 0)
        return QN_OK;
    for (p += sizeof type - 1, n -= sizeof type - 1; n && is_blank(*p); p++)
        n--;
    while (n && is_blank(p[n - 1]))
        n--;
    if (n >= sizeof r->type)
        return qn_fail(e, QN_ELIMIT, "the reply's Content-Type is longer than %d bytes",
                       QN_RESPONSE_TYPE_MAX - 1);
    memcpy(r->type, p, n);
    r->type[n] = '\0';
    return QN_OK;
}

/* Handles the empty line after the head: RFC 9112, 6.3. */
static qn_err head_end(struct qn_response *r, struct qn_error *e)
{
    struct qn_framing *f = &r->framing;
    if (!qn_framing_ok(f))
        return qn_fail(e, QN_EFORMAT, "the reply has both a length and chunks");
    if (r->next_status < 200) {
        r->state = STATUS_LINE;
        return QN_OK;
    }
    r->status = r->next_status;
    if (r->head_only || r->status == 204 || r->status == 304) {
        r->done = true;
    } else if (f->chunked) {
        r->state = CHUNK_LINE;
    } else if (f->has_length) {
        r->state = COUNTED;
        r->left = f->length;
        r->done = r->left == 0;
    } else {
        r->state = TO_THE_END;
    }
    return QN_OK;
}

static int hex_digit(char c)
{
    if (is_digit(c))
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Parses "1f3" or "1f3;name=value". */
static qn_err chunk_line(struct qn_response *r, const char *p, size_t n, struct qn_error *e)
{
    size_t i = 0;
    int64_t size = 0;
    for (; i < n && i < CHUNK_DIGITS_MAX && hex_digit(p[i]) >= 0; i++)
        size = size * 16 + hex_digit(p[i]);
    if (i == 0 || (i < n && p[i] != ';' && p[i] != ' ' && p[i] != '\t'))
        return qn_fail(e, QN_EFORMAT, "a chunk of the reply has no size");
    r->left = size;
    r->state = size ? CHUNK : TRAILERS;
    return QN_OK;
}

static qn_err take_line(struct qn_response *r, const char *p, size_t n, struct qn_error *e)
{
    if (n > 0 && p[n - 1] == '\r')
        n--;
    switch (r->state) {
    case STATUS_LINE:
        return status_line(r, p, n, e);
    case FIELDS:
        return n ? field_line(r, p, n, e) : head_end(r, e);
    case CHUNK_LINE:
        return chunk_line(r, p, n, e);
    case CHUNK_END:
        r->state = CHUNK_LINE;
        return n ? qn_fail(e, QN_EFORMAT, "a chunk of the reply is longer than it says") : QN_OK;
    default: /* TRAILERS: ignored */
        r->done = n == 0;
        return QN_OK;
    }
}

/* Consumes one line, or the beginning of one. */
static qn_err take_lines(struct qn_response *r, const char *p, size_t n, size_t *used,
                         struct qn_error *e)
{
    const char *end = memchr(p, '\n', n);
    *used = end ? (size_t)(end - p) + 1 : n;
    bool of_chunk = r->state == CHUNK_LINE || r->state == CHUNK_END;
    /* The number of chunks is not limited, so the lines with their sizes are limited only one by
     * one. */
    size_t before = of_chunk ? 0 : r->head_len;
    if (before + r->line.len + *used > QN_RESPONSE_HEAD_MAX)
        return qn_fail(e, QN_ELIMIT, "the reply's head is longer than %d bytes",
                       QN_RESPONSE_HEAD_MAX);
    if (!end || r->line.len)
        qn_buf_add(&r->line, p, end ? *used - 1 : n);
    if (!end)
        return QN_OK;
    if (!of_chunk)
        r->head_len += (r->line.len ? r->line.len : *used - 1) + 1;
    qn_err err =
        r->line.len ? take_line(r, r->line.data, r->line.len, e) : take_line(r, p, *used - 1, e);
    qn_buf_deinit(&r->line);
    return err;
}

static void show(struct qn_response *r, const char *p, size_t n, size_t *used, const char **body,
                 size_t *body_len)
{
    *body = p;
    *used = *body_len = n;
    if (r->state == TO_THE_END)
        return;
    if ((uint64_t)r->left < n)
        *used = *body_len = (size_t)r->left;
    r->left -= (int64_t)*used;
    if (r->left > 0)
        return;
    if (r->state == CHUNK)
        r->state = CHUNK_END;
    else
        r->done = true;
}

qn_err qn_response_take(struct qn_response *r, const char *p, size_t n, size_t *used,
                        const char **body, size_t *body_len, struct qn_error *e)
{
    *used = *body_len = 0;
    *body = NULL;
    while (!r->done && *used < n) {
        if (r->state == COUNTED || r->state == CHUNK || r->state == TO_THE_END) {
            size_t shown;
            show(r, p + *used, n - *used, &shown, body, body_len);
            *used += shown;
            return QN_OK;
        }
        size_t line;
        qn_err err = take_lines(r, p + *used, n - *used, &line, e);
        if (err)
            return err;
        *used += line;
    }
    return QN_OK;
}

qn_err qn_response_end(struct qn_response *r, struct qn_error *e)
{
    if (r->state == TO_THE_END)
        r->done = true;
    if (r->done)
        return QN_OK;
    if (r->state == STATUS_LINE && r->line.len == 0)
        return qn_fail(e, QN_EIO, "the connection ended without a reply");
    return qn_fail(e, QN_EIO, "the connection ended in the middle of the reply");
}
