/* Classes of code points as the regular expressions of tokenizers use them: letters by case, marks,
 * numbers, punctuation, symbols, white space. The Unicode version is the same on every machine, so
 * that text is always split the same way. Any thread after qn_unicode_init. */
#ifndef QN_TEXT_UNICODE_H
#define QN_TEXT_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum qn_unicode_class {
    QN_CH_OTHER,    /* control, format, private and unassigned */
    QN_CH_NEWLINE,  /* \r and \n */
    QN_CH_SPACE,    /* White_Space except \r and \n */
    QN_CH_UPPER,    /* Lu */
    QN_CH_LOWER,    /* Ll */
    QN_CH_TITLE,    /* Lt */
    QN_CH_MODIFIER, /* Lm */
    QN_CH_LETTER,   /* Lo */
    QN_CH_MARK,     /* M */
    QN_CH_DIGIT,    /* Nd */
    QN_CH_NUMBER,   /* Nl and No */
    QN_CH_PUNCT,    /* P */
    QN_CH_SYMBOL,   /* S */
    QN_CH_END       /* the end of the text */
};

/* Sets of classes, as masks of 1 << class. */
enum {
    QN_CHS_WHITE = 1 << QN_CH_NEWLINE | 1 << QN_CH_SPACE,
    QN_CHS_LETTER = 1 << QN_CH_UPPER | 1 << QN_CH_LOWER | 1 << QN_CH_TITLE | 1 << QN_CH_MODIFIER |
                    1 << QN_CH_LETTER,
    QN_CHS_MARK = 1 << QN_CH_MARK,
    QN_CHS_NUMBER = 1 << QN_CH_DIGIT | 1 << QN_CH_NUMBER,
    QN_CHS_ANY = (1 << QN_CH_END) - 1
};

/* Fills the table; later calls are cheap. Must be called before the functions below are used. */
void qn_unicode_init(void);

/* From here on there are no letters or other distinguished classes, except variation selectors. */
enum { QN_UNICODE_MAPPED = 0x34000 };
extern uint8_t qn_unicode_map[QN_UNICODE_MAPPED];

static inline enum qn_unicode_class qn_unicode_class(uint32_t cp)
{
    if (cp < QN_UNICODE_MAPPED) {
        return (enum qn_unicode_class)qn_unicode_map[cp];
    }
    return cp >= 0xe0100 && cp <= 0xe01ef ? QN_CH_MARK : QN_CH_OTHER; /* variation selectors */
}

/* Decodes the code point at s (s < end, valid UTF-8) and stores its length in bytes in *n. */
static inline uint32_t qn_unicode_at(const unsigned char *s, unsigned *n)
{
    uint32_t c = *s;
    if (c < 0x80) {
        *n = 1;
        return c;
    }
    if (c < 0xe0) {
        *n = 2;
        return (c & 0x1f) << 6 | (s[1] & 0x3fu);
    }
    if (c < 0xf0) {
        *n = 3;
        return (c & 0x0f) << 12 | (s[1] & 0x3fu) << 6 | (s[2] & 0x3fu);
    }
    *n = 4;
    return (c & 0x07) << 18 | (s[1] & 0x3fu) << 12 | (s[2] & 0x3fu) << 6 | (s[3] & 0x3fu);
}

/* A set of characters: classes and ranges. */
struct qn_charset {
    uint32_t classes;           /* mask of 1 << enum qn_unicode_class */
    const uint32_t (*range)[2]; /* [ranges] first and last code point, ascending */
    size_t ranges;
};
bool qn_charset_has(const struct qn_charset *set, uint32_t cp);

extern const struct qn_charset qn_charset_han; /* the script Han */

#endif
