/* JavaScript's view of text and numbers. Source: ECMA-262, sections 12.2 (white space), 6.1.6.1.20
 * (Number::toString), 7.1.4.1 (StringToNumber), 22.1.3.28 (toUpperCase). */
#include "llm/template_text.h"

#include "base/str.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wctype.h>

size_t qn_text_char(const char *s, size_t n)
{
    uint32_t cp;
    return qn_utf8_decode(s, n, &cp);
}

static bool space_code(uint32_t cp)
{
    return cp == 0x20 || (cp >= 0x09 && cp <= 0x0D) || cp == 0xA0 || cp == 0x1680 ||
           (cp >= 0x2000 && cp <= 0x200A) || cp == 0x2028 || cp == 0x2029 || cp == 0x202F ||
           cp == 0x205F || cp == 0x3000 || cp == 0xFEFF;
}

size_t qn_text_space(const char *s, size_t n)
{
    if (n == 0)
        return 0;
    if ((unsigned char)*s < 0x80)
        return space_code((unsigned char)*s) ? 1 : 0;
    uint32_t cp;
    size_t used = qn_utf8_decode(s, n, &cp);
    return space_code(cp) ? used : 0;
}

size_t qn_text_skip(const char *s, size_t n)
{
    size_t i = 0;
    for (size_t k; (k = qn_text_space(s + i, n - i)) != 0;)
        i += k;
    return i;
}

size_t qn_text_rtrim(const char *s, size_t n)
{
    while (n > 0) {
        size_t start = n - 1;
        while (start > 0 && n - start < 4 && ((unsigned char)s[start] & 0xC0) == 0x80)
            start--;
        if (qn_text_space(s + start, n - start) != n - start)
            break;
        n = start;
    }
    return n;
}

size_t qn_text_utf16_len(const char *s, size_t n)
{
    size_t units = 0;
    for (size_t i = 0; i < n;) {
        uint32_t cp;
        i += qn_utf8_decode(s + i, n - i, &cp);
        units += cp > 0xFFFF ? 2 : 1;
    }
    return units;
}

/* Code points in the order of their first UTF-16 unit: surrogates sort below U+E000. */
static uint32_t utf16_rank(uint32_t cp)
{
    if (cp > 0xFFFF)
        return 0xD800 + (cp - 0x10000);
    return cp >= 0xE000 ? cp + 0x200000 : cp;
}

int qn_text_compare(const char *a, size_t an, const char *b, size_t bn)
{
    while (an > 0 && bn > 0) {
        uint32_t ca, cb;
        size_t ka = qn_utf8_decode(a, an, &ca), kb = qn_utf8_decode(b, bn, &cb);
        if (ca != cb)
            return utf16_rank(ca) < utf16_rank(cb) ? -1 : 1;
        a += ka, an -= ka, b += kb, bn -= kb;
    }
    return an > 0 ? 1 : bn > 0 ? -1 : 0;
}

/* Primary weight: the root order of Unicode collation for ASCII, code points behind it. */
static uint32_t collation_weight(uint32_t cp)
{
    static const char order[] = "_-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789";
    if (cp < 0x80) {
        const char *p = cp != 0 ? strchr(order, (int)cp) : NULL;
        if (p)
            return (uint32_t)(p - order) + 0x80;
        if ((cp | 0x20) >= 'a' && (cp | 0x20) <= 'z')
            return (cp | 0x20) + 0x100;
        return cp;
    }
    return cp + 0x200;
}

int qn_text_collate(const char *a, size_t an, const char *b, size_t bn)
{
    int by_case = 0;
    while (an > 0 && bn > 0) {
        uint32_t ca, cb;
        size_t ka = qn_utf8_decode(a, an, &ca), kb = qn_utf8_decode(b, bn, &cb);
        uint32_t wa = collation_weight(ca), wb = collation_weight(cb);
        if (wa != wb)
            return wa < wb ? -1 : 1;
        if (by_case == 0 && ca != cb)
            by_case = ca > cb ? -1 : 1; /* lower case first */
        a += ka, an -= ka, b += kb, bn -= kb;
    }
    return an > 0 ? 1 : bn > 0 ? -1 : by_case;
}

static locale_t unicode;

static void open_unicode(void)
{
    /* The C library's case tables, whatever locale the process runs in. */
    unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
}

static locale_t unicode_locale(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_unicode);
    return unicode;
}

static void put_code(struct qn_buf *out, uint32_t cp)
{
    char utf8[4];
    qn_buf_add(out, utf8, qn_utf8_encode(cp, utf8));
}

/* Characters whose upper case is longer than one character. */
static const struct {
    uint32_t cp;
    const char *upper;
} long_upper[] = {
    {0x00DF, "SS"},  {0x0149, "\u02BCN"}, {0x01F0, "J\u030C"}, {0x0587, "\u0535\u0552"},
    {0xFB00, "FF"},  {0xFB01, "FI"},      {0xFB02, "FL"},      {0xFB03, "FFI"},
    {0xFB04, "FFL"}, {0xFB05, "ST"},      {0xFB06, "ST"},
};

void qn_text_upper(const char *s, size_t n, struct qn_buf *out)
{
    locale_t loc = unicode_locale();
    for (size_t i = 0; i < n;) {
        uint32_t cp;
        size_t k = qn_utf8_decode(s + i, n - i, &cp);
        const char *longer = NULL;
        for (size_t j = 0; cp >= 0x80 && j < sizeof(long_upper) / sizeof(long_upper[0]); j++)
            if (long_upper[j].cp == cp)
                longer = long_upper[j].upper;
        if (cp < 0x80)
            qn_buf_char(out, (char)(cp >= 'a' && cp <= 'z' ? cp - 32 : cp));
        else if (longer)
            qn_buf_str(out, longer);
        else
            put_code(out, loc ? (uint32_t)towupper_l((wint_t)cp, loc) : cp);
        i += k;
    }
}

/* A capital sigma becomes the final form at the end of a word. */
static bool final_sigma(const char *s, size_t n, size_t i, size_t after, locale_t loc)
{
    if (i == 0 || !loc)
        return false;
    size_t before = i - 1;
    while (before > 0 && ((unsigned char)s[before] & 0xC0) == 0x80)
        before--;
    uint32_t cp;
    qn_utf8_decode(s + before, n - before, &cp);
    if (!iswalpha_l((wint_t)cp, loc))
        return false;
    if (after >= n)
        return true;
    qn_utf8_decode(s + after, n - after, &cp);
    return !iswalpha_l((wint_t)cp, loc);
}

void qn_text_lower(const char *s, size_t n, struct qn_buf *out)
{
    locale_t loc = unicode_locale();
    for (size_t i = 0; i < n;) {
        uint32_t cp;
        size_t k = qn_utf8_decode(s + i, n - i, &cp);
        if (cp < 0x80)
            qn_buf_char(out, (char)(cp >= 'A' && cp <= 'Z' ? cp + 32 : cp));
        else if (cp == 0x130)
            qn_buf_str(out, "i\u0307");
        else if (cp == 0x3A3 && final_sigma(s, n, i, i + k, loc))
            put_code(out, 0x3C2);
        else
            put_code(out, loc ? (uint32_t)towlower_l((wint_t)cp, loc) : cp);
        i += k;
    }
}

/* The fewest significant digits that read back equal, without their point, and the decimal
 * exponent of the first one. */
static int shortest_digits(double num, char digits[20], int *exponent)
{
    char text[40];
    /* 15 digits and no zeros at the end are the shortest form if they read back; only numbers below
     * the normal range can do with fewer that this would not find. */
    for (int precision = num < DBL_MIN ? 0 : 14; precision < 17; precision++) {
        snprintf(text, sizeof(text), "%.*e", precision, num);
        if (strtod(text, NULL) == num)
            break;
    }
    int n = 0;
    const char *p = text;
    for (; *p && *p != 'e'; p++)
        if (*p >= '0' && *p <= '9')
            digits[n++] = *p;
    *exponent = atoi(p + 1);
    while (n > 1 && digits[n - 1] == '0')
        n--;
    return n;
}

size_t qn_text_number(double num, char out[static QN_TEXT_NUMBER_MAX])
{
    if (isnan(num) || isinf(num))
        return (size_t)snprintf(out, QN_TEXT_NUMBER_MAX, "%s",
                                isnan(num) ? "NaN"
                                : num > 0  ? "Infinity"
                                           : "-Infinity");
    if (num == floor(num) && fabs(num) < 1e15)
        return (size_t)snprintf(out, QN_TEXT_NUMBER_MAX, "%lld", (long long)num);
    char digits[20];
    int exponent, n = shortest_digits(fabs(num), digits, &exponent);
    char *p = out;
    if (num < 0)
        *p++ = '-';
    if (exponent >= 0 && exponent < 21) {
        for (int i = 0; i < n || i <= exponent; i++) {
            if (i == exponent + 1)
                *p++ = '.';
            *p++ = i < n ? digits[i] : '0';
        }
    } else if (exponent < 0 && exponent >= -7 + 1) {
        *p++ = '0';
        *p++ = '.';
        for (int i = -1; i > exponent; i--)
            *p++ = '0';
        for (int i = 0; i < n; i++)
            *p++ = digits[i];
    } else {
        for (int i = 0; i < n; i++) {
            if (i == 1)
                *p++ = '.';
            *p++ = digits[i];
        }
        p += sprintf(p, "e%c%d", exponent < 0 ? '-' : '+', abs(exponent));
    }
    *p = 0;
    return (size_t)(p - out);
}

/* The value of n bytes that are known to be a plain decimal. */
static double decimal(const char *s, size_t n)
{
    char *text = qn_xstrndup(s, n);
    double num;
    if (!qn_parse_f64(text, &num))
        num = *s == '-' ? -INFINITY : INFINITY; /* well formed, so out of range */
    free(text);
    return num;
}

static size_t digits_at(const char *s, size_t n)
{
    size_t i = 0;
    while (i < n && s[i] >= '0' && s[i] <= '9')
        i++;
    return i;
}

/* Bytes of the decimal literal at s: sign, digits, point, exponent; 0 when there is none. */
static size_t decimal_prefix(const char *s, size_t n)
{
    size_t i = n > 0 && (*s == '+' || *s == '-') ? 1 : 0;
    size_t whole = digits_at(s + i, n - i), part = 0;
    i += whole;
    if (i < n && s[i] == '.') {
        part = digits_at(s + i + 1, n - i - 1);
        if (whole + part > 0)
            i += 1 + part;
    }
    if (whole + part == 0)
        return 0;
    if (i < n && (s[i] == 'e' || s[i] == 'E')) {
        size_t k = i + 1;
        if (k < n && (s[k] == '+' || s[k] == '-'))
            k++;
        size_t power = digits_at(s + k, n - k);
        if (power > 0)
            i = k + power;
    }
    return i;
}

/* The number of the literal s[0..n), which decimal_prefix measured. qn_parse_f64 wants digits on
 * both sides of the point and no plus sign, so the text is put in that form first. */
static double decimal_literal(const char *s, size_t n)
{
    struct qn_buf text;
    qn_buf_init(&text, n + 4);
    size_t i = 0;
    if (*s == '-' || *s == '+') {
        if (*s == '-')
            qn_buf_char(&text, '-');
        i = 1;
    }
    if (s[i] == '.')
        qn_buf_char(&text, '0');
    for (; i < n; i++) {
        qn_buf_char(&text, s[i]);
        if (s[i] == '.' && (i + 1 == n || s[i + 1] < '0' || s[i + 1] > '9'))
            qn_buf_char(&text, '0');
    }
    double num = decimal(text.data, text.len);
    qn_buf_deinit(&text);
    return num;
}

static bool starts_with(const char *s, size_t n, const char *prefix)
{
    return n >= strlen(prefix) && memcmp(s, prefix, strlen(prefix)) == 0;
}

double qn_text_parse_float(const char *s, size_t n)
{
    size_t blank = qn_text_skip(s, n);
    s += blank, n -= blank;
    size_t sign = n > 0 && (*s == '+' || *s == '-') ? 1 : 0;
    if (starts_with(s + sign, n - sign, "Infinity"))
        return sign && *s == '-' ? -INFINITY : INFINITY;
    size_t used = decimal_prefix(s, n);
    return used > 0 ? decimal_literal(s, used) : NAN;
}

double qn_text_parse_int(const char *s, size_t n)
{
    size_t blank = qn_text_skip(s, n);
    s += blank, n -= blank;
    size_t sign = n > 0 && (*s == '+' || *s == '-') ? 1 : 0;
    size_t used = digits_at(s + sign, n - sign);
    return used > 0 ? decimal_literal(s, sign + used) : NAN;
}

double qn_text_to_number(const char *s, size_t n)
{
    size_t blank = qn_text_skip(s, n);
    s += blank, n -= blank;
    n = qn_text_rtrim(s, n);
    if (n == 0)
        return 0;
    static const struct {
        const char *prefix;
        int base;
    } bases[] = {{"0x", 16}, {"0X", 16}, {"0o", 8}, {"0O", 8}, {"0b", 2}, {"0B", 2}};
    for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]); i++) {
        if (!starts_with(s, n, bases[i].prefix) || n == 2)
            continue;
        double num = 0;
        for (size_t k = 2; k < n; k++) {
            int c = s[k], digit = c >= '0' && c <= '9'   ? c - '0'
                                  : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                         : 99;
            if (digit >= bases[i].base)
                return NAN;
            num = num * bases[i].base + digit;
        }
        return num;
    }
    size_t sign = *s == '+' || *s == '-' ? 1 : 0;
    if (n - sign == 8 && starts_with(s + sign, n - sign, "Infinity"))
        return *s == '-' ? -INFINITY : INFINITY;
    return decimal_prefix(s, n) == n ? decimal_literal(s, n) : NAN;
}
