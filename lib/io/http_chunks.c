/* A state machine over single bytes outside the data, and over pieces within the data. Only CR LF
 * ends a line: if two programs saw the end of a chunk at different places, a second request could
 * be hidden. */
#include "io/http_chunks.h"

enum state {
    DONE,
    COUNTED,   /* `left` bytes remain of a body with a length */
    SIZE,      /* digits of a chunk's size */
    EXTENSION, /* after the digits, to the end of the line: ignored */
    SIZE_LF,
    CHUNK, /* `left` bytes of the chunk remain */
    CHUNK_CR,
    CHUNK_LF,
    TRAILER,       /* start of a line: a field's name, or the empty line */
    TRAILER_NAME,  /* at least one character of the name has arrived */
    TRAILER_VALUE, /* to the end of the line: ignored */
    TRAILER_LF,
    LAST_LF
};

static enum qn_chunks_event bad(struct qn_chunks *c, const char *why)
{
    c->why = why;
    return QN_CHUNKS_BAD;
}

void qn_chunks_init(struct qn_chunks *c, const struct qn_framing *f)
{
    *c = (struct qn_chunks){.state = f->chunked ? SIZE : f->has_length ? COUNTED : DONE};
    c->left = f->chunked ? 0 : (uint64_t)f->length;
    if (c->state == COUNTED && c->left == 0)
        c->state = DONE;
}

bool qn_chunks_done(const struct qn_chunks *c)
{
    return c->state == DONE;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static enum qn_chunks_event size_byte(struct qn_chunks *c, char b)
{
    int digit = hex_digit(b);
    if (digit >= 0) {
        if (++c->digits > QN_CHUNK_DIGITS_MAX)
            return bad(c, "a chunk's size has more than 15 digits");
        c->left = c->left * 16 + (unsigned)digit;
        return QN_CHUNKS_MORE;
    }
    if (c->digits == 0)
        return bad(c, "a chunk does not begin with its size in hexadecimal digits");
    if (b == '\r')
        c->state = SIZE_LF;
    else if (b == ';')
        c->state = EXTENSION;
    else
        return bad(c, "a chunk's size is followed by neither ';' nor the line's end");
    return QN_CHUNKS_MORE;
}

static enum qn_chunks_event extension_byte(struct qn_chunks *c, char b)
{
    if (++c->extensions > QN_CHUNK_EXTENSIONS_MAX)
        return bad(c, "the chunk extensions are too long");
    if (b == '\r')
        c->state = SIZE_LF;
    else if (!qn_http_is_text(b))
        return bad(c, "a chunk extension has a control character");
    return QN_CHUNKS_MORE;
}

static enum qn_chunks_event trailer_byte(struct qn_chunks *c, char b)
{
    if (++c->trailers > QN_CHUNK_TRAILERS_MAX)
        return bad(c, "the fields after the last chunk are too long");
    if (c->state == TRAILER && b == '\r')
        c->state = LAST_LF;
    else if (c->state != TRAILER_VALUE && qn_http_is_token(b))
        c->state = TRAILER_NAME;
    else if (c->state == TRAILER_NAME && b == ':')
        c->state = TRAILER_VALUE;
    else if (c->state == TRAILER_VALUE && b == '\r')
        c->state = TRAILER_LF;
    else if (c->state != TRAILER_VALUE || !qn_http_is_text(b))
        return bad(c, "a field after the last chunk is malformed");
    return QN_CHUNKS_MORE;
}

/* Takes one byte of the line end after a chunk. */
static enum qn_chunks_event end_byte(struct qn_chunks *c, char b)
{
    if (b != (c->state == CHUNK_CR ? '\r' : '\n'))
        return bad(c, c->state == CHUNK_CR ? "a chunk is longer than it says"
                                           : "a line of the chunked body does not end in CR LF");
    switch (c->state) {
    case SIZE_LF:
        c->state = c->left ? CHUNK : TRAILER;
        return QN_CHUNKS_MORE;
    case CHUNK_CR:
        c->state = CHUNK_LF;
        return QN_CHUNKS_MORE;
    case CHUNK_LF:
        c->state = SIZE;
        c->digits = 0;
        return QN_CHUNKS_MORE;
    case TRAILER_LF:
        c->state = TRAILER;
        return QN_CHUNKS_MORE;
    default: /* LAST_LF */
        c->state = DONE;
        return QN_CHUNKS_END;
    }
}

static enum qn_chunks_event take_byte(struct qn_chunks *c, char b)
{
    switch (c->state) {
    case SIZE:
        return size_byte(c, b);
    case EXTENSION:
        return extension_byte(c, b);
    case TRAILER:
    case TRAILER_NAME:
    case TRAILER_VALUE:
        return trailer_byte(c, b);
    default:
        return end_byte(c, b);
    }
}

enum qn_chunks_event qn_chunks_take(struct qn_chunks *c, const char *p, size_t n, size_t *used,
                                    const char **data, size_t *data_len)
{
    *used = *data_len = 0;
    *data = NULL;
    if (c->state == DONE)
        return QN_CHUNKS_END;
    while (*used < n) {
        if (c->state == COUNTED || c->state == CHUNK) {
            *data = p + *used;
            *data_len = c->left < n - *used ? (size_t)c->left : n - *used;
            *used += *data_len;
            c->left -= *data_len;
            if (c->left == 0)
                c->state = c->state == CHUNK ? CHUNK_CR : DONE;
            return QN_CHUNKS_DATA;
        }
        enum qn_chunks_event event = take_byte(c, p[(*used)++]);
        if (event != QN_CHUNKS_MORE)
            return event;
    }
    return QN_CHUNKS_MORE;
}
