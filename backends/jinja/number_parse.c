/* Numbers parsed from text, and rounding; see number.h. */
#include "base/str.h"
#include "jinja/bigint.h"
#include "jinja/number.h"
#include "jinja/print.h"
#include "jinja/run.h"
#include "jinja/text.h"
#include "jinja/unicode.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { NUMBER_TEXT_MAX = 4400 };

/* Converts a number's text to ASCII: strips surrounding white space and replaces decimal digits of
 * any script by 0 to 9. False when the text has other characters or is too long. */
static bool plain_text(const char *s, size_t n, char *out, size_t *len)
{
    struct qn_tval all = qn_tval_string(s, n), v = qn_ttext_strip(&all, NULL, true, true);
    *len = 0;
    for (size_t at = 0, used; at < v.n; at += used) {
        uint32_t cp;
        used = qn_utf8_decode(v.s + at, v.n - at, &cp);
        if (cp >= 128) {
            if (!qn_tchar_decimal(cp))
                return false;
            uint32_t zero = cp; /* each script's ten digits are consecutive code points */
            while (cp - zero < 9 && qn_tchar_decimal(zero - 1))
                zero--;
            cp = '0' + (cp - zero);
        }
        if (*len == NUMBER_TEXT_MAX)
            return false;
        out[(*len)++] = (char)cp;
    }
    return true;
}

static int digit_of(char c)
{
    return c >= '0' && c <= '9'                     ? c - '0'
           : (c | 0x20) >= 'a' && (c | 0x20) <= 'z' ? (c | 0x20) - 'a' + 10
                                                    : 99;
}

/* Removes single underscores between characters; false when an underscore is elsewhere. */
static bool without_underscores(char *s, size_t *n, bool after_prefix)
{
    size_t to = 0;
    for (size_t i = 0; i < *n; i++) {
        if (s[i] != '_') {
            s[to++] = s[i];
            continue;
        }
        bool before = i > 0 ? s[i - 1] != '_' && digit_of(s[i - 1]) < 36 : after_prefix;
        if (!before || i + 1 == *n || digit_of(s[i + 1]) > 35)
            return false;
    }
    *n = to;
    return true;
}

enum qn_tflow qn_tval_parse_int(struct qn_trun *run, const char *s, size_t n, int64_t base,
                                bool *ok, struct qn_tval *out)
{
    char text[NUMBER_TEXT_MAX], *p = text;
    size_t len = 0;
    *ok = false;
    if (base != 0 && (base < 2 || base > 36))
        return QN_T_OK;
    QN_T_TRY(qn_trun_walked(run, n));
    if (!plain_text(s, n, text, &len))
        return QN_T_OK;
    bool negative = len > 0 && *p == '-', prefix = false;
    if (len > 0 && (*p == '-' || *p == '+'))
        p++, len--;
    int64_t named = len > 1 && *p == '0' ? ((p[1] | 0x20) == 'x'   ? 16
                                            : (p[1] | 0x20) == 'o' ? 8
                                            : (p[1] | 0x20) == 'b' ? 2
                                                                   : 0)
                                         : 0;
    if (named && (base == 0 || base == named)) {
        p += 2, len -= 2;
        prefix = true;
        base = named;
    }
    bool zero_only = base == 0 && len > 1 && *p == '0';
    base = base ? base : 10;
    if (!without_underscores(p, &len, prefix) || len == 0)
        return QN_T_OK;
    for (size_t i = 0; i < len; i++)
        if (digit_of(p[i]) >= base || (zero_only && p[i] != '0'))
            return QN_T_OK;
    *ok = true;
    return qn_tbig_parse(run, p, len, (unsigned)base, negative, out);
}

static bool float_syntax(const char *s, size_t n)
{
    size_t i = 0, digits = 0;
    if (i < n && (s[i] == '-' || s[i] == '+'))
        i++;
    size_t left = n - i;
    if ((left == 3 && (strncasecmp(s + i, "inf", 3) == 0 || strncasecmp(s + i, "nan", 3) == 0)) ||
        (left == 8 && strncasecmp(s + i, "infinity", 8) == 0))
        return true;
    for (; i < n && s[i] >= '0' && s[i] <= '9'; i++)
        digits++;
    if (i < n && s[i] == '.')
        for (i++; i < n && s[i] >= '0' && s[i] <= '9'; i++)
            digits++;
    if (digits == 0 || i == n || (s[i] | 0x20) != 'e')
        return digits > 0 && i == n;
    i++;
    if (i < n && (s[i] == '-' || s[i] == '+'))
        i++;
    size_t start = i;
    while (i < n && s[i] >= '0' && s[i] <= '9')
        i++;
    return i == n && i > start;
}

enum qn_tflow qn_tval_parse_float(struct qn_trun *run, const char *s, size_t n, bool *ok,
                                  double *out)
{
    char text[NUMBER_TEXT_MAX + 1];
    size_t len = 0;
    QN_T_TRY(qn_trun_walked(run, n));
    *ok = plain_text(s, n, text, &len) && without_underscores(text, &len, false) &&
          float_syntax(text, len);
    text[len] = '\0';
    if (*ok)
        *out = strtod(text, NULL);
    return QN_T_OK;
}

/* Rounds an integer to tens, hundreds ...; half to even. */
static enum qn_tflow round_int(struct qn_trun *run, const struct qn_tval *v, int64_t digits,
                               struct qn_tval *out)
{
    struct qn_tval ten = qn_tval_int(10), unit, rest, two = qn_tval_int(2), twice, half, odd;
    *out = *v;
    if (v->type == QN_T_BOOL)
        *out = qn_tval_int(v->b);
    if (digits >= 0)
        return QN_T_OK;
    if (digits < -5000) {
        *out = qn_tval_int(0);
        return QN_T_OK;
    }
    QN_T_TRY(qn_tbig_pow(run, &ten, (uint64_t)-digits, &unit));
    QN_T_TRY(qn_tval_binary(run, QN_OP_MOD, v, &unit, &rest));
    QN_T_TRY(qn_tval_binary(run, QN_OP_SUB, v, &rest, out));
    QN_T_TRY(qn_tval_binary(run, QN_OP_MUL, &rest, &two, &twice));
    QN_T_TRY(qn_tval_binary(run, QN_OP_SUB, &twice, &unit, &half));
    QN_T_TRY(qn_tval_binary(run, QN_OP_FLOOR_DIV, out, &unit, &odd));
    QN_T_TRY(qn_tval_binary(run, QN_OP_MOD, &odd, &two, &odd));
    bool negative = half.type == QN_T_BIG ? half.big->negative : half.i < 0;
    bool zero = half.type == QN_T_INT && half.i == 0;
    if (negative || (zero && odd.i == 0))
        return QN_T_OK;
    return qn_tval_binary(run, QN_OP_ADD, out, &unit, out);
}

enum qn_tflow qn_tval_round(struct qn_trun *run, const struct qn_tval *v,
                            const struct qn_tval *digits, struct qn_tval *out)
{
    char text[400];
    int64_t places = 0;
    QN_T_TRY(qn_trun_charge(run, 150));
    bool whole = qn_tval_is(digits, QN_T_BIT(QN_T_MISSING) | QN_T_BIT(QN_T_NONE));
    if (!whole)
        QN_T_TRY(qn_tval_index(run, digits, &places));
    if (!qn_tval_is(v, QN_T_NUMBERS))
        return qn_trun_fail(run, "type %s doesn't define __round__ method", qn_tval_class(v));
    if (v->type != QN_T_FLOAT)
        return round_int(run, v, places, out);
    if (whole) {
        if (!isfinite(v->f))
            return qn_trun_fail(run, "cannot convert float %s to integer",
                                isnan(v->f) ? "NaN" : "infinity");
        return qn_tbig_from_double(run, nearbyint(v->f), out);
    }
    *out = *v;
    if (!isfinite(v->f) || places > 323)
        return QN_T_OK;
    if (places < -308) {
        *out = qn_tval_float(copysign(0.0, v->f));
        return QN_T_OK;
    }
    if (places >= 0) {
        char longer[700];
        snprintf(longer, sizeof longer, "%.*f", (int)places, v->f);
        *out = qn_tval_float(strtod(longer, NULL));
        return QN_T_OK;
    }
    /* Rounding before the point: keeps as many significant digits as remain. */
    snprintf(text, sizeof text, "%.0f", fabs(v->f));
    int kept = (int)strlen(text) + (int)places - 1;
    if (kept < 0) {
        double unit = pow(10, (double)-places);
        *out = qn_tval_float(copysign(kept == -1 && fabs(v->f) > unit / 2 ? unit : 0.0, v->f));
        return QN_T_OK;
    }
    snprintf(text, sizeof text, "%.*e", kept, v->f);
    *out = qn_tval_float(strtod(text, NULL));
    return QN_T_OK;
}
