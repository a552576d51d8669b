/* One JSON value, byte by byte: where it ends, and whether it can still become one. What a model
 * writes slips in two ways that everybody understands, and both are passed on mended: control
 * characters within strings, and a backslash before a character that needs none. Pure. */
#ifndef QN_GRAMMAR_JSON_SCAN_H
#define QN_GRAMMAR_JSON_SCAN_H

#include "base/buf.h"
#include "base/json.h"

#include <stdint.h>

enum qn_json_step {
    QN_SCAN_MORE,   /* the byte belongs to the value, which goes on */
    QN_SCAN_DONE,   /* the byte ends the value and belongs to it */
    QN_SCAN_BEFORE, /* the value (a number or a word) ended before the byte, which was not taken */
    QN_SCAN_BAD     /* no value goes on so; the byte was not taken */
};

/* All zero to begin with. */
struct qn_json_scan {
    uint8_t object[QN_JSON_DEPTH_MAX / 8]; /* a bit per level: it is an object */
    int depth;
    int state;
    int hex;       /* digits still to come of \uXXXX */
    char word[32]; /* a number or a word so far */
    size_t word_n;
};

/* Takes one byte; out (MAY be NULL) gets what it adds to the value's text. */
enum qn_json_step qn_json_scan(struct qn_json_scan *s, char c, struct qn_buf *out);

/* The text ended: QN_SCAN_DONE when the value is complete. */
enum qn_json_step qn_json_scan_end(const struct qn_json_scan *s);

/* Appends c as it stands in a JSON string. */
void qn_json_escape(struct qn_buf *out, char c);

#endif
