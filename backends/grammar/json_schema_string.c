/* Strings: patterns, formats, lengths, and excluded texts. */
#include "grammar/json_schema_private.h"

#include "base/str.h"
#include "grammar/constrain_regex.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS_255 "(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
#define IPV4 DIGITS_255 "(\\." DIGITS_255 "){3}"
#define H16 "[0-9a-fA-F]{1,4}"
#define LABEL "[A-Za-z0-9]([A-Za-z0-9-]{0,30}[A-Za-z0-9])?"
#define LEAP_DAY                                                                                   \
    "(([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)-02-29)"
#define DATE                                                                                       \
    "(" LEAP_DAY "|[0-9]{4}-(02-(0[1-9]|1[0-9]|2[0-8])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|"         \
    "(0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])))"
#define TIME                                                                                       \
    "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9]" \
    ")"
#define URI_CHARS "([A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-F]{2})"
#define URI                                                                                        \
    "[a-z][a-z0-9+.-]{1,15}://" LABEL "(\\." LABEL "){0,5}(:[1-9][0-9]{0,3})?(/" URI_CHARS         \
    "{0,64}){0,16}(\\?(" URI_CHARS "|[/?]){0,128})?(#(" URI_CHARS "|[/?]){0,64})?"

/* The texts that these formats allow, or a subset on which implementations agree. Sources: RFC 3339
 * (date, time), RFC 5321 (email), RFC 1123 (hostname), RFC 3986 (uri), RFC 4122 (uuid), RFC 5952
 * (ipv6), ISO 8601 (duration), RFC 6901 (json-pointer). */
static const struct {
    const char *name, *pattern;
} formats[] = {
    {"date", "^" DATE "$"},
    {"time", "^" TIME "$"},
    {"date-time", "^" DATE "T" TIME "$"},
    {"duration",
     "^P((\\d{1,4}Y(\\d{1,4}M(\\d{1,4}D)?)?|\\d{1,4}M(\\d{1,4}D)?|\\d{1,4}D)"
     "(T(\\d{1,4}H(\\d{1,4}M(\\d{1,4}S)?)?|\\d{1,4}M(\\d{1,4}S)?|\\d{1,4}S))?|"
     "T(\\d{1,4}H(\\d{1,4}M(\\d{1,4}S)?)?|\\d{1,4}M(\\d{1,4}S)?|\\d{1,4}S)|\\d{1,4}W)$"},
    {"uuid", "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$"},
    {"email", "^[A-Za-z0-9_+-]{1,32}(\\.[A-Za-z0-9_+-]{1,16}){0,3}@" LABEL "(\\." LABEL "){1,4}$"},
    {"hostname", "^" LABEL "(\\." LABEL "){0,5}$"},
    {"ipv4", "^" IPV4 "$"},
    {"ipv6", "^((" H16 ":){7}" H16 "|::(" H16 "(:" H16 "){0,5})?|" H16 "::(" H16 "(:" H16
             "){0,4})?|" H16 ":" H16 "::(" H16 "(:" H16 "){0,3})?)$"},
    {"uri", "^" URI "$"},
    {"uri-reference", "^" URI "$"},
    {"json-pointer", "^(/([A-Za-z0-9_-]|~[01]){1,32}){0,8}$"},
};

bool js_known_format(const char *name, const char **pattern)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (strcmp(formats[i].name, name) == 0) {
            if (pattern)
                *pattern = formats[i].pattern;
            return true;
        }
    }
    return false;
}

void js_quote(const char *s, struct qn_buf *out)
{
    struct qn_jw w = qn_jw_to(out);
    qn_jw_str(&w, s);
}

/* Replaces *all with its intersection with `one`, or with its difference when subtract is true.
 * Frees one. */
static qn_err combine(struct js *js, struct qn_dfa *all, struct qn_dfa *one, bool subtract,
                      struct qn_error *e)
{
    struct qn_dfa both = {0};
    if (all->n == 0 && !subtract) {
        *all = *one;
        return QN_OK;
    }
    qn_err err = (subtract ? qn_dfa_subtract : qn_dfa_intersect)(all, one, js->g->budget, &both, e);
    qn_dfa_deinit(one);
    qn_dfa_deinit(all);
    if (!err)
        *all = both;
    return err;
}

enum qn_gx_encoding js_encoding(const struct js *js)
{
    return js->bare ? QN_GX_UTF8 : QN_GX_JSON;
}

static qn_err add_pattern(struct js *js, const char *pattern, bool subtract, struct qn_dfa *all,
                          struct qn_error *e)
{
    struct qn_dfa one;
    qn_err err = qn_regex_compile(pattern, js_encoding(js), js->g->budget, &one, e);
    return err ? err : combine(js, all, &one, subtract, e);
}

/* Excludes one text. */
static qn_err exclude(struct js *js, const char *text, struct qn_dfa *all, struct qn_error *e)
{
    struct qn_dfa one;
    qn_err err = qn_gx_compile(qn_gx_text(js->g, text), js_encoding(js), js->g->budget, &one, e);
    return err ? err : combine(js, all, &one, true, e);
}

static bool quoted_step(void *ctx, const void *from, size_t n, uint8_t byte, struct qn_buf *to)
{
    const struct qn_dfa *d = ctx;
    uint32_t s;
    memcpy(&s, from, n);
    /* State d->n is before the opening quote, d->n + 1 after the closing quote. */
    if (s == d->n && byte == '"')
        s = 0;
    else if (s < d->n && byte == '"' && (d->flags[s] & QN_DFA_ACCEPT))
        s = d->n + 1;
    else if (s < d->n)
        s = qn_dfa_step(d, s, byte);
    else
        return false;
    qn_buf_add(to, &s, sizeof s);
    return s != QN_DFA_DEAD;
}

static uint8_t quoted_flags(void *ctx, const void *state, size_t n)
{
    const struct qn_dfa *d = ctx;
    uint32_t s;
    memcpy(&s, state, n);
    return s == d->n + 1 ? QN_DFA_ACCEPT : 0;
}

qn_err js_quote_dfa(struct js *js, struct qn_dfa *inner, struct qn_dfa *out, struct qn_error *e)
{
    struct qn_dfa_plan plan = {
        .ctx = inner, .step = quoted_step, .flags = quoted_flags, .budget = js->g->budget};
    /* The byte classes of the inner automaton, except that the quote has its own class. An
     * unescaped quote cannot occur within a JSON string; an escaped one can. */
    plan.classes = inner->classes;
    memcpy(plan.of, inner->of, sizeof plan.of);
    bool shared = false;
    for (int byte = 0; byte < 256; byte++)
        shared = shared || (byte != '"' && plan.of[byte] == plan.of['"']);
    if (shared)
        plan.of['"'] = (uint8_t)plan.classes++;
    uint32_t start = inner->n;
    qn_err err = qn_dfa_build(&plan, &start, sizeof start, out, e);
    qn_dfa_deinit(inner);
    return err;
}

static qn_err add_not(struct js *js, const struct qn_jref *s, struct qn_dfa *all,
                      struct qn_error *e)
{
    const struct qn_jref *not = js_get(js, s, "not");
    qn_err err = QN_OK;
    if (!not || qn_json_type(not ) != QN_JSON_OBJECT)
        return QN_OK;
    struct qn_jref pattern = qn_json_get(not, "pattern"), constant = qn_json_get(not, "const"),
                   listed = qn_json_get(not, "enum"), it;
    if (qn_json_type(&pattern) == QN_JSON_STRING)
        err = add_pattern(js, qn_json_raw_str(&pattern), true, all, e);
    if (!err && qn_json_type(&constant) == QN_JSON_STRING)
        err = exclude(js, qn_json_raw_str(&constant), all, e);
    for (bool more = qn_json_first(&listed, &it); more && !err; more = qn_json_next(&it))
        if (qn_json_type(&it) == QN_JSON_STRING)
            err = exclude(js, qn_json_raw_str(&it), all, e);
    return err;
}

qn_err js_string_dfa(struct js *js, const struct conj *c, const struct facts *f, bool use_formats,
                     struct qn_dfa *out, struct qn_error *e)
{
    struct qn_dfa all = {0};
    qn_err err = QN_OK;
    for (size_t i = 0; i < c->n && !err; i++) {
        struct qn_jref pattern = qn_json_get(c->v[i].ref, "pattern"),
                       format = qn_json_get(c->v[i].ref, "format");
        const char *p;
        if (qn_json_type(&pattern) != QN_JSON_ABSENT && qn_json_type(&pattern) != QN_JSON_STRING)
            err = qn_fail(e, QN_EINVAL, "pattern: expected a string");
        else if (qn_json_type(&pattern) == QN_JSON_STRING)
            err = add_pattern(js, qn_json_raw_str(&pattern), false, &all, e);
        if (!err && use_formats && js_known_format(qn_json_raw_str(&format), &p))
            err = add_pattern(js, p, false, &all, e);
    }
    if (!err && (all.n == 0 || f->min_length > 0 || f->max_length != QN_REPEAT_EVER)) {
        struct qn_dfa one;
        const struct qn_gx *length =
            qn_gx_repeat(js->g, qn_gx_set_not(js->g, NULL, 0), f->min_length, f->max_length);
        err = qn_gx_compile(length, js_encoding(js), js->g->budget, &one, e);
        if (!err)
            err = combine(js, &all, &one, false, e);
    }
    for (size_t i = 0; i < c->n && !err; i++)
        err = add_not(js, c->v[i].ref, &all, e);
    if (!err && !js->bare)
        return js_quote_dfa(js, &all, out, e);
    if (!err) {
        *out = all;
        return QN_OK;
    }
    qn_dfa_deinit(&all);
    return err;
}

/* Any text of min to max characters, as one automaton that counts characters. */
static const struct qn_gx *counted(struct js *js, const struct facts *f)
{
    const struct qn_dfa *plain = &js->plain_string;
    struct qn_dfa d = *plain;
    if (f->min_length > f->max_length || f->max_length == 0)
        return f->min_length > 0 ? qn_gx_never(js->g) : qn_gx_text(js->g, "\"\"");
    size_t cells = (size_t)d.n * d.classes;
    d.next = qn_xcalloc(cells, sizeof *d.next);
    memcpy(d.next, plain->next, cells * sizeof *d.next);
    d.flags = qn_xcalloc(d.n, 1);
    memcpy(d.flags, plain->flags, d.n);
    d.flags[qn_dfa_step(&d, 0, '"')] |= QN_DFA_BOUNDARY;
    d.min = f->min_length;
    d.max = f->max_length;
    return qn_gx_dfa(js->g, qn_grammar_dfa(js->g, &d));
}

const struct qn_gx *js_string(struct js *js, const struct conj *c, const struct facts *f)
{
    bool plain = true;
    for (size_t i = 0; i < c->n; i++) {
        const struct qn_jref *s = c->v[i].ref;
        struct qn_jref format = qn_json_get(s, "format");
        plain = plain && !js_get(js, s, "pattern") && !js_get(js, s, "not") &&
                !js_known_format(qn_json_raw_str(&format), NULL);
    }
    if (plain && f->min_length == 0 && f->max_length == QN_REPEAT_EVER)
        return js->string;
    if (plain)
        return counted(js, f);
    struct qn_dfa d = {0};
    struct qn_error why = {0};
    qn_err err = js_string_dfa(js, c, f, true, &d, &why);
    return js_dfa(js, &d, err, c->v[0].ref, &why);
}
