/* See base64.h. */
#include "digest/base64.h"

#include <nettle/base64.h>

qn_err qn_base64_add(struct qn_buf *out, const void *bytes, size_t n)
{
    size_t made = BASE64_ENCODE_RAW_LENGTH(n);
    if (qn_buf_reserve(out, made + 1))
        return QN_ELIMIT;
    if (n > 0)
        base64_encode_raw(out->data + out->len, n, bytes);
    out->len += made;
    out->data[out->len] = '\0';
    return QN_OK;
}

static bool is_space(char c)
{
    return c == '\r' || c == '\n' || c == ' ' || c == '\t';
}

/* The padding is checked here, because nettle rejects text whose last digit has unused bits that
 * are not zero, which other decoders accept. */
bool qn_base64_decode(const char *text, size_t n, void *out, size_t *len)
{
    struct base64_decode_ctx ctx;
    size_t made = n / 4 * 3 + 3, pads = 0;
    for (; n > 0 && (text[n - 1] == '=' || is_space(text[n - 1])); n--)
        pads += text[n - 1] == '=';
    base64_decode_init(&ctx);
    if (!base64_decode_update(&ctx, &made, out, n, text) || ctx.padding)
        return false;
    /* Bits left over from digits that do not fill a byte: 6, 4 or 2 after one, two or three digits.
     */
    if (ctx.bits == 6 || (pads && pads != ctx.bits / 2u))
        return false;
    *len = made;
    return true;
}
