/* See detokenize.h. */
#include "text/detokenize.h"

#include "base/str.h"

#include <assert.h>
#include <string.h>

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */

void qn_detok_init(struct qn_detok *d, const struct qn_tokenizer *t)
{
    *d = (struct qn_detok){.t = t, .strip = qn_tokenizer_space_prefix(t)};
}

/* Appends s[0..n), which must end at a character's boundary; invalid bytes become U+FFFD. */
static qn_err add_whole(const char *s, size_t n, struct qn_buf *out)
{
    if (qn_utf8_valid(s, n)) {
        return qn_buf_add(out, s, n);
    }
    qn_err err = QN_OK;
    for (size_t i = 0; i < n && err == QN_OK;) {
        uint32_t cp;
        char utf8[4];
        i += qn_utf8_decode(s + i, n - i, &cp);
        err = qn_buf_add(out, utf8, qn_utf8_encode(cp, utf8));
    }
    return err;
}

qn_err qn_detok_push(struct qn_detok *d, int32_t id, struct qn_buf *out)
{
    size_t n;
    const char *s = qn_token_bytes(d->t, id, &n);
    if (d->strip && n > 0) {
        d->strip = false;
        if (*s == ' ' && !qn_token_is_control(d->t, id)) {
            s++;
            n--;
        }
    }
    /* First completes the pending character byte by byte, then handles the remaining bytes at
     * once. */
    qn_err err = QN_OK;
    while (d->n > 0 && n > 0 && err == QN_OK) {
        d->tail[d->n++] = *s++;
        n--;
        size_t whole = qn_utf8_whole(d->tail, d->n);
        if (whole > 0) {
            err = add_whole(d->tail, whole, out);
            d->n -= whole;
            memmove(d->tail, d->tail + whole, d->n);
        }
        assert(d->n < sizeof d->tail);
    }
    if (err != QN_OK || n == 0) {
        return err;
    }
    size_t whole = qn_utf8_whole(s, n);
    d->n = n - whole;
    assert(d->n < sizeof d->tail);
    memcpy(d->tail, s + whole, d->n);
    return add_whole(s, whole, out);
}

qn_err qn_detok_flush(struct qn_detok *d, struct qn_buf *out)
{
    bool unfinished = d->n > 0;
    d->n = 0;
    return unfinished ? qn_buf_str(out, replacement) : QN_OK;
}
