/* The steps of cut.h that are not word rules. Most of them split off runs of certain characters and
 * leave the text in between for the next step. */
#include "text/cut.h"

#include <string.h>

typedef const unsigned char *at;

/* Where pieces are written. Text that no match has taken is collected and becomes one piece before
 * the next match. */
struct cutter {
    at base, loose; /* base: the text; loose: start of the text that no match has taken */
    struct qn_text_pieces *out;
};

/* Adds the unmatched text before s and then [s, e) as pieces. */
static void take(struct cutter *c, at s, at e)
{
    if (c->loose < s) {
        qn_pieces_add(c->out, (size_t)(s - c->base));
    }
    qn_pieces_add(c->out, (size_t)(e - c->base));
    c->loose = e;
}

static bool has(const struct qn_charset *set, at s, at end, unsigned *n)
{
    return s < end && qn_charset_has(set, qn_unicode_at(s, n));
}

static at next(at s)
{
    unsigned n;
    (void)qn_unicode_at(s, &n);
    return s + n;
}

static void runs(struct cutter *c, const struct qn_cut *step, at s, at end)
{
    for (unsigned n; s < end;) {
        at e = s;
        for (unsigned k = 0; (step->max == 0 || k < step->max) && has(step->set, e, end, &n); k++) {
            e += n;
        }
        if (e > s) {
            take(c, s, e);
            s = e;
        } else {
            s = next(s);
        }
    }
}

static const struct qn_charset white = {QN_CHS_WHITE, NULL, 0};

static void spaced(struct cutter *c, const struct qn_cut *step, at s, at end)
{
    for (unsigned n; s < end;) {
        bool space = step->kind == QN_CUT_BLANK ? *s == ' ' : has(&white, s, end, &n);
        at word = space && !has(step->set, s, end, &n) ? next(s) : s, e = word;
        while (has(step->set, e, end, &n)) {
            e += n;
        }
        if (e > word) {
            take(c, s, e);
            s = e;
        } else {
            s = next(s);
        }
    }
}

static bool is_digit(at s, at end)
{
    return s < end && *s >= '0' && *s <= '9';
}

static void threes(struct cutter *c, at s, at end)
{
    while (s < end) {
        if (is_digit(s, end) && is_digit(s + 1, end) && is_digit(s + 2, end)) {
            take(c, s, s + 3);
            s += 3;
        } else {
            s++;
        }
    }
}

/* The characters that \w matches. */
static bool is_word(at s, at end)
{
    static const uint32_t connectors[][2] = {{'_', '_'},       {0x203f, 0x2040}, {0x2054, 0x2054},
                                             {0xfe33, 0xfe34}, {0xfe4d, 0xfe4f}, {0xff3f, 0xff3f}};
    static const struct qn_charset word = {QN_CHS_LETTER | QN_CHS_MARK | 1 << QN_CH_DIGIT,
                                           connectors, sizeof connectors / sizeof connectors[0]};
    unsigned n;
    return has(&word, s, end, &n);
}

static void from_the_right(struct cutter *c, const struct qn_cut *step, at s, at end)
{
    while (s < end) {
        size_t count = 0;
        at e = s;
        for (unsigned n; has(step->set, e, end, &n); e += n) {
            count++;
        }
        if (count == 0) {
            s = next(s);
            continue;
        }
        if (step->kind == QN_CUT_RIGHT_WORD && is_word(e, end)) {
            s = e; /* the number does not end at a word boundary, so nothing matches */
            continue;
        }
        for (size_t left = count; left > 0;) {
            size_t group = left % 3 != 0 ? left % 3 : 3;
            at stop = s;
            for (size_t i = 0; i < group; i++) {
                stop = next(stop);
            }
            if (step->kind != QN_CUT_RIGHT_INSIDE) {
                take(c, s, stop);
            } else if (group == 3 && s > c->loose) { /* the match is empty: it splits the text
                                                        here */
                take(c, c->loose, s);
            }
            s = stop;
            left -= group;
        }
    }
}

static void trailing(struct cutter *c, at s, at end)
{
    at space = end;
    while (s < end) {
        unsigned n;
        if (!has(&white, s, end, &n)) {
            space = end;
        } else if (space == end) {
            space = s;
        }
        s = next(s);
    }
    if (space < end) {
        take(c, space, end);
    }
}

/* The end of Chameleon's "<sentinel:[0-9]+>" or "IMGIMG[A-I]{1,4}Z" at s; s if neither begins
 * there. */
static at literal(at s, at end)
{
    static const char sentinel[] = "<sentinel:", image[] = "IMGIMG";
    size_t n = (size_t)(end - s);
    at e = s;
    if (n > strlen(sentinel) && memcmp(s, sentinel, strlen(sentinel)) == 0) {
        for (e += strlen(sentinel); is_digit(e, end); e++) {
        }
        return e > s + strlen(sentinel) && e < end && *e == '>' ? e + 1 : s;
    }
    if (n > strlen(image) && memcmp(s, image, strlen(image)) == 0) {
        at letter = e += strlen(image);
        while (e < end && e < letter + 4 && *e >= 'A' && *e <= 'I') {
            e++;
        }
        return e > letter && e < end && *e == 'Z' ? e + 1 : s;
    }
    return s;
}

static at indent(at s, at end)
{
    if (*s == '\t' || *s == '\n') {
        return s + 1;
    }
    size_t n = (size_t)(end - s);
    return n >= 4 && memcmp(s, "    ", 4) == 0 ? s + 4
           : n >= 2 && memcmp(s, "  ", 2) == 0 ? s + 2
                                               : s;
}

static void fixed(struct cutter *c, at (*match)(at s, at end), at s, at end)
{
    while (s < end) {
        at e = match(s, end);
        if (e > s) {
            take(c, s, e);
            s = e;
        } else {
            s++;
        }
    }
}

void qn_cut(const struct qn_cut *step, const char *text, size_t from, size_t to,
            struct qn_text_pieces *out)
{
    at base = (at)text, s = base + from, end = base + to;
    struct cutter c = {.base = base, .loose = s, .out = out};
    switch (step->kind) {
    case QN_CUT_END:
        break;
    case QN_CUT_WORDS:
        qn_words_cut(step->rule, text, from, to, out);
        return;
    case QN_CUT_RUNS:
        runs(&c, step, s, end);
        break;
    case QN_CUT_SPACED:
    case QN_CUT_BLANK:
        spaced(&c, step, s, end);
        break;
    case QN_CUT_THREES:
        threes(&c, s, end);
        break;
    case QN_CUT_RIGHT:
    case QN_CUT_RIGHT_WORD:
    case QN_CUT_RIGHT_INSIDE:
        from_the_right(&c, step, s, end);
        break;
    case QN_CUT_TRAILING:
        trailing(&c, s, end);
        break;
    case QN_CUT_LITERALS:
        fixed(&c, literal, s, end);
        break;
    case QN_CUT_INDENT:
        fixed(&c, indent, s, end);
        break;
    }
    if (c.loose < end) {
        qn_pieces_add(out, (size_t)(end - base));
    }
}
