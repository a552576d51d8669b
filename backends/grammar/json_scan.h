/* Scans one JSON value byte by byte and tells where it ends and whether it is still valid. Two
 * frequent mistakes of models are corrected in the output, because their meaning is clear: raw
 * control characters within strings, and a backslash before a character that needs no escape.
 * Pure. */
#ifndef QN_GRAMMAR_JSON_SCAN_H
#define QN_GRAMMAR_JSON_SCAN_H

#include "base/buf.h"
#include "base/json.h"

#include <stdint.h>

enum qn_json_step {
    QN_SCAN_MORE,   /* the byte belongs to the value, which continues */
    QN_SCAN_DONE,   /* the byte ends the value and belongs to it */
    QN_SCAN_BEFORE, /* the value (a number or a word) ended before the byte, which was not taken */
    QN_SCAN_BAD     /* the byte makes the value invalid; it was not consumed */
};

/* Initialise to all zero. */
struct qn_json_scan {
    uint8_t object[QN_JSON_DEPTH_MAX / 8]; /* one bit per nesting level: set for an object, clear
                                              for an array */
    int depth;
    int state;
    int hex;       /* remaining digits of \uXXXX */
    char word[32]; /* the number or word read so far */
    size_t word_n;
};

/* Consumes one byte; out (MAY be NULL) receives the text that the byte adds to the value. */
enum qn_json_step qn_json_scan(struct qn_json_scan *s, char c, struct qn_buf *out);

/* Signals the end of the text; QN_SCAN_DONE when the value is complete. */
enum qn_json_step qn_json_scan_end(const struct qn_json_scan *s);

/* Appends c in the form that it has within a JSON string. */
void qn_json_escape(struct qn_buf *out, char c);

#endif
