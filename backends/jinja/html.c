/* See html.h: entities and tags. */
#include "jinja/html.h"

#include "jinja/run.h"
#include "jinja/text.h"

#include <stdio.h>

/* Common named entities; other names are left unresolved. */
static const struct {
    const char *name;
    uint32_t cp;
} entities[] = {
    {"amp", '&'},       {"lt", '<'},       {"gt", '>'},       {"quot", '"'},     {"apos", '\''},
    {"nbsp", 0xa0},     {"copy", 0xa9},    {"reg", 0xae},     {"laquo", 0xab},   {"raquo", 0xbb},
    {"hellip", 0x2026}, {"mdash", 0x2014}, {"ndash", 0x2013}, {"lsquo", 0x2018}, {"rsquo", 0x2019},
    {"ldquo", 0x201c},  {"rdquo", 0x201d}, {"bull", 0x2022},  {"middot", 0xb7},  {"euro", 0x20ac},
    {"pound", 0xa3},    {"yen", 0xa5},     {"cent", 0xa2},    {"sect", 0xa7},    {"deg", 0xb0},
    {"plusmn", 0xb1},   {"times", 0xd7},   {"divide", 0xf7},  {"trade", 0x2122}, {"auml", 0xe4},
    {"ouml", 0xf6},     {"uuml", 0xfc},    {"Auml", 0xc4},    {"Ouml", 0xd6},    {"Uuml", 0xdc},
    {"szlig", 0xdf},    {"eacute", 0xe9},  {"egrave", 0xe8},  {"agrave", 0xe0},  {"ccedil", 0xe7},
    {"larr", 0x2190},   {"rarr", 0x2192},  {"uarr", 0x2191},  {"darr", 0x2193},  {"infin", 0x221e},
    {"ne", 0x2260},     {"le", 0x2264},    {"ge", 0x2265},    {"para", 0xb6},    {"iexcl", 0xa1},
};

/* Reads &#123; or &#x7b; where s is after the #. Returns the bytes read; 0 when it is not a
 * number. */
static size_t number(const char *s, size_t n, uint32_t *cp)
{
    size_t i = n > 0 && (*s | 0x20) == 'x', start = i;
    uint32_t base = i ? 16 : 10;
    for (*cp = 0; i < n; i++) {
        uint32_t digit = s[i] >= '0' && s[i] <= '9' ? (uint32_t)(s[i] - '0')
                         : (s[i] | 0x20) >= 'a' && (s[i] | 0x20) <= 'f'
                             ? (uint32_t)((s[i] | 0x20) - 'a' + 10)
                             : 99;
        if (digit >= base)
            break;
        *cp = *cp > 0x110000 ? *cp : *cp * base + digit;
    }
    return i == start ? 0 : i + (i < n && s[i] == ';');
}

static size_t entity(const char *s, size_t n, uint32_t *cp)
{
    if (n > 1 && s[1] == '#') {
        size_t used = number(s + 2, n - 2, cp);
        if (*cp == 0 || *cp > 0x10ffff || (*cp >= 0xd800 && *cp < 0xe000))
            *cp = 0xfffd;
        return used ? used + 2 : 0;
    }
    for (size_t i = 0; i < sizeof entities / sizeof *entities; i++) {
        size_t len = strlen(entities[i].name);
        if (n < len + 1 || memcmp(s + 1, entities[i].name, len) != 0)
            continue;
        bool closed = n > len + 1 && s[len + 1] == ';', loose = i < 4 || entities[i].cp < 0x100;
        if (!closed && (!loose || i == 4))
            continue;
        *cp = entities[i].cp;
        return len + 1 + closed;
    }
    return 0;
}

enum qn_tflow qn_thtml_unescape(struct qn_trun *run, const struct qn_tval *text,
                                struct qn_tval *out)
{
    size_t mark = run->out.len, start = 0;
    QN_T_TRY(qn_trun_walked(run, text->n));
    for (size_t at = 0; at < text->n;) {
        uint32_t cp = 0;
        size_t used = text->s[at] == '&' ? entity(text->s + at, text->n - at, &cp) : 0;
        if (used) {
            QN_T_TRY(qn_trun_charge(run, 10));
            QN_T_TRY(qn_trun_put(run, text->s + start, at - start));
            QN_T_TRY(qn_ttext_put_cp(run, cp));
            start = at + used;
        }
        at += used ? used : 1;
    }
    QN_T_TRY(qn_trun_put(run, text->s + start, text->n - start));
    return qn_trun_take(run, mark, out);
}

/* Removes each part of a text that is enclosed by the marks `open` and `close`. */
static enum qn_tflow without(struct qn_trun *run, const struct qn_tval *text, const char *open,
                             const char *close, struct qn_tval *out)
{
    size_t mark = run->out.len, at = 0;
    QN_T_TRY(qn_trun_walked(run, text->n));
    for (;;) {
        size_t from = qn_ttext_find(text->s + at, text->n - at, open, strlen(open));
        size_t behind = from == SIZE_MAX ? SIZE_MAX : at + from + strlen(open);
        size_t to = from == SIZE_MAX
                        ? SIZE_MAX
                        : qn_ttext_find(text->s + behind, text->n - behind, close, strlen(close));
        if (to == SIZE_MAX)
            break;
        QN_T_TRY(qn_trun_put(run, text->s + at, from));
        at = behind + to + strlen(close);
    }
    QN_T_TRY(qn_trun_put(run, text->s + at, text->n - at));
    return qn_trun_take(run, mark, out);
}

enum qn_tflow qn_thtml_striptags(struct qn_trun *run, const struct qn_tval *text,
                                 struct qn_tval *out)
{
    struct qn_tval v, space = qn_tval_cstr(" ");
    struct qn_tlist *words = NULL;
    QN_T_TRY(without(run, text, "<!--", "-->", &v));
    QN_T_TRY(without(run, &v, "<", ">", &v));
    QN_T_TRY(qn_ttext_split(run, &v, NULL, -1, false, &words));
    QN_T_TRY(qn_ttext_join(run, &space, words, &v));
    return qn_thtml_unescape(run, &v, out);
}
