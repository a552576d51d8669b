/* UTF-8 text with the semantics of Python's str: indices and lengths count code points. */
#ifndef QN_JINJA_TEXT_H
#define QN_JINJA_TEXT_H

#include "jinja/value.h"

/* Length in bytes of the character at s (n > 0); a malformed byte counts as one character. */
size_t qn_ttext_char(const char *s, size_t n);
size_t qn_ttext_len(const char *s, size_t n); /* number of characters */
/* Byte offset of a character, or n when the text has fewer characters. */
size_t qn_ttext_offset(const char *s, size_t n, size_t index);
/* Length in bytes of the last character (n > 0). */
size_t qn_ttext_last(const char *s, size_t n);

/* qn_ttext_skip: length of the white space at the start of s. qn_ttext_rtrim: length of s without
 * the white space at its end. */
size_t qn_ttext_skip(const char *s, size_t n);
size_t qn_ttext_rtrim(const char *s, size_t n);
/* Removes characters of a set from the ends; a NULL set means white space. */
struct qn_tval qn_ttext_strip(const struct qn_tval *v, const struct qn_tval *set, bool left,
                              bool right);

/* Offset of the first or last occurrence of needle, or SIZE_MAX. */
size_t qn_ttext_find(const char *s, size_t n, const char *needle, size_t m);
size_t qn_ttext_rfind(const char *s, size_t n, const char *needle, size_t m);
/* Length of the line end at s as splitlines() defines it ("\r\n" is one line end), or 0. */
size_t qn_ttext_line_end(const char *s, size_t n);

enum qn_ttext_case {
    QN_TEXT_UPPER,
    QN_TEXT_LOWER,
    QN_TEXT_TITLE,
    QN_TEXT_CAPITALIZE,
    QN_TEXT_SWAP,
    QN_TEXT_FOLD
};
enum qn_tflow qn_ttext_recase(struct qn_trun *run, const struct qn_tval *v, enum qn_ttext_case how,
                              struct qn_tval *out);
/* max: maximum number of replacements; negative: no maximum. */
enum qn_tflow qn_ttext_replace(struct qn_trun *run, const struct qn_tval *v,
                               const struct qn_tval *from, const struct qn_tval *to, int64_t max,
                               struct qn_tval *out);
/* A list of strings of v's kind; sep NULL: splits at white space. */
enum qn_tflow qn_ttext_split(struct qn_trun *run, const struct qn_tval *v,
                             const struct qn_tval *sep, int64_t max, bool from_right,
                             struct qn_tlist **out);
enum qn_tflow qn_ttext_lines(struct qn_trun *run, const struct qn_tval *v, bool keep,
                             struct qn_tlist **out);
enum qn_tflow qn_ttext_join(struct qn_trun *run, const struct qn_tval *sep,
                            const struct qn_tlist *items, struct qn_tval *out);
enum qn_tflow qn_ttext_reverse(struct qn_trun *run, const struct qn_tval *v, struct qn_tval *out);
/* Appends n bytes of text, padded with `fill` (one character) to a width in characters; how: <, >
 * or ^. */
enum qn_tflow qn_ttext_put_padded(struct qn_trun *run, const char *s, size_t n, const char *fill,
                                  size_t fill_n, int64_t width, char how);
/* str.center(): when the padding is odd, its larger part is on the side where Python puts it. */
enum qn_tflow qn_ttext_put_centered(struct qn_trun *run, const char *s, size_t n, const char *fill,
                                    size_t fill_n, int64_t width);
/* Appends a code point as UTF-8 to the output. */
enum qn_tflow qn_ttext_put_cp(struct qn_trun *run, uint32_t cp);

#endif
