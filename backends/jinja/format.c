/* See format.h: writes numbers and texts by a format specification. */
#include "jinja/format.h"

#include "base/str.h"
#include "jinja/bigint.h"
#include "jinja/number.h"
#include "jinja/print.h"
#include "jinja/run.h"
#include "jinja/text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The parts of a formatted number: sign, prefix (0x), integer digits, and the rest (point,
 * fraction, exponent). */
struct parts {
    const char *sign, *prefix;
    struct qn_tval digits, rest;
};

static enum qn_tflow put_grouped(struct qn_trun *run, const struct qn_tval *digits, size_t zeros,
                                 char grouping, size_t group)
{
    size_t n = digits->n + zeros;
    for (size_t i = 0; i < n; i++) {
        if (grouping && i > 0 && (n - i) % group == 0)
            QN_T_TRY(qn_trun_put(run, &grouping, 1));
        QN_T_TRY(qn_trun_put(run, i < zeros ? "0" : digits->s + i - zeros, 1));
    }
    return qn_trun_charge(run, n);
}

static size_t grouped_len(size_t n, char grouping, size_t group)
{
    return grouping && n > 0 ? n + (n - 1) / group : n;
}

static enum qn_tflow put_parts(struct qn_trun *run, const struct parts *p,
                               const struct qn_tspec *spec)
{
    size_t mark = run->out.len, zeros = 0;
    size_t group = spec->type && strchr("boxX", spec->type) ? 4 : 3;
    size_t around = strlen(p->sign) + strlen(p->prefix) + p->rest.n;
    char align = spec->align ? spec->align : '>';
    bool fill_zeros = align == '=' && spec->fill_n == 1 && *spec->fill == '0';
    struct qn_tval text;
    if (spec->width > 100 * 1000)
        return qn_trun_limit(run, "a width of more than 100000");
    while (fill_zeros && (int64_t)(around + grouped_len(p->digits.n + zeros, spec->grouping,
                                                        group)) < spec->width)
        zeros++;
    int64_t rest =
        spec->width - (int64_t)(around + grouped_len(p->digits.n, spec->grouping, group));
    QN_T_TRY(qn_trun_puts(run, p->sign));
    QN_T_TRY(qn_trun_puts(run, p->prefix));
    if (align == '=' && !fill_zeros && rest > 0)
        QN_T_TRY(qn_trun_fill(run, spec->fill, spec->fill_n, (size_t)rest));
    QN_T_TRY(put_grouped(run, &p->digits, zeros, spec->grouping, group));
    QN_T_TRY(qn_trun_putv(run, &p->rest));
    if (align == '=')
        return QN_T_OK;
    QN_T_TRY(qn_trun_take(run, mark, &text));
    return qn_ttext_put_padded(run, text.s, text.n, spec->fill, spec->fill_n, spec->width, align);
}

static const char *sign_text(bool negative, char sign)
{
    return negative ? "-" : sign == '+' ? "+" : sign == ' ' ? " " : "";
}

static enum qn_tflow put_int(struct qn_trun *run, const struct qn_tval *v,
                             const struct qn_tspec *spec)
{
    unsigned base = spec->type == 'b'            ? 2
                    : spec->type == 'o'          ? 8
                    : (spec->type | 0x20) == 'x' ? 16
                                                 : 10;
    struct parts p = {.prefix = ""};
    struct qn_tval text;
    if (spec->type == 'c') {
        int64_t cp = 0;
        char utf8[4];
        QN_T_TRY(qn_tval_index(run, v, &cp));
        if (cp < 0 || cp > 0x10ffff)
            return qn_trun_fail(run, "%%c arg not in range(0x110000)");
        return qn_tformat_text(run, utf8, qn_utf8_encode((uint32_t)cp, utf8), spec);
    }
    QN_T_TRY(qn_tbig_text(run, v, base, &text));
    bool negative = text.s[0] == '-';
    p.digits = qn_tval_string(text.s + negative, text.n - negative);
    if (spec->type == 'X')
        for (size_t i = 0; i < p.digits.n; i++)
            ((char *)p.digits.s)[i] = (char)toupper((unsigned char)p.digits.s[i]);
    if (spec->alternate)
        p.prefix = base == 2           ? "0b"
                   : base == 8         ? "0o"
                   : spec->type == 'X' ? "0X"
                   : base == 16        ? "0x"
                                       : "";
    p.sign = sign_text(negative, spec->sign);
    p.rest = qn_tval_cstr("");
    return put_parts(run, &p, spec);
}

/* A float without a format type but with a precision is written like 'g', with at least one digit
 * after the point. */
static void add_point(char *text, size_t size)
{
    if (strchr(text, '.') || strchr(text, 'e') || strchr(text, 'n'))
        return;
    size_t n = strlen(text);
    snprintf(text + n, size - n, ".0");
}

static void float_text(double f, const struct qn_tspec *spec, char *text, size_t size)
{
    char format[16], type = (char)(spec->type | 0x20);
    int precision = spec->precision < 0 ? 6 : (int)spec->precision;
    if (!spec->type && spec->precision < 0) {
        char shown[QN_TFLOAT_MAX];
        qn_tfloat_text(f, shown);
        snprintf(text, size, "%s", shown);
        return;
    }
    if (!spec->type) {
        /* Like 'g', with the exponent form beginning one digit earlier because ".0" needs one
         * digit. */
        snprintf(format, sizeof format, "%%%s.*e", spec->alternate ? "#" : "");
        snprintf(text, size, format, precision > 0 ? precision - 1 : 0, f);
        int exponent = strchr(text, 'e') ? atoi(strchr(text, 'e') + 1) : 0;
        precision = precision > 0 ? precision : 1;
        if (exponent >= -4 && exponent < precision - 1) {
            snprintf(text, size, "%.*g", precision, f);
            add_point(text, size);
        } else if (exponent >= -4 && exponent < 0) {
            snprintf(text, size, "%.*g", precision, f);
        } else {
            snprintf(text, size, "%.*e", precision - 1, f);
            char *e = strchr(text, 'e'), *end = e;
            if (e && memchr(text, '.', (size_t)(e - text))) {
                while (end[-1] == '0')
                    end--;
                end -= end[-1] == '.';
                memmove(end, e, strlen(e) + 1);
            }
        }
        return;
    }
    snprintf(format, sizeof format, "%%%s.*%c", spec->alternate ? "#" : "",
             type == 'n'   ? 'g'
             : type == '%' ? 'f'
                           : type);
    snprintf(text, size, format, precision, f);
}

static enum qn_tflow put_float(struct qn_trun *run, double f, const struct qn_tspec *spec)
{
    struct parts p = {.prefix = ""};
    struct qn_tspec how = *spec;
    char *text = NULL;
    size_t size = 400 + (spec->precision > 0 ? (size_t)spec->precision : 0);
    if (spec->precision > QN_TFORMAT_PRECISION_MAX)
        return qn_trun_limit(run, "a precision of more than %d", QN_TFORMAT_PRECISION_MAX);
    QN_T_TRY(qn_trun_charge(run, size / 2));
    QN_T_TRY(qn_trun_alloc(run, size, &text));
    if (spec->type == '%') {
        f *= 100;
        how.type = 'f';
    }
    float_text(fabs(f), &how, text, size - 2);
    if (spec->type == '%')
        strcat(text, "%");
    for (char *c = text; *c && spec->type && strchr("EFG", spec->type); c++)
        *c = (char)toupper((unsigned char)*c);
    size_t n = strspn(text, "0123456789");
    if (n == 0)
        n = strlen(text) - (spec->type == '%'); /* inf or nan */
    p.sign = sign_text(signbit(f) && !isnan(f), spec->sign);
    p.digits = qn_tval_string(text, n);
    p.rest = qn_tval_cstr(text + n);
    if (!isfinite(f))
        how.grouping = '\0';
    how.type = '\0';
    return put_parts(run, &p, &how);
}

enum qn_tflow qn_tformat_number(struct qn_trun *run, const struct qn_tval *v,
                                const struct qn_tspec *spec)
{
    double f = 0;
    bool float_type = spec->type && strchr("eEfFgG%", spec->type);
    if (v->type != QN_T_FLOAT && !float_type) {
        if (spec->precision >= 0)
            return qn_trun_fail(run, "Precision not allowed in integer format specifier");
        return put_int(run, v, spec);
    }
    if (spec->type && strchr("bcdoxX", spec->type))
        return qn_trun_fail(run, "Unknown format code '%c' for object of type 'float'", spec->type);
    QN_T_TRY(qn_tval_double(run, v, &f));
    return put_float(run, f, spec);
}

enum qn_tflow qn_tformat_text(struct qn_trun *run, const char *s, size_t n,
                              const struct qn_tspec *spec)
{
    if (spec->precision >= 0)
        n = qn_ttext_offset(s, n, (size_t)spec->precision);
    char align = spec->align && spec->align != '=' ? spec->align : '<';
    return qn_ttext_put_padded(run, s, n, spec->fill, spec->fill_n, spec->width, align);
}

static size_t read_number(const char *s, size_t n, int64_t *out)
{
    size_t i = 0;
    for (*out = 0; i < n && s[i] >= '0' && s[i] <= '9'; i++)
        *out = *out > INT32_MAX ? *out : *out * 10 + (s[i] - '0');
    return i;
}

static bool is_align(const char *s, size_t n, size_t at)
{
    return at < n && s[at] && strchr("<>=^", s[at]);
}

static enum qn_tflow parse_spec(struct qn_trun *run, const char *s, size_t n, struct qn_tspec *out)
{
    size_t i = 0, fill = n ? qn_ttext_char(s, n) : 0;
    *out = (struct qn_tspec){.fill = " ", .fill_n = 1, .width = -1, .precision = -1};
    if (n > 0 && is_align(s, n, fill)) {
        out->fill = s;
        out->fill_n = fill;
        out->align = s[fill];
        i = fill + 1;
    } else if (is_align(s, n, 0)) {
        out->align = s[i++];
    }
    if (i < n && (s[i] == '+' || s[i] == '-' || s[i] == ' '))
        out->sign = s[i++];
    if (i < n && s[i] == '#')
        out->alternate = s[i++];
    if (i < n && s[i] == '0') {
        out->zero = true;
        if (!out->align) {
            out->fill = "0";
            out->align = '=';
        }
        i++;
    }
    if (i < n && s[i] >= '0' && s[i] <= '9')
        i += read_number(s + i, n - i, &out->width);
    if (i < n && (s[i] == ',' || s[i] == '_'))
        out->grouping = s[i++];
    if (i < n && s[i] == '.') {
        size_t used = read_number(s + i + 1, n - i - 1, &out->precision);
        if (!used)
            return qn_trun_fail(run, "Format specifier missing precision");
        i += 1 + used;
    }
    if (n - i > 1)
        return qn_trun_fail(run, "Invalid format specifier");
    if (i < n)
        out->type = s[i];
    return QN_T_OK;
}

static enum qn_tflow format_text(struct qn_trun *run, const struct qn_tval *v,
                                 const struct qn_tspec *spec)
{
    struct qn_tspec how = *spec;
    if (spec->type && spec->type != 's')
        return qn_trun_fail(run, "Unknown format code '%c' for object of type 'str'", spec->type);
    if (spec->sign || spec->grouping || spec->alternate || (spec->align == '=' && !spec->zero))
        return qn_trun_fail(run, "this is not allowed in a string format specifier");
    if (spec->zero && spec->align == '=')
        how.align = '<';
    return qn_tformat_text(run, v->s, v->n, &how);
}

enum qn_tflow qn_tformat_value(struct qn_trun *run, const struct qn_tval *v, const char *spec,
                               size_t n)
{
    struct qn_tspec how;
    if (n == 0)
        return qn_tval_put_str(run, v);
    QN_T_TRY(parse_spec(run, spec, n, &how));
    if (v->type == QN_T_STRING)
        return format_text(run, v, &how);
    if (!qn_tval_is(v, QN_T_NUMBERS))
        return qn_trun_fail(run, "unsupported format string passed to %s.__format__",
                            qn_tval_class(v));
    if (how.type && !strchr("bcdoxXneEfFgG%", how.type))
        return qn_trun_fail(run, "Unknown format code '%c'", how.type);
    if (how.grouping && how.type &&
        (strchr("cn", how.type) || (how.grouping == ',' && strchr("boxX", how.type))))
        return qn_trun_fail(run, "Cannot specify '%c' with '%c'.", how.grouping, how.type);
    return qn_tformat_number(run, v, &how);
}
