/* See gbnf.h. Source of the syntax: llama.cpp, grammars/README.md. */
#include "grammar/gbnf.h"

#include "base/hash.h"
#include "base/rand.h"
#include "base/str.h"
#include "grammar/constrain_trie.h"

#include <stdlib.h>
#include <string.h>

enum { REPEAT_MAX = 1000000, CLASS_MAX = 4096 };

struct parser {
    const char *text, *at, *end;
    struct qn_grammar *g;
    const struct qn_constrain_vocab *v;
    struct qn_error *e;
    qn_err err;
    int depth;
    uint32_t *slot; /* hash table from a rule's name to its number + 1 */
    uint32_t mask;
    uint64_t seed; /* the table's random seed, because names come from outside */
};

static const struct qn_gx *fail(struct parser *p, qn_err code, const char *what)
{
    size_t line = 1;
    for (const char *s = p->text; s < p->at; s++)
        line += *s == '\n';
    if (!p->err)
        p->err = qn_fail(p->e, code, "line %zu: %s", line, what);
    return qn_gx_never(p->g);
}

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
}

static void skip_space(struct parser *p, bool newlines)
{
    for (;; p->at++) {
        if (*p->at == '#')
            while (*p->at && *p->at != '\n' && *p->at != '\r')
                p->at++;
        if (*p->at != ' ' && *p->at != '\t' && (!newlines || (*p->at != '\n' && *p->at != '\r')))
            return;
    }
}

static uint32_t *name_slot(const struct parser *p, uint32_t *slots, uint32_t mask, const char *name,
                           size_t n)
{
    uint32_t i = (uint32_t)qn_hash_bytes(p->seed, name, n) & mask;
    for (; slots[i]; i = (i + 1) & mask) {
        const char *other = p->g->rules[slots[i] - 1].name;
        if (strncmp(other, name, n) == 0 && other[n] == 0)
            break;
    }
    return &slots[i];
}

static uint32_t rule_of(struct parser *p, const char *name, size_t n)
{
    uint32_t *slot = name_slot(p, p->slot, p->mask, name, n);
    if (*slot)
        return *slot - 1;
    char *copy = qn_xstrndup(name, n);
    uint32_t rule = qn_grammar_rule(p->g, copy);
    free(copy);
    if (p->g->full) {
        fail(p, QN_ELIMIT, "the grammar has too many rules");
        return 0;
    }
    *slot = rule + 1;
    if (p->g->n_rules * 2 > p->mask) {
        uint32_t mask = p->mask * 2 + 1;
        uint32_t *slots = qn_xcalloc((size_t)mask + 1, sizeof *slots);
        for (uint32_t i = 0; i < p->g->n_rules; i++)
            *name_slot(p, slots, mask, p->g->rules[i].name, strlen(p->g->rules[i].name)) = i + 1;
        free(p->slot);
        p->slot = slots;
        p->mask = mask;
    }
    return rule;
}

/* Reads one character of a quoted text or a class and resolves escapes. */
static bool character(struct parser *p, uint32_t *cp)
{
    static const char plain[] = "\"[]\\-^/'.";
    if (*p->at != '\\') {
        p->at += qn_utf8_decode(p->at, (size_t)(p->end - p->at), cp);
        return true;
    }
    char c = *++p->at;
    size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    if (digits > 0) {
        uint64_t v = 0;
        for (size_t i = 1; i <= digits; i++) {
            char d = p->at[i];
            int x = d >= '0' && d <= '9'   ? d - '0'
                    : d >= 'a' && d <= 'f' ? d - 'a' + 10
                    : d >= 'A' && d <= 'F' ? d - 'A' + 10
                                           : -1;
            if (x < 0) {
                fail(p, QN_EINVAL, "an escape needs more hexadecimal digits");
                return false;
            }
            v = v << 4 | (uint64_t)x;
        }
        if (v > QN_CODEPOINT_MAX) {
            fail(p, QN_EINVAL, "an escape is not a character of Unicode");
            return false;
        }
        *cp = (uint32_t)v;
        p->at += digits + 1;
        return true;
    }
    if (c == 't' || c == 'r' || c == 'n') {
        *cp = c == 't' ? '\t' : c == 'r' ? '\r' : '\n';
    } else if (c && strchr(plain, c)) {
        *cp = (uint8_t)c;
    } else {
        fail(p, QN_EINVAL, "an escape is invalid");
        return false;
    }
    p->at++;
    return true;
}

static const struct qn_gx *parse_text(struct parser *p)
{
    struct qn_buf b;
    qn_buf_init(&b, QN_CONSTRAIN_BYTES_MAX * 4);
    p->at++;
    while (*p->at && *p->at != '"' && *p->at != '\n' && !p->err) {
        uint32_t cp;
        char utf8[4];
        if (!character(p, &cp))
            break;
        if (cp == 0 || (cp >= 0xd800 && cp < 0xe000))
            fail(p, QN_EINVAL, "a quoted text contains a null character or a surrogate");
        else
            qn_buf_add(&b, utf8, qn_utf8_encode(cp, utf8));
    }
    if (*p->at != '"')
        fail(p, QN_EINVAL, "a text has no closing quote");
    p->at += *p->at == '"';
    const struct qn_gx *x = qn_gx_bytes(p->g, b.data, b.len);
    qn_buf_deinit(&b);
    return x;
}

static const struct qn_gx *parse_class(struct parser *p)
{
    struct qn_range *v = NULL;
    size_t n = 0, cap = 0;
    bool negative = *++p->at == '^';
    p->at += negative;
    while (*p->at && *p->at != ']' && !p->err) {
        uint32_t first, last;
        if (!character(p, &first))
            break;
        last = first;
        if (p->at[0] == '-' && p->at[1] && p->at[1] != ']') {
            p->at++;
            if (!character(p, &last))
                break;
        }
        if (n == cap) {
            cap = cap ? cap * 2 : 8;
            v = qn_xrealloc(v, cap * sizeof *v);
        }
        if (last < first)
            fail(p, QN_EINVAL, "a range of characters is out of order");
        else if (n == CLASS_MAX)
            fail(p, QN_ELIMIT, "a class has too many characters");
        else
            v[n++] = (struct qn_range){first, last};
    }
    if (*p->at != ']')
        fail(p, QN_EINVAL, "a class has no closing bracket");
    p->at += *p->at == ']';
    const struct qn_gx *x = negative ? qn_gx_set_not(p->g, v, n) : qn_gx_set(p->g, v, n);
    free(v);
    return x;
}

static const struct qn_gx *token(struct parser *p, int32_t id)
{
    size_t n;
    const char *bytes = p->v->token_bytes(p->v->ctx, id, &n);
    bool control = p->v->token_is_control(p->v->ctx, id);
    if (n == 0 || p->v->token_is_end(p->v->ctx, id))
        return fail(p, QN_EINVAL, "a token is an end token or has no text");
    struct qn_buf b;
    qn_buf_init(&b, n + 1);
    if (control)
        qn_buf_char(&b, (char)QN_CONTROL_BYTE);
    qn_buf_add(&b, bytes, n);
    const struct qn_gx *x = qn_gx_bytes(p->g, b.data, b.len);
    qn_buf_deinit(&b);
    return x;
}

/* Reads <[12]> or <name>. */
static const struct qn_gx *parse_token(struct parser *p)
{
    const char *start = p->at, *end = strchr(p->at, '>');
    size_t n = end ? (size_t)(end - start) + 1 : 0;
    if (!end || memchr(start, '\n', n))
        return fail(p, QN_EINVAL, "a token has no closing bracket");
    p->at = end + 1;
    if (start[1] == '[') {
        uint64_t id = 0;
        const char *s = start + 2;
        for (; *s >= '0' && *s <= '9' && id <= INT32_MAX; s++)
            id = id * 10 + (uint64_t)(*s - '0');
        if (s == start + 2 || s[0] != ']' || s + 1 != end || id >= (uint64_t)p->v->n)
            return fail(p, QN_EINVAL, "a token's number is not in the vocabulary");
        return token(p, (int32_t)id);
    }
    qn_budget_take(p->g->budget, (uint64_t)p->v->n); /* each reference searches the whole
                                                        vocabulary */
    for (int32_t id = 0; id < p->v->n && !p->g->budget->over; id++) {
        size_t len;
        const char *bytes = p->v->token_bytes(p->v->ctx, id, &len);
        if (len == n && memcmp(bytes, start, n) == 0)
            return token(p, id);
    }
    if (p->g->budget->over) {
        if (!p->err)
            p->err = qn_budget_fail(p->e);
        return qn_gx_never(p->g);
    }
    return fail(p, QN_EINVAL, "a token is not in the vocabulary");
}

static const struct qn_gx *parse_alternatives(struct parser *p);

static const struct qn_gx *parse_atom(struct parser *p)
{
    char c = *p->at;
    if (c == '"')
        return parse_text(p);
    if (c == '[')
        return parse_class(p);
    if (c == '<')
        return parse_token(p);
    if (c == '.') {
        p->at++;
        return qn_gx_set_not(p->g, NULL, 0);
    }
    if (c == '(') {
        p->at++;
        if (++p->depth > QN_GBNF_DEPTH_MAX)
            return fail(p, QN_ELIMIT, "groups are nested too deeply");
        skip_space(p, true);
        const struct qn_gx *x = parse_alternatives(p);
        p->depth--;
        if (*p->at != ')')
            return fail(p, QN_EINVAL, "a group has no closing bracket");
        p->at++;
        return x;
    }
    if (is_name(c)) {
        const char *start = p->at;
        while (is_name(*p->at))
            p->at++;
        return qn_gx_rule(p->g, rule_of(p, start, (size_t)(p->at - start)));
    }
    return fail(p, c == '!' ? QN_EUNSUPPORTED : QN_EINVAL,
                c == '!' ? "tokens cannot be excluded" : "a rule has something unexpected in it");
}

static uint32_t number(struct parser *p)
{
    uint64_t v = 0;
    if (!(*p->at >= '0' && *p->at <= '9'))
        fail(p, QN_EINVAL, "a repetition needs a number");
    for (; *p->at >= '0' && *p->at <= '9'; p->at++)
        v = v > REPEAT_MAX ? v : v * 10 + (uint64_t)(*p->at - '0');
    if (v > REPEAT_MAX)
        fail(p, QN_ELIMIT, "a repetition count of more than 1000000");
    return (uint32_t)(v > REPEAT_MAX ? REPEAT_MAX : v);
}

static const struct qn_gx *parse_repeats(struct parser *p, const struct qn_gx *x)
{
    for (;;) {
        skip_space(p, p->depth > 0);
        uint32_t min = 0, max = QN_REPEAT_EVER;
        char c = *p->at;
        if (c != '*' && c != '+' && c != '?' && c != '{')
            return x;
        p->at++;
        if (c == '+')
            min = 1;
        if (c == '?')
            max = 1;
        if (c == '{') {
            skip_space(p, p->depth > 0);
            if (*p->at != ',')
                min = max = number(p);
            skip_space(p, p->depth > 0);
            if (*p->at == ',') {
                p->at++;
                skip_space(p, p->depth > 0);
                max = *p->at == '}' ? QN_REPEAT_EVER : number(p);
                skip_space(p, p->depth > 0);
            }
            if (*p->at != '}')
                return fail(p, QN_EINVAL, "a repetition has no closing bracket");
            p->at++;
            if (min > max)
                return fail(p, QN_EINVAL, "a repetition's bounds are out of order");
        }
        x = qn_gx_repeat(p->g, x, min, max);
    }
}

static const struct qn_gx *parse_sequence(struct parser *p)
{
    struct qn_gx_list l = {0};
    while (*p->at && *p->at != '|' && *p->at != ')' && *p->at != '\n' && *p->at != '\r' && !p->err)
        qn_gx_push(&l, parse_repeats(p, parse_atom(p)));
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
        skip_space(p, true);
        qn_gx_push(&l, parse_sequence(p));
    }
    const struct qn_gx *x = qn_gx_alt(p->g, l.v, l.n);
    qn_gx_list_deinit(&l);
    return x;
}

static void parse_rule(struct parser *p)
{
    const char *start = p->at;
    while (is_name(*p->at))
        p->at++;
    if (p->at == start) {
        fail(p, QN_EINVAL, "expected a rule: name ::= ...");
        return;
    }
    uint32_t rule = rule_of(p, start, (size_t)(p->at - start));
    if (p->err)
        return;
    if (p->g->rules[rule].body) {
        fail(p, QN_EINVAL, "a rule is defined a second time");
        return;
    }
    skip_space(p, false);
    if (strncmp(p->at, "::=", 3) != 0) {
        fail(p, QN_EINVAL, "expected ::= after a rule's name");
        return;
    }
    p->at += 3;
    skip_space(p, true);
    const struct qn_gx *body = parse_alternatives(p);
    p->g->rules[rule].body = body;
    if (!p->err && *p->at == ')')
        fail(p, QN_EINVAL, "a closing bracket has no opening one");
    skip_space(p, true);
}

qn_err qn_gbnf_parse(struct qn_grammar *g, const char *text, const struct qn_constrain_vocab *v,
                     struct qn_error *e)
{
    struct parser p = {
        .text = text, .at = text, .end = text + strlen(text), .g = g, .v = v, .e = e, .mask = 255};
    qn_random_bytes(&p.seed, sizeof p.seed);
    if (!qn_utf8_valid(text, strlen(text)))
        return qn_fail(e, QN_EINVAL, "the grammar is not valid UTF-8");
    p.slot = qn_xcalloc(p.mask + 1, sizeof *p.slot);
    rule_of(&p, "root", 4);
    skip_space(&p, true);
    while (*p.at && !p.err)
        parse_rule(&p);
    free(p.slot);
    return p.err ? p.err : qn_grammar_check(g, e);
}
