/* See base64.h. */
#include "base/base64.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

qn_err qn_base64_add(struct qn_buf *out, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    size_t made = (n + 2) / 3 * 4;
    if (qn_buf_reserve(out, made + 1))
        return QN_ELIMIT;
    char *to = out->data + out->len;
    for (size_t i = 0; i < n; i += 3) {
        unsigned long v = (unsigned long)p[i] << 16;
        if (i + 1 < n)
            v |= (unsigned long)p[i + 1] << 8;
        if (i + 2 < n)
            v |= p[i + 2];
        *to++ = digits[v >> 18];
        *to++ = digits[v >> 12 & 63];
        *to++ = i + 1 < n ? digits[v >> 6 & 63] : '=';
        *to++ = i + 2 < n ? digits[v & 63] : '=';
    }
    *to = '\0';
    out->len += made;
    return QN_OK;
}

/* The value of a digit; -1: it is none. */
static int value_of(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

bool qn_base64_decode(const char *text, size_t n, void *out, size_t *len)
{
    unsigned char *to = out;
    unsigned long bits = 0;
    size_t had = 0, pads = 0, made = 0;
    for (size_t i = 0; i < n; i++) {
        char c = text[i];
        if (c == '\r' || c == '\n' || c == ' ' || c == '\t')
            continue;
        if (c == '=') {
            pads++;
            continue;
        }
        int v = value_of(c);
        if (v < 0 || pads)
            return false;
        bits = bits << 6 | (unsigned)v;
        if (++had % 4 == 0) {
            to[made++] = (unsigned char)(bits >> 16 & 0xFF);
            to[made++] = (unsigned char)(bits >> 8 & 0xFF);
            to[made++] = (unsigned char)(bits & 0xFF);
            bits = 0;
        }
    }
    size_t rest = had % 4;
    if (rest == 1 || (pads && pads != (4 - rest) % 4))
        return false;
    if (rest >= 2)
        to[made++] = (unsigned char)(rest == 2 ? bits >> 4 & 0xFF : bits >> 10 & 0xFF);
    if (rest == 3)
        to[made++] = (unsigned char)(bits >> 2 & 0xFF);
    *len = made;
    return true;
}
