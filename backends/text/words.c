/* The word rules of cut.h. A rule is a regular expression of alternatives. Each alternative is
 * implemented as a forward scan; positions to which the regular expression would backtrack are
 * remembered during the scan. */
#include "text/cut.h"

#include <string.h>

typedef const unsigned char *at;

struct scan {
    const struct qn_word_rule *r;
    at end;
    at white_end, line_end; /* of the white space run scanned last: its end, and the end of its last
                               line break (NULL: none). Each run is scanned once, however it is
                               split. */
};

static inline bool in(uint32_t set, enum qn_unicode_class class)
{
    return (set >> class & 1u) != 0;
}

/* The class of the character at s and its length in bytes; QN_CH_END with length 0 at the end of
 * the text. */
static inline enum qn_unicode_class class_at(at s, at end, unsigned *n)
{
    if (s == end) {
        *n = 0;
        return QN_CH_END;
    }
    uint32_t cp = qn_unicode_at(s, n);
    return qn_unicode_class(cp);
}

static inline at run(at s, at end, uint32_t set)
{
    for (;;) {
        while (s < end && *s < 0x80 && in(set, (enum qn_unicode_class)qn_unicode_map[*s])) {
            s++;
        }
        unsigned n;
        if (s == end || *s < 0x80 || !in(set, class_at(s, end, &n))) {
            return s;
        }
        s += n;
    }
}

static at run_max(at s, at end, uint32_t set, unsigned max)
{
    for (unsigned n, count = 0; count < max && in(set, class_at(s, end, &n)); count++) {
        s += n;
    }
    return s;
}

/* The end of an English contraction at s; s if there is none. */
static at contraction(at s, at end, bool capitals)
{
    unsigned char fold = capitals ? 0x20 : 0;
    if (end - s < 2 || *s != '\'') {
        return s;
    }
    unsigned char a = s[1] | fold, b = end - s > 2 ? s[2] | fold : 0;
    if (a == 's' || a == 't' || a == 'm' || a == 'd') {
        return s + 2;
    }
    return (a == 'r' && b == 'e') || (a == 'v' && b == 'e') || (a == 'l' && b == 'l') ? s + 3 : s;
}

static bool is_han(uint32_t cp)
{
    return cp >= 0x2e80 && qn_charset_has(&qn_charset_han, cp);
}

static at han_run(at s, at end)
{
    unsigned n;
    while (s < end && is_han(qn_unicode_at(s, &n))) {
        s += n;
    }
    return s;
}

/* Like class_at, but Han characters are not letters if the rule matches Han separately. */
static enum qn_unicode_class cased_at(const struct scan *z, at s, unsigned *n)
{
    enum qn_unicode_class c = class_at(s, z->end, n);
    return z->r->han_apart && *n > 2 && is_han(qn_unicode_at(s, n)) ? QN_CH_OTHER : c;
}

/* The end of one word of a cased rule at s, without its prefix; s: no match. first: match only the
 * expression's first alternative, which needs at least one character that is not a capital. */
static at cased(const struct scan *z, at s, bool first)
{
    enum { EITHER = 1 << QN_CH_MODIFIER | 1 << QN_CH_LETTER | QN_CHS_MARK };
    enum { CAPITAL = EITHER | 1 << QN_CH_UPPER | 1 << QN_CH_TITLE };
    enum { SMALL = EITHER | 1 << QN_CH_LOWER };
    at last = NULL; /* end of the last character that belongs to both sets */
    enum qn_unicode_class c;
    unsigned n;
    at from = s;
    while (in(CAPITAL, c = cased_at(z, s, &n))) {
        s += n;
        if (in(EITHER, c)) {
            last = s;
        }
    }
    if (c == QN_CH_LOWER) {
        while (in(SMALL, cased_at(z, s, &n))) {
            s += n;
        }
        return s;
    }
    return last != NULL ? last : first ? from : s;
}

static at cased_word(const struct scan *z, at s, enum qn_unicode_class c, unsigned n)
{
    at e = s;
    bool prefix = !in(QN_CHS_LETTER | QN_CHS_NUMBER | 1 << QN_CH_NEWLINE, c);
    if (prefix) {
        e = cased(z, s + n, true);
        e = e == s + n ? s : e;
    }
    if (e == s) {
        e = cased(z, s, true);
    }
    if (e == s) {
        at word = prefix ? s + n : s;
        e = cased(z, word, false);
        e = e == word ? s : e;
    }
    return e != s && z->r->contraction == QN_CONTRACTION_SUFFIX ? contraction(e, z->end, true) : e;
}

/* The end of letters with marks, with at most one space before each further letter. s is after the
 * first letter. */
static at phrase(at s, at end)
{
    for (unsigned n, m;;) {
        s = run(s, end, QN_CHS_MARK);
        enum qn_unicode_class c = class_at(s, end, &n);
        if (in(QN_CHS_LETTER, c)) {
            s += n;
        } else if (n > 0 && *s == ' ' && in(QN_CHS_LETTER, class_at(s + 1, end, &m))) {
            s += 1 + m;
        } else {
            return s;
        }
    }
}

static bool is_ascii_letter(at s, at end)
{
    return s < end && (*s | 0x20) >= 'a' && (*s | 0x20) <= 'z';
}

static at letters(const struct scan *z, at s, enum qn_unicode_class c, unsigned n)
{
    const struct qn_word_rule *r = z->r;
    uint32_t not_prefix = QN_CHS_LETTER | QN_CHS_NUMBER | 1 << QN_CH_NEWLINE;
    unsigned m;
    at word, e;
    switch (r->letters) {
    case QN_LETTERS_SPACED:
        word = *s == ' ' ? s + 1 : s;
        e = run(word, z->end, r->letter);
        return e != word ? e : s;
    case QN_LETTERS_CODE:
        if (*s < 0x80 && in(1 << QN_CH_PUNCT | 1 << QN_CH_SYMBOL, c) &&
            is_ascii_letter(s + 1, z->end)) {
            do {
                s++;
            } while (is_ascii_letter(s + 1, z->end));
            return s + 1;
        }
        not_prefix = QN_CHS_LETTER | 1 << QN_CH_NEWLINE | 1 << QN_CH_PUNCT | 1 << QN_CH_SYMBOL;
        /* fall through */
    case QN_LETTERS_PREFIXED:
        if (in(r->letter, c)) {
            return run(s + n, z->end, r->letter);
        }
        if (!in(not_prefix, c) && in(r->letter, class_at(s + n, z->end, &m))) {
            return run(s + n + m, z->end, r->letter);
        }
        return s;
    case QN_LETTERS_PHRASE:
        if (in(QN_CHS_LETTER, c)) {
            return phrase(s + n, z->end);
        }
        if (!in(not_prefix, c) && in(QN_CHS_LETTER, class_at(s + n, z->end, &m))) {
            return phrase(s + n + m, z->end);
        }
        return s;
    case QN_LETTERS_CASED:
        return cased_word(z, s, c, n);
    }
    return s;
}

/* The end of the white space piece at s, which must be white space. */
static at white(struct scan *z, at s)
{
    const struct qn_word_rule *r = z->r;
    if (r->line_alone && (*s == '\n' || *s == '\r')) {
        return s + 1;
    }
    if (s >= z->white_end) {
        z->line_end = NULL;
        at p = s;
        for (unsigned n; in(QN_CHS_WHITE, class_at(p, z->end, &n));) {
            p += n;
            if (p[-1] == '\n' || p[-1] == '\r') {
                z->line_end = p;
            }
        }
        z->white_end = p;
    }
    if (r->space != QN_SPACE_PLAIN && !r->line_alone && z->line_end != NULL && z->line_end > s) {
        return z->line_end;
    }
    unsigned n;
    if (r->space == QN_SPACE_CASCADE) {
        /* The greatest power of two of white space characters after which more white space, or the
         * end of the text, follows. */
        at stop = s;
        size_t count = 0;
        while (stop < z->white_end && count < 513) {
            (void)qn_unicode_at(stop, &n);
            stop += n;
            count++;
        }
        bool all = stop == z->end;
        size_t take = 512;
        while (take > 1 && !(count > take || (count == take && all))) {
            take /= 2;
        }
        return run_max(s, z->end, QN_CHS_WHITE, (unsigned)take);
    }
    if (z->white_end == z->end) {
        return z->end;
    }
    /* All but the last character, which belongs to the next piece; if there is only one character,
     * that one. */
    at last = z->white_end - 1;
    while ((*last & 0xc0) == 0x80) {
        last--;
    }
    return last > s ? last : z->white_end;
}

/* The end of the piece that begins at s; s if no alternative matches. */
static at match(struct scan *z, at s)
{
    const struct qn_word_rule *r = z->r;
    unsigned n;
    enum qn_unicode_class c = class_at(s, z->end, &n);
    at e;
    if (r->han_apart && n > 2 && (e = han_run(s, z->end)) != s) {
        return e;
    }
    if (*s == '\'' &&
        (r->contraction == QN_CONTRACTION_LOWER || r->contraction == QN_CONTRACTION_ANY) &&
        (e = contraction(s, z->end, r->contraction == QN_CONTRACTION_ANY)) != s) {
        return e;
    }
    if ((e = letters(z, s, c, n)) != s) {
        return e;
    }
    at word = *s == ' ' ? s + 1 : s;
    if (r->digits == QN_DIGITS_SPACED) {
        if ((e = run(word, z->end, QN_CHS_NUMBER)) != word) {
            return e;
        }
    } else if (r->digits > 0 && in(QN_CHS_NUMBER, c)) {
        return r->digits == QN_DIGITS_ALL ? run(s, z->end, QN_CHS_NUMBER)
                                          : run_max(s, z->end, QN_CHS_NUMBER, r->digits);
    }
    if ((e = run(word, z->end, r->symbol)) != word) {
        for (unsigned count = 0;
             e < z->end && *e < 0x80 && *e != 0 && strchr(r->tail, *e) != NULL &&
             (r->tail_max == 0 || count < r->tail_max);
             count++) {
            e++;
        }
        return e;
    }
    return in(QN_CHS_WHITE, c) ? white(z, s) : s;
}

void qn_words_cut(const struct qn_word_rule *r, const char *text, size_t from, size_t to,
                  struct qn_text_pieces *out)
{
    at base = (at)text, s = base + from, loose = s;
    struct scan z = {.r = r, .end = base + to, .white_end = s};
    while (s < z.end) {
        at e = match(&z, s);
        if (e == s) {
            unsigned n;
            (void)qn_unicode_at(s, &n);
            s += n;
            continue;
        }
        if (loose < s) {
            qn_pieces_add(out, (size_t)(s - base));
        }
        qn_pieces_add(out, (size_t)(e - base));
        s = loose = e;
    }
    if (loose < s) {
        qn_pieces_add(out, (size_t)(s - base));
    }
}
