/* See str.h. */
#include "base/str.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_tail(unsigned char c)
{
    return (c & 0xC0) == 0x80;
}

/* The number of bytes of a character that begins with lead, 0 if lead is invalid; *lo and *hi bound
 * its second byte (Unicode table 3-7: no overlong forms, no surrogates, at most U+10FFFF). */
static size_t sequence_length(unsigned char lead, unsigned char *lo, unsigned char *hi)
{
    *lo = 0x80;
    *hi = 0xBF;
    if (lead < 0x80)
        return 1;
    if (lead >= 0xC2 && lead <= 0xDF)
        return 2;
    if (lead >= 0xE0 && lead <= 0xEF) {
        if (lead == 0xE0)
            *lo = 0xA0;
        if (lead == 0xED)
            *hi = 0x9F;
        return 3;
    }
    if (lead >= 0xF0 && lead <= 0xF4) {
        if (lead == 0xF0)
            *lo = 0x90;
        if (lead == 0xF4)
            *hi = 0x8F;
        return 4;
    }
    return 0;
}

size_t qn_utf8_decode(const char *s, size_t n, uint32_t *cp)
{
    const unsigned char *p = (const unsigned char *)s;
    unsigned char lo, hi;
    size_t len = sequence_length(p[0], &lo, &hi);
    *cp = 0xFFFD;
    if (len == 0 || len > n)
        return 1;
    if (len == 1) {
        *cp = p[0];
        return 1;
    }
    if (p[1] < lo || p[1] > hi)
        return 1;
    uint32_t v = p[0] & (0x7Fu >> len);
    for (size_t i = 1; i < len; i++) {
        if (!is_tail(p[i]))
            return 1;
        v = (v << 6) | (p[i] & 0x3Fu);
    }
    *cp = v;
    return len;
}

bool qn_utf8_valid(const char *s, size_t n)
{
    for (size_t i = 0; i < n;) {
        uint64_t eight;
        if (n - i >= sizeof eight) {
            memcpy(&eight, s + i, sizeof eight);
            if ((eight & 0x8080808080808080u) == 0) {
                i += sizeof eight;
                continue;
            }
        }
        if ((unsigned char)s[i] < 0x80) {
            i++;
            continue;
        }
        uint32_t cp;
        size_t step = qn_utf8_decode(s + i, n - i, &cp);
        if (step == 1)
            return false;
        i += step;
    }
    return true;
}

size_t qn_utf8_encode(uint32_t cp, char out[4])
{
    if (cp > 0x10FFFF || (cp >= 0xD800 && cp <= 0xDFFF))
        cp = 0xFFFD;
    if (cp < 0x80) {
        out[0] = (char)cp;
        return 1;
    }
    if (cp < 0x800) {
        out[0] = (char)(0xC0 | (cp >> 6));
        out[1] = (char)(0x80 | (cp & 0x3F));
        return 2;
    }
    if (cp < 0x10000) {
        out[0] = (char)(0xE0 | (cp >> 12));
        out[1] = (char)(0x80 | ((cp >> 6) & 0x3F));
        out[2] = (char)(0x80 | (cp & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | (cp >> 18));
    out[1] = (char)(0x80 | ((cp >> 12) & 0x3F));
    out[2] = (char)(0x80 | ((cp >> 6) & 0x3F));
    out[3] = (char)(0x80 | (cp & 0x3F));
    return 4;
}

size_t qn_utf8_whole(const char *s, size_t n)
{
    /* Only the last three bytes can be the beginning of an incomplete character. */
    for (size_t back = 1; back <= 3 && back <= n; back++) {
        const unsigned char *p = (const unsigned char *)s + n - back;
        if (is_tail(*p))
            continue;
        unsigned char lo, hi;
        size_t len = sequence_length(*p, &lo, &hi);
        if (len <= back)
            return n;
        if (back > 1 && (p[1] < lo || p[1] > hi))
            return n; /* malformed already: more bytes cannot make it valid */
        return n - back;
    }
    return n;
}

bool qn_parse_i64(const char *s, int64_t *out)
{
    if (!s || !((*s >= '0' && *s <= '9') || *s == '-'))
        return false;
    char *end;
    errno = 0;
    long long v = strtoll(s, &end, 10);
    if (errno || end == s || *end)
        return false;
    *out = v;
    return true;
}

bool qn_parse_f64(const char *s, double *out)
{
    if (!s || !((*s >= '0' && *s <= '9') || *s == '-' || *s == '.'))
        return false;
    static locale_t c_locale;
    locale_t loc = __atomic_load_n(&c_locale, __ATOMIC_ACQUIRE);
    if (!loc) {
        loc = newlocale(LC_ALL_MASK, "C", (locale_t)0);
        locale_t none = (locale_t)0;
        if (!__atomic_compare_exchange_n(&c_locale, &none, loc, false, __ATOMIC_ACQ_REL,
                                         __ATOMIC_ACQUIRE)) {
            freelocale(loc);
            loc = none;
        }
    }
    char *end;
    double v = strtod_l(s, &end, loc);
    if (end == s || *end || !isfinite(v) || strpbrk(s, "xX"))
        return false;
    *out = v;
    return true;
}

bool qn_str_eq(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

bool qn_str_ieq(const char *a, const char *b)
{
    return a == b || (a && b && strcasecmp(a, b) == 0);
}

bool qn_str_starts(const char *s, const char *prefix)
{
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool qn_str_ends(const char *s, const char *suffix)
{
    size_t n = strlen(s), m = strlen(suffix);
    return n >= m && memcmp(s + n - m, suffix, m) == 0;
}

bool qn_secret_eq(const char *given, const char *expected)
{
    size_t n = strlen(given), m = strlen(expected);
    unsigned char diff = n != m;
    for (size_t i = 0; i < n; i++)
        diff |= (unsigned char)(given[i] ^ expected[m ? i % m : 0]);
    return diff == 0;
}

const char *qn_env_get(const char *const *env, const char *name)
{
    size_t n = strlen(name);
    for (; env && *env; env++)
        if (!strncmp(*env, name, n) && (*env)[n] == '=' && (*env)[n + 1])
            return *env + n + 1;
    return NULL;
}
