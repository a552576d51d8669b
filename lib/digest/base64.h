/* Base64 with padding (RFC 4648, section 4), by nettle. */
#ifndef QN_DIGEST_BASE64_H
#define QN_DIGEST_BASE64_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

qn_err qn_base64_add(struct qn_buf *out, const void *p, size_t n); /* QN_ELIMIT */

/* Decodes n characters into out, which must have space for n / 4 * 3 + 3 bytes; *len: the number of
 * decoded bytes. Padding may be missing; line breaks and blanks are skipped. False: other
 * characters, or an incomplete group. */
bool qn_base64_decode(const char *text, size_t n, void *out, size_t *len);

#endif
