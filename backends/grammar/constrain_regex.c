/* See constrain_regex.h. Source of the syntax: ECMA-262, section 22.2.1 (patterns). */
#include "grammar/constrain_regex.h"

#include "base/str.h"
#include "grammar/constrain_grammar.h"
#include "text/unicode.h"

#include <stdlib.h>
#include <string.h>

enum { LOOKS_MAX = 8, SET_MAX = 4096 };

struct look {
    const struct qn_gx *what;
    bool negative;
};

struct parser {
    const char *pattern, *at;
    struct qn_grammar *g;
    struct qn_error *e;
    enum qn_gx_encoding encoding;
    int depth;
    bool begun;  /* an element other than ^ or a lookahead has been read, or the expression has
                    alternatives */
    bool anchor; /* a leading ^ has been read */
    struct look looks[LOOKS_MAX];
    size_t n_looks;
    qn_err err;
};

struct ranges {
    struct qn_range *v;
    size_t n, cap;
};

static void add_range(struct ranges *r, uint32_t first, uint32_t last)
{
    if (r->n == r->cap) {
        r->cap = r->cap ? r->cap * 2 : 16;
        r->v = qn_xrealloc(r->v, r->cap * sizeof *r->v);
    }
    r->v[r->n++] = (struct qn_range){first, last};
}

static const struct qn_gx *fail(struct parser *p, qn_err code, const char *what)
{
    if (!p->err)
        p->err = qn_fail(p->e, code, "the pattern \"%s\" %s (at character %zu)", p->pattern, what,
                         (size_t)(p->at - p->pattern) + 1);
    return qn_gx_never(p->g);
}

/* In ECMA-262, \s is White_Space, line terminators and U+FEFF. */
static const struct qn_range digits[] = {{'0', '9'}},
                             words[] = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}},
                             spaces[] = {{0x09, 0x0d},     {0x20, 0x20},     {0xa0, 0xa0},
                                         {0x1680, 0x1680}, {0x2000, 0x200a}, {0x2028, 0x2029},
                                         {0x202f, 0x202f}, {0x205f, 0x205f}, {0x3000, 0x3000},
                                         {0xfeff, 0xfeff}},
                             lines[] = {{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}};

static void add_ranges(struct ranges *r, const struct qn_range *v, size_t n, bool negative)
{
    uint32_t from = 0;
    for (size_t i = 0; i < n; i++) {
        if (!negative)
            add_range(r, v[i].first, v[i].last);
        else if (v[i].first > from)
            add_range(r, from, v[i].first - 1);
        from = v[i].last + 1;
    }
    if (negative && from <= QN_CODEPOINT_MAX)
        add_range(r, from, QN_CODEPOINT_MAX);
}

/* \p{...}: the general categories that the table in unicode.h distinguishes. */
static bool add_property(struct parser *p, struct ranges *r, bool negative)
{
    static const struct {
        const char *name;
        uint32_t classes;
    } names[] = {
        {"L", QN_CHS_LETTER},
        {"Letter", QN_CHS_LETTER},
        {"Alphabetic", QN_CHS_LETTER},
        {"Lu", 1 << QN_CH_UPPER},
        {"Uppercase_Letter", 1 << QN_CH_UPPER},
        {"Ll", 1 << QN_CH_LOWER},
        {"Lowercase_Letter", 1 << QN_CH_LOWER},
        {"Lt", 1 << QN_CH_TITLE},
        {"Lm", 1 << QN_CH_MODIFIER},
        {"Lo", 1 << QN_CH_LETTER},
        {"M", QN_CHS_MARK},
        {"Mark", QN_CHS_MARK},
        {"N", QN_CHS_NUMBER},
        {"Number", QN_CHS_NUMBER},
        {"Nd", 1 << QN_CH_DIGIT},
        {"P", 1 << QN_CH_PUNCT},
        {"Punctuation", 1 << QN_CH_PUNCT},
        {"S", 1 << QN_CH_SYMBOL},
        {"Symbol", 1 << QN_CH_SYMBOL},
    };
    const char *end = *p->at == '{' ? strchr(p->at, '}') : NULL;
    if (!end)
        return false;
    const char *name = p->at + 1;
    size_t n = (size_t)(end - name);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strlen(names[i].name) != n || memcmp(names[i].name, name, n) != 0)
            continue;
        p->at = end + 1;
        qn_unicode_init();
        /* Unassigned characters belong to no category; marks from U+E0100 on are not typed in
         * practice and are left out. */
        uint32_t from = 0;
        bool inside = false;
        for (uint32_t cp = 0; cp <= QN_UNICODE_MAPPED; cp++) {
            bool has = cp < QN_UNICODE_MAPPED && (names[i].classes >> qn_unicode_class(cp) & 1);
            if (negative)
                has = cp < QN_UNICODE_MAPPED && !has;
            if (has && !inside)
                from = cp;
            else if (!has && inside)
                add_range(r, from, cp - 1);
            inside = has;
        }
        return true;
    }
    return false;
}

static bool hex(const char *s, size_t digits_wanted, uint32_t *out)
{
    uint32_t v = 0;
    for (size_t i = 0; i < digits_wanted; i++) {
        char c = s[i];
        uint32_t d = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                     : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a') + 10
                     : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A') + 10
                                            : 16;
        if (d == 16)
            return false;
        v = v << 4 | d;
    }
    *out = v;
    return true;
}

/* Reads the code point of \uHHHH, \u{H...} or a surrogate pair; p->at is after the u. */
static bool unicode_escape(struct parser *p, uint32_t *cp)
{
    if (*p->at == '{') {
        const char *end = strchr(p->at, '}');
        size_t n = end ? (size_t)(end - p->at) - 1 : 0;
        if (n < 1 || n > 6 || !hex(p->at + 1, n, cp) || *cp > QN_CODEPOINT_MAX)
            return false;
        p->at = end + 1;
        return true;
    }
    if (!hex(p->at, 4, cp))
        return false;
    p->at += 4;
    uint32_t low;
    if (*cp >= 0xd800 && *cp < 0xdc00 && p->at[0] == '\\' && p->at[1] == 'u' &&
        hex(p->at + 2, 4, &low) && low >= 0xdc00 && low < 0xe000) {
        *cp = 0x10000 + ((*cp - 0xd800) << 10) + (low - 0xdc00);
        p->at += 6;
    }
    return true;
}

/* Reads an escape after its backslash. A class is added to r (*is_class is true); otherwise *cp is
 * the character. */
static bool escape(struct parser *p, struct ranges *r, bool *is_class, uint32_t *cp)
{
    static const struct {
        char c;
        const struct qn_range *v;
        size_t n;
    } classes[] = {{'d', digits, sizeof digits / sizeof digits[0]},
                   {'w', words, sizeof words / sizeof words[0]},
                   {'s', spaces, sizeof spaces / sizeof spaces[0]}};
    static const char controls[] = "t\tn\nv\vf\fr\r";
    char c = *p->at++;
    *is_class = true;
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
        if (c == classes[i].c || c == classes[i].c - 'a' + 'A') {
            add_ranges(r, classes[i].v, classes[i].n, c != classes[i].c);
            return true;
        }
    }
    if (c == 'p' || c == 'P') {
        if (add_property(p, r, c == 'P'))
            return true;
        fail(p, QN_EUNSUPPORTED, "uses a character property that is not supported");
        return false;
    }
    *is_class = false;
    const char *control = c ? strchr(controls, c) : NULL;
    if (control && (control - controls) % 2 == 0) {
        *cp = (uint8_t)control[1];
        return true;
    }
    if (c == 'u' && unicode_escape(p, cp))
        return true;
    if (c == 'x' && hex(p->at, 2, cp)) {
        p->at += 2;
        return true;
    }
    if (c == 'c' && ((*p->at >= 'a' && *p->at <= 'z') || (*p->at >= 'A' && *p->at <= 'Z'))) {
        *cp = (uint32_t)*p->at++ & 31;
        return true;
    }
    if (c == '0' && !(*p->at >= '0' && *p->at <= '9')) {
        *cp = 0;
        return true;
    }
    if ((c >= '0' && c <= '9') || c == 'k') {
        fail(p, QN_EUNSUPPORTED, "has a back reference");
        return false;
    }
    if (c == 'b' || c == 'B') {
        fail(p, QN_EUNSUPPORTED, "has a word boundary");
        return false;
    }
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == 0) {
        p->at--;
        fail(p, QN_EINVAL, "has an invalid escape");
        return false;
    }
    p->at--;
    p->at += qn_utf8_decode(p->at, strlen(p->at), cp);
    return true;
}

static bool class_atom(struct parser *p, struct ranges *r, bool *is_class, uint32_t *cp)
{
    *is_class = false;
    if (*p->at == '\\') {
        p->at++;
        if (*p->at == 'b') {
            p->at++;
            *cp = '\b';
            return true;
        }
        return escape(p, r, is_class, cp);
    }
    p->at += qn_utf8_decode(p->at, strlen(p->at), cp);
    return true;
}

static const struct qn_gx *parse_class(struct parser *p)
{
    struct ranges r = {0};
    bool negative = *p->at == '^';
    p->at += negative;
    while (*p->at && *p->at != ']' && !p->err) {
        bool is_class;
        uint32_t first, last;
        if (r.n > SET_MAX)
            fail(p, QN_ELIMIT, "has a character class that is too large");
        else if (class_atom(p, &r, &is_class, &first) && !is_class) {
            last = first;
            if (p->at[0] == '-' && p->at[1] && p->at[1] != ']') {
                p->at++;
                if (!class_atom(p, &r, &is_class, &last))
                    break;
                if (is_class || last < first) {
                    fail(p, QN_EINVAL, "has a range that is out of order");
                    break;
                }
            }
            add_range(&r, first, last);
        }
    }
    const struct qn_gx *x = qn_gx_never(p->g);
    if (!p->err && !*p->at)
        fail(p, QN_EINVAL, "has a character class that is not closed");
    else if (!p->err)
        x = negative ? qn_gx_set_not(p->g, r.v, r.n) : qn_gx_set(p->g, r.v, r.n);
    p->at += *p->at == ']';
    free(r.v);
    return x;
}

static const struct qn_gx *parse_alternatives(struct parser *p);

static const struct qn_gx *everything(struct qn_grammar *g)
{
    return qn_gx_repeat(g, qn_gx_set_not(g, NULL, 0), 0, QN_REPEAT_EVER);
}

static const struct qn_gx *parse_group(struct parser *p)
{
    bool ahead = false, negative = false, outer_begun = p->begun;
    if (p->at[0] == '?') {
        char c = p->at[1];
        if (c == ':') {
            p->at += 2;
        } else if (c == '=' || c == '!') {
            ahead = true;
            negative = c == '!';
            p->at += 2;
            if (p->begun || !p->anchor || p->depth > 0)
                return fail(p, QN_EUNSUPPORTED,
                            "has a lookahead elsewhere than right after a leading ^");
        } else if (c == '<' && p->at[2] != '=' && p->at[2] != '!' && strchr(p->at, '>')) {
            p->at = strchr(p->at, '>') + 1;
        } else {
            return fail(p, QN_EUNSUPPORTED, "has a lookbehind or a group of an unsupported kind");
        }
    }
    if (++p->depth > QN_REGEX_DEPTH_MAX)
        return fail(p, QN_ELIMIT, "has groups that are nested too deeply");
    const struct qn_gx *x = parse_alternatives(p);
    p->depth--;
    if (*p->at != ')')
        return fail(p, QN_EINVAL, "has a group that is not closed");
    p->at++;
    if (!ahead) {
        p->begun = true;
        return x;
    }
    p->begun = outer_begun;
    if (p->n_looks == LOOKS_MAX)
        return fail(p, QN_ELIMIT, "has too many lookaheads");
    const struct qn_gx *both[2] = {x, everything(p->g)};
    p->looks[p->n_looks++] = (struct look){qn_gx_seq(p->g, both, 2), negative};
    return qn_gx_empty(p->g);
}

static const struct qn_gx *parse_atom(struct parser *p)
{
    char c = *p->at;
    if (c == '(') {
        p->at++;
        return parse_group(p);
    }
    if (c == '^' || c == '$') {
        p->at++;
        if (c == '^' && !p->begun && p->depth == 0)
            p->anchor = true;
        else
            p->begun = true;
        return qn_gx_anchor(p->g, c == '^' ? QN_GX_BEGIN : QN_GX_END);
    }
    p->begun = true;
    if (c == '[') {
        p->at++;
        return parse_class(p);
    }
    if (c == '.') {
        p->at++;
        return qn_gx_set_not(p->g, lines, sizeof lines / sizeof lines[0]);
    }
    if (c == '*' || c == '+' || c == '?')
        return fail(p, QN_EINVAL, "has a repetition of nothing");
    struct ranges r = {0};
    bool is_class = false, good = true;
    uint32_t cp;
    if (c == '\\') {
        p->at++;
        good = escape(p, &r, &is_class, &cp);
    } else {
        p->at += qn_utf8_decode(p->at, strlen(p->at), &cp);
    }
    if (good && !is_class)
        add_range(&r, cp, cp);
    const struct qn_gx *x = good ? qn_gx_set(p->g, r.v, r.n) : qn_gx_never(p->g);
    free(r.v);
    return x;
}

static bool number(const char **at, uint32_t *out)
{
    if (!(**at >= '0' && **at <= '9'))
        return false;
    uint64_t v = 0;
    for (; **at >= '0' && **at <= '9'; ++*at)
        if (v <= QN_REGEX_REPEAT_MAX)
            v = v * 10 + (uint64_t)(**at - '0');
    *out = (uint32_t)(v > QN_REGEX_REPEAT_MAX ? QN_REGEX_REPEAT_MAX + 1 : v);
    return true;
}

/* Reads {n}, {n,} or {n,m}. Returns false with p->at unchanged when the brace is a literal
 * character. */
static bool braces(struct parser *p, uint32_t *min, uint32_t *max)
{
    const char *at = p->at + 1;
    if (!number(&at, min))
        return false;
    *max = *min;
    if (*at == ',') {
        at++;
        if (!number(&at, max))
            *max = QN_REPEAT_EVER;
    }
    if (*at != '}')
        return false;
    p->at = at + 1;
    return true;
}

static const struct qn_gx *parse_term(struct parser *p)
{
    const struct qn_gx *x = parse_atom(p);
    uint32_t min, max;
    if (p->err)
        return x;
    char c = *p->at;
    if (c == '{' && braces(p, &min, &max)) {
        if (min > QN_REGEX_REPEAT_MAX || (max > QN_REGEX_REPEAT_MAX && max != QN_REPEAT_EVER))
            return fail(p, QN_ELIMIT, "has a repetition count that is too large");
        if (min > max)
            return fail(p, QN_EINVAL, "has a range that is out of order");
    } else if (c == '*' || c == '+' || c == '?') {
        p->at++;
        min = c == '+';
        max = c == '?' ? 1 : QN_REPEAT_EVER;
    } else {
        return x;
    }
    p->at += *p->at == '?'; /* a lazy quantifier matches the same texts */
    return qn_gx_repeat(p->g, x, min, max);
}

static const struct qn_gx *parse_sequence(struct parser *p)
{
    struct qn_gx_list l = {0};
    while (*p->at && *p->at != '|' && *p->at != ')' && !p->err)
        qn_gx_push(&l, parse_term(p));
    const struct qn_gx *x = qn_gx_seq(p->g, l.v, l.n);
    qn_gx_list_deinit(&l);
    return x;
}

static const struct qn_gx *parse_alternatives(struct parser *p)
{
    struct qn_gx_list l = {0};
    qn_gx_push(&l, parse_sequence(p));
    while (*p->at == '|' && !p->err) {
        p->at++;
        if (p->n_looks > 0 && p->depth == 0)
            fail(p, QN_EUNSUPPORTED, "has a lookahead in one of several alternatives");
        p->begun = true;
        qn_gx_push(&l, parse_sequence(p));
    }
    const struct qn_gx *x = qn_gx_alt(p->g, l.v, l.n);
    qn_gx_list_deinit(&l);
    return x;
}

static qn_err compile(struct parser *p, const struct qn_gx *x, struct qn_dfa *out)
{
    struct qn_error why = {0};
    qn_err err = qn_gx_compile(x, p->encoding, p->g->budget, out, &why);
    return err ? qn_fail(p->e, err, "the pattern \"%s\" %s", p->pattern, why.message) : QN_OK;
}

qn_err qn_regex_compile(const char *pattern, enum qn_gx_encoding encoding,
                        struct qn_constraint_budget *budget, struct qn_dfa *out, struct qn_error *e)
{
    struct qn_grammar g;
    qn_grammar_init(&g, budget);
    struct parser p = {.pattern = pattern, .at = pattern, .g = &g, .e = e, .encoding = encoding};
    const struct qn_gx *x = parse_alternatives(&p);
    if (!p.err && *p.at)
        fail(&p, QN_EINVAL, "has a closing bracket without an opening one");
    if (!p.err && g.full)
        fail(&p, QN_ELIMIT, "is too large");
    if (!p.err) {
        const struct qn_gx *found[3] = {everything(&g), x, everything(&g)};
        p.err = compile(&p, qn_gx_seq(&g, found, 3), out);
    }
    for (size_t i = 0; i < p.n_looks && !p.err; i++) {
        struct qn_dfa look, both;
        struct qn_error why = {0};
        p.err = compile(&p, p.looks[i].what, &look);
        if (!p.err) {
            p.err = (p.looks[i].negative ? qn_dfa_subtract : qn_dfa_intersect)(out, &look, budget,
                                                                               &both, &why);
            qn_dfa_deinit(&look);
            if (p.err)
                qn_fail(e, p.err, "the pattern \"%s\" %s", pattern, why.message);
        }
        qn_dfa_deinit(out);
        if (!p.err)
            *out = both;
    }
    qn_grammar_deinit(&g);
    return p.err;
}
