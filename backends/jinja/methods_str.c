/* String methods for case, white space, width and character classes. */
#include "base/str.h"
#include "jinja/filters.h"
#include "jinja/format.h"
#include "jinja/iter.h"
#include "jinja/methods.h"
#include "jinja/number.h"
#include "jinja/print.h"
#include "jinja/run.h"
#include "jinja/text.h"
#include "jinja/unicode.h"

#define ARGS                                                                                       \
    struct qn_trun *run, const struct qn_tval *self, const struct qn_targs *args,                  \
        struct qn_tval *out

#define CASE_METHOD(name, how)                                                                     \
    static enum qn_tflow name(ARGS)                                                                \
    {                                                                                              \
        QN_T_TRY(qn_trun_args(run, args, "", 0, NULL));                                            \
        return qn_ttext_recase(run, self, how, out);                                               \
    }

CASE_METHOD(str_upper, QN_TEXT_UPPER)
CASE_METHOD(str_lower, QN_TEXT_LOWER)
CASE_METHOD(str_title, QN_TEXT_TITLE)
CASE_METHOD(str_capitalize, QN_TEXT_CAPITALIZE)
CASE_METHOD(str_swapcase, QN_TEXT_SWAP)
CASE_METHOD(str_casefold, QN_TEXT_FOLD)

static enum qn_tflow strip(struct qn_trun *run, const struct qn_tval *self,
                           const struct qn_targs *args, bool left, bool right, struct qn_tval *out)
{
    struct qn_tval set;
    QN_T_TRY(qn_trun_args(run, args, "/chars", 0, &set));
    bool none = qn_tval_is(&set, QN_T_BIT(QN_T_MISSING) | QN_T_BIT(QN_T_NONE));
    if (!none)
        QN_T_TRY(qn_tval_need_string(run, &set));
    *out = qn_ttext_strip(self, none ? NULL : &set, left, right);
    return qn_trun_walked(run, (self->n - out->n) * (none ? 1 : 1 + set.n));
}

static enum qn_tflow str_strip(ARGS)
{
    return strip(run, self, args, true, true, out);
}

static enum qn_tflow str_lstrip(ARGS)
{
    return strip(run, self, args, true, false, out);
}

static enum qn_tflow str_rstrip(ARGS)
{
    return strip(run, self, args, false, true, out);
}

static enum qn_tflow pad(struct qn_trun *run, const struct qn_tval *self,
                         const struct qn_targs *args, char how, struct qn_tval *out)
{
    struct qn_tval v[2];
    int64_t width = 0;
    size_t mark = run->out.len;
    QN_T_TRY(qn_trun_args(run, args, "/width /fillchar", 1, v));
    QN_T_TRY(qn_tval_index(run, &v[0], &width));
    struct qn_tval fill = v[1].type == QN_T_MISSING ? qn_tval_cstr(" ") : v[1];
    QN_T_TRY(qn_tval_need_string(run, &fill));
    if (qn_ttext_len(fill.s, fill.n) != 1)
        return qn_trun_fail(run, "The fill character must be exactly one character long");
    if (how == '^')
        QN_T_TRY(qn_ttext_put_centered(run, self->s, self->n, fill.s, fill.n, width));
    else
        QN_T_TRY(qn_ttext_put_padded(run, self->s, self->n, fill.s, fill.n, width, how));
    QN_T_TRY(qn_trun_take(run, mark, out));
    out->kind = self->kind;
    return QN_T_OK;
}

static enum qn_tflow str_center(ARGS)
{
    return pad(run, self, args, '^', out);
}

static enum qn_tflow str_ljust(ARGS)
{
    return pad(run, self, args, '<', out);
}

static enum qn_tflow str_rjust(ARGS)
{
    return pad(run, self, args, '>', out);
}

static enum qn_tflow str_zfill(ARGS)
{
    struct qn_tval v;
    int64_t width = 0;
    size_t mark = run->out.len, sign = self->n > 0 && (*self->s == '-' || *self->s == '+');
    QN_T_TRY(qn_trun_args(run, args, "/width", 1, &v));
    QN_T_TRY(qn_tval_index(run, &v, &width));
    QN_T_TRY(qn_trun_put(run, self->s, sign));
    QN_T_TRY(qn_ttext_put_padded(run, self->s + sign, self->n - sign, "0", 1, width - (int64_t)sign,
                                 '>'));
    QN_T_TRY(qn_trun_take(run, mark, out));
    out->kind = self->kind;
    return QN_T_OK;
}

static enum qn_tflow str_expandtabs(ARGS)
{
    struct qn_tval v;
    int64_t size = 8, column = 0;
    size_t mark = run->out.len;
    QN_T_TRY(qn_trun_args(run, args, "tabsize", 0, &v));
    if (v.type != QN_T_MISSING)
        QN_T_TRY(qn_tval_index(run, &v, &size));
    QN_T_TRY(qn_trun_walked(run, self->n));
    for (size_t at = 0, n; at < self->n; at += n) {
        n = qn_ttext_char(self->s + at, self->n - at);
        if (self->s[at] == '\t') {
            int64_t fill = size > 0 ? size - column % size : 0;
            QN_T_TRY(qn_trun_fill(run, " ", 1, (size_t)fill));
            column += fill;
            continue;
        }
        QN_T_TRY(qn_trun_put(run, self->s + at, n));
        column = self->s[at] == '\n' || self->s[at] == '\r' ? 0 : column + 1;
    }
    return qn_trun_take(run, mark, out);
}

/* Whether the string has characters and all of them belong to a class. */
static enum qn_tflow all_of(struct qn_trun *run, const struct qn_tval *self,
                            const struct qn_targs *args, bool (*is)(uint32_t), bool empty,
                            struct qn_tval *out)
{
    bool all = empty || self->n > 0;
    QN_T_TRY(qn_trun_args(run, args, "", 0, NULL));
    QN_T_TRY(qn_trun_walked(run, self->n));
    for (size_t at = 0; all && at < self->n;) {
        uint32_t cp;
        at += qn_utf8_decode(self->s + at, self->n - at, &cp);
        all = is(cp);
    }
    *out = qn_tval_bool(all);
    return QN_T_OK;
}

static bool is_alnum(uint32_t cp)
{
    return qn_tchar_alpha(cp) || qn_tchar_numeric(cp);
}

static bool is_ascii(uint32_t cp)
{
    return cp < 128;
}

#define CLASS_METHOD(name, is, empty)                                                              \
    static enum qn_tflow name(ARGS)                                                                \
    {                                                                                              \
        return all_of(run, self, args, is, empty, out);                                            \
    }

CLASS_METHOD(str_isalpha, qn_tchar_alpha, false)
CLASS_METHOD(str_isalnum, is_alnum, false)
CLASS_METHOD(str_isdigit, qn_tchar_digit, false)
CLASS_METHOD(str_isdecimal, qn_tchar_decimal, false)
CLASS_METHOD(str_isnumeric, qn_tchar_numeric, false)
CLASS_METHOD(str_isspace, qn_tchar_space, false)
CLASS_METHOD(str_isascii, is_ascii, true)
CLASS_METHOD(str_isprintable, qn_tchar_printable, true)

static enum qn_tflow str_isidentifier(ARGS)
{
    uint32_t cp = 0;
    QN_T_TRY(all_of(run, self, args, qn_tchar_word, false, out));
    if (out->b)
        qn_utf8_decode(self->s, self->n, &cp);
    out->b = out->b && (qn_tchar_alpha(cp) || cp == '_');
    return QN_T_OK;
}

/* how: upper, lower or title case (QN_TEXT_...). */
static enum qn_tflow cased(struct qn_trun *run, const struct qn_tval *self,
                           const struct qn_targs *args, enum qn_ttext_case how, struct qn_tval *out)
{
    bool any = false, wrong = false, in_word = false;
    QN_T_TRY(qn_trun_args(run, args, "", 0, NULL));
    QN_T_TRY(qn_trun_walked(run, self->n));
    for (size_t at = 0; !wrong && at < self->n;) {
        uint32_t cp;
        at += qn_utf8_decode(self->s + at, self->n - at, &cp);
        bool upper = qn_tchar_upper(cp), lower = qn_tchar_lower(cp), title = qn_tchar_title(cp);
        any = any || upper || lower || title;
        if (how == QN_TEXT_TITLE)
            wrong = ((upper || title) && in_word) || (lower && !in_word);
        else
            wrong = title || (how == QN_TEXT_UPPER ? lower : upper);
        in_word = upper || lower || title;
    }
    *out = qn_tval_bool(any && !wrong);
    return QN_T_OK;
}

static enum qn_tflow str_isupper(ARGS)
{
    return cased(run, self, args, QN_TEXT_UPPER, out);
}

static enum qn_tflow str_islower(ARGS)
{
    return cased(run, self, args, QN_TEXT_LOWER, out);
}

static enum qn_tflow str_istitle(ARGS)
{
    return cased(run, self, args, QN_TEXT_TITLE, out);
}

static enum qn_tflow str_format(ARGS)
{
    return qn_tformat_str(run, self, args, out);
}

static enum qn_tflow str_format_map(ARGS)
{
    struct qn_tval map;
    struct qn_targs named = {0};
    QN_T_TRY(qn_trun_args(run, args, "/map", 1, &map));
    if (map.type != QN_T_DICT)
        return qn_trun_fail(run, "format_map() needs a dictionary, not %s", qn_tval_class(&map));
    named.named = map.dict;
    return qn_tformat_str(run, self, &named, out);
}

/* Fails, because the interpreter has no values for bytes and translation tables. */
static enum qn_tflow str_not_here(ARGS)
{
    (void)self;
    (void)args;
    (void)out;
    return qn_trun_fail(run, "encode, translate and maketrans are not supported");
}

const struct qn_tmethod qn_tmethods_str[] = {
    {"strip", str_strip},
    {"lstrip", str_lstrip},
    {"rstrip", str_rstrip},
    {"upper", str_upper},
    {"lower", str_lower},
    {"title", str_title},
    {"capitalize", str_capitalize},
    {"swapcase", str_swapcase},
    {"casefold", str_casefold},
    {"center", str_center},
    {"ljust", str_ljust},
    {"rjust", str_rjust},
    {"zfill", str_zfill},
    {"expandtabs", str_expandtabs},
    {"isalpha", str_isalpha},
    {"isalnum", str_isalnum},
    {"isdigit", str_isdigit},
    {"isdecimal", str_isdecimal},
    {"isnumeric", str_isnumeric},
    {"isspace", str_isspace},
    {"isascii", str_isascii},
    {"isprintable", str_isprintable},
    {"isidentifier", str_isidentifier},
    {"isupper", str_isupper},
    {"islower", str_islower},
    {"istitle", str_istitle},
    {"format", str_format},
    {"format_map", str_format_map},
    {"encode", str_not_here},
    {"translate", str_not_here},
    {"maketrans", str_not_here},
    {NULL, NULL},
};
