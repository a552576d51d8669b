/* See unicode.h. ASCII is handled directly, other characters with utf8proc. */
#include "jinja/unicode.h"

#include <utf8proc.h>

static utf8proc_category_t category(uint32_t cp)
{
    return utf8proc_category((utf8proc_int32_t)cp);
}

bool qn_tchar_space(uint32_t cp)
{
    if (cp < 128)
        return cp == ' ' || (cp >= 9 && cp <= 13) || (cp >= 0x1c && cp <= 0x1f);
    return cp == 0x85 || cp == 0xa0 || cp == 0x1680 || (cp >= 0x2000 && cp <= 0x200a) ||
           cp == 0x2028 || cp == 0x2029 || cp == 0x202f || cp == 0x205f || cp == 0x3000;
}

bool qn_tchar_alpha(uint32_t cp)
{
    if (cp < 128)
        return (cp | 0x20) >= 'a' && (cp | 0x20) <= 'z';
    utf8proc_category_t c = category(cp);
    return c >= UTF8PROC_CATEGORY_LU && c <= UTF8PROC_CATEGORY_LO;
}

bool qn_tchar_decimal(uint32_t cp)
{
    return cp < 128 ? cp >= '0' && cp <= '9' : category(cp) == UTF8PROC_CATEGORY_ND;
}

bool qn_tchar_digit(uint32_t cp)
{
    return qn_tchar_decimal(cp) || cp == 0xb2 || cp == 0xb3 || cp == 0xb9 || cp == 0x2070 ||
           (cp >= 0x2074 && cp <= 0x2079) || (cp >= 0x2080 && cp <= 0x2089) ||
           (cp >= 0x2460 && cp <= 0x2468) || (cp >= 0x2474 && cp <= 0x247c) ||
           (cp >= 0x2488 && cp <= 0x2490);
}

bool qn_tchar_numeric(uint32_t cp)
{
    if (cp < 128)
        return cp >= '0' && cp <= '9';
    utf8proc_category_t c = category(cp);
    return c == UTF8PROC_CATEGORY_ND || c == UTF8PROC_CATEGORY_NL || c == UTF8PROC_CATEGORY_NO;
}

bool qn_tchar_word(uint32_t cp)
{
    return cp == '_' || qn_tchar_alpha(cp) || qn_tchar_numeric(cp);
}

bool qn_tchar_upper(uint32_t cp)
{
    return cp < 128 ? cp >= 'A' && cp <= 'Z'
                    : category(cp) == UTF8PROC_CATEGORY_LU || (cp >= 0x2160 && cp <= 0x216f) ||
                          (cp >= 0x24b6 && cp <= 0x24cf);
}

bool qn_tchar_lower(uint32_t cp)
{
    return cp < 128 ? cp >= 'a' && cp <= 'z'
                    : category(cp) == UTF8PROC_CATEGORY_LL || cp == 0xaa || cp == 0xba ||
                          (cp >= 0x2170 && cp <= 0x217f) || (cp >= 0x24d0 && cp <= 0x24e9) ||
                          (cp >= 0x2b0 && cp <= 0x2b8);
}

bool qn_tchar_title(uint32_t cp)
{
    return cp >= 128 && category(cp) == UTF8PROC_CATEGORY_LT;
}

bool qn_tchar_printable(uint32_t cp)
{
    if (cp < 128)
        return cp >= 32 && cp < 127;
    utf8proc_category_t c = category(cp);
    return c != UTF8PROC_CATEGORY_CN && !(c >= UTF8PROC_CATEGORY_ZS && c <= UTF8PROC_CATEGORY_CO);
}

bool qn_tchar_ignorable(uint32_t cp)
{
    if (cp < 128)
        return cp == '\'' || cp == '.' || cp == ':' || cp == '^' || cp == '`';
    utf8proc_category_t c = category(cp);
    return c == UTF8PROC_CATEGORY_MN || c == UTF8PROC_CATEGORY_ME || c == UTF8PROC_CATEGORY_CF ||
           c == UTF8PROC_CATEGORY_LM || c == UTF8PROC_CATEGORY_SK || cp == 0xb7 || cp == 0x2019;
}

/* Letters whose upper case has several code points: the unconditional mappings of Unicode's
 * SpecialCasing. */
static const struct {
    uint32_t cp, upper[QN_TCASE_MAX], title[QN_TCASE_MAX];
} special[] = {
    {0xdf, {'S', 'S'}, {'S', 's'}},
    {0x149, {0x2bc, 'N'}, {0x2bc, 'N'}},
    {0x1f0, {'J', 0x30c}, {'J', 0x30c}},
    {0x390, {0x399, 0x308, 0x301}, {0x399, 0x308, 0x301}},
    {0x3b0, {0x3a5, 0x308, 0x301}, {0x3a5, 0x308, 0x301}},
    {0x587, {0x535, 0x552}, {0x535, 0x582}},
    {0x1e96, {'H', 0x331}, {'H', 0x331}},
    {0x1e97, {'T', 0x308}, {'T', 0x308}},
    {0x1e98, {'W', 0x30a}, {'W', 0x30a}},
    {0x1e99, {'Y', 0x30a}, {'Y', 0x30a}},
    {0x1e9a, {'A', 0x2be}, {'A', 0x2be}},
    {0xfb00, {'F', 'F'}, {'F', 'f'}},
    {0xfb01, {'F', 'I'}, {'F', 'i'}},
    {0xfb02, {'F', 'L'}, {'F', 'l'}},
    {0xfb03, {'F', 'F', 'I'}, {'F', 'f', 'i'}},
    {0xfb04, {'F', 'F', 'L'}, {'F', 'f', 'l'}},
    {0xfb05, {'S', 'T'}, {'S', 't'}},
    {0xfb06, {'S', 'T'}, {'S', 't'}},
};

static size_t special_case(uint32_t cp, bool title, uint32_t out[static QN_TCASE_MAX])
{
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        size_t n = 0;
        if (special[i].cp != cp)
            continue;
        const uint32_t *from = title ? special[i].title : special[i].upper;
        for (; n < QN_TCASE_MAX && from[n]; n++)
            out[n] = from[n];
        return n;
    }
    return 0;
}

size_t qn_tchar_to_upper(uint32_t cp, uint32_t out[static QN_TCASE_MAX])
{
    size_t n = cp < 128 ? 0 : special_case(cp, false, out);
    if (n)
        return n;
    out[0] = cp < 128 ? (qn_tchar_lower(cp) ? cp - 32 : cp)
                      : (uint32_t)utf8proc_toupper((utf8proc_int32_t)cp);
    return 1;
}

size_t qn_tchar_to_title(uint32_t cp, uint32_t out[static QN_TCASE_MAX])
{
    size_t n = cp < 128 ? 0 : special_case(cp, true, out);
    if (n)
        return n;
    out[0] = cp < 128 ? (qn_tchar_lower(cp) ? cp - 32 : cp)
                      : (uint32_t)utf8proc_totitle((utf8proc_int32_t)cp);
    return 1;
}

size_t qn_tchar_to_lower(uint32_t cp, uint32_t out[static QN_TCASE_MAX])
{
    if (cp == 0x130) {
        out[0] = 'i';
        out[1] = 0x307;
        return 2;
    }
    out[0] = cp < 128 ? (qn_tchar_upper(cp) ? cp + 32 : cp)
                      : (uint32_t)utf8proc_tolower((utf8proc_int32_t)cp);
    return 1;
}
