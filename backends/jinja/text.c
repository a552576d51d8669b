/* See text.h. */
#include "jinja/text.h"

#include "base/str.h"
#include "jinja/run.h"
#include "jinja/unicode.h"

size_t qn_ttext_char(const char *s, size_t n)
{
    uint32_t cp;
    return (unsigned char)*s < 128 ? 1 : qn_utf8_decode(s, n, &cp);
}

size_t qn_ttext_len(const char *s, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += ((unsigned char)s[i] & 0xc0) != 0x80;
    return count;
}

size_t qn_ttext_offset(const char *s, size_t n, size_t index)
{
    size_t at = 0;
    while (index-- > 0 && at < n)
        at += qn_ttext_char(s + at, n - at);
    return at;
}

size_t qn_ttext_last(const char *s, size_t n)
{
    size_t used = 1;
    while (used < n && used < 4 && ((unsigned char)s[n - used] & 0xc0) == 0x80)
        used++;
    return qn_ttext_char(s + n - used, used) == used ? used : 1;
}

static uint32_t decode(const char *s, size_t n)
{
    uint32_t cp = (unsigned char)*s;
    if (cp >= 128)
        qn_utf8_decode(s, n, &cp);
    return cp;
}

static bool in_set(const char *s, size_t n, const struct qn_tval *set)
{
    if (!set)
        return qn_tchar_space(decode(s, n));
    for (size_t at = 0; at < set->n;) {
        size_t used = qn_ttext_char(set->s + at, set->n - at);
        if (used == n && memcmp(set->s + at, s, n) == 0)
            return true;
        at += used;
    }
    return false;
}

struct qn_tval qn_ttext_strip(const struct qn_tval *v, const struct qn_tval *set, bool left,
                              bool right)
{
    const char *s = v->s;
    size_t n = v->n, used;
    for (; left && n > 0; s += used, n -= used) {
        used = qn_ttext_char(s, n);
        if (!in_set(s, used, set))
            break;
    }
    for (; right && n > 0; n -= used) {
        used = qn_ttext_last(s, n);
        if (!in_set(s + n - used, used, set))
            break;
    }
    struct qn_tval out = *v;
    out.s = s;
    out.n = n;
    return out;
}

size_t qn_ttext_skip(const char *s, size_t n)
{
    struct qn_tval v = qn_tval_string(s, n);
    return n - qn_ttext_strip(&v, NULL, true, false).n;
}

size_t qn_ttext_rtrim(const char *s, size_t n)
{
    struct qn_tval v = qn_tval_string(s, n);
    return qn_ttext_strip(&v, NULL, false, true).n;
}

size_t qn_ttext_find(const char *s, size_t n, const char *needle, size_t m)
{
    if (m == 0)
        return 0;
    const char *found = n >= m ? memmem(s, n, needle, m) : NULL;
    return found ? (size_t)(found - s) : SIZE_MAX;
}

size_t qn_ttext_rfind(const char *s, size_t n, const char *needle, size_t m)
{
    if (m > n)
        return SIZE_MAX;
    for (size_t at = n - m + 1; at-- > 0;)
        if (m == 0 || memcmp(s + at, needle, m) == 0)
            return at;
    return SIZE_MAX;
}

size_t qn_ttext_line_end(const char *s, size_t n)
{
    uint32_t cp = decode(s, n);
    if (cp == '\r')
        return n > 1 && s[1] == '\n' ? 2 : 1;
    if ((cp >= '\n' && cp <= '\f') || (cp >= 0x1c && cp <= 0x1e) || cp == 0x85 || cp == 0x2028 ||
        cp == 0x2029)
        return qn_ttext_char(s, n);
    return 0;
}

enum qn_tflow qn_ttext_put_cp(struct qn_trun *run, uint32_t cp)
{
    char utf8[4];
    return qn_trun_put(run, utf8, qn_utf8_encode(cp, utf8));
}

/* A capital sigma becomes a final sigma when a letter precedes it and none follows. */
static bool final_sigma(const char *s, size_t n, size_t at)
{
    bool before = false, after = false;
    for (size_t i = at; i > 0 && !before;) {
        size_t used = qn_ttext_last(s, i);
        uint32_t cp = decode(s + i - used, used);
        i -= used;
        if (qn_tchar_ignorable(cp))
            continue;
        before = qn_tchar_upper(cp) || qn_tchar_lower(cp) || qn_tchar_title(cp);
        break;
    }
    for (size_t i = at + 2; i < n;) {
        uint32_t cp = decode(s + i, n - i);
        i += qn_ttext_char(s + i, n - i);
        if (qn_tchar_ignorable(cp))
            continue;
        after = qn_tchar_upper(cp) || qn_tchar_lower(cp) || qn_tchar_title(cp);
        break;
    }
    return before && !after;
}

static size_t recase_one(const struct qn_tval *v, size_t at, uint32_t cp, enum qn_ttext_case how,
                         uint32_t out[static QN_TCASE_MAX])
{
    if (how == QN_TEXT_UPPER)
        return qn_tchar_to_upper(cp, out);
    if (how == QN_TEXT_TITLE)
        return qn_tchar_to_title(cp, out);
    if (how == QN_TEXT_FOLD && (cp == 0xdf || cp == 0x1e9e)) {
        out[0] = out[1] = 's';
        return 2;
    }
    if (cp == 0x3a3 && how == QN_TEXT_LOWER && final_sigma(v->s, v->n, at)) {
        out[0] = 0x3c2;
        return 1;
    }
    if (cp == 0x3c2 && how == QN_TEXT_FOLD) {
        out[0] = 0x3c3;
        return 1;
    }
    return qn_tchar_to_lower(cp, out);
}

enum qn_tflow qn_ttext_recase(struct qn_trun *run, const struct qn_tval *v, enum qn_ttext_case how,
                              struct qn_tval *out)
{
    size_t mark = run->out.len, kind = v->kind;
    bool in_word = false, first = true;
    QN_T_TRY(qn_trun_charge(run, v->n));
    for (size_t at = 0; at < v->n;) {
        uint32_t cp = decode(v->s + at, v->n - at), to[QN_TCASE_MAX];
        enum qn_ttext_case one = how;
        if (how == QN_TEXT_CAPITALIZE)
            one = first ? QN_TEXT_TITLE : QN_TEXT_LOWER;
        else if (how == QN_TEXT_TITLE)
            one = in_word ? QN_TEXT_LOWER : QN_TEXT_TITLE;
        else if (how == QN_TEXT_SWAP)
            one = qn_tchar_upper(cp) ? QN_TEXT_LOWER : qn_tchar_lower(cp) ? QN_TEXT_UPPER : how;
        size_t n = 1;
        to[0] = cp;
        if (one != QN_TEXT_SWAP)
            n = recase_one(v, at, cp, one, to);
        for (size_t i = 0; i < n; i++)
            QN_T_TRY(qn_ttext_put_cp(run, to[i]));
        in_word = qn_tchar_upper(cp) || qn_tchar_lower(cp) || qn_tchar_title(cp);
        first = false;
        at += qn_ttext_char(v->s + at, v->n - at);
    }
    QN_T_TRY(qn_trun_take(run, mark, out));
    out->kind = (uint8_t)kind;
    return QN_T_OK;
}

enum qn_tflow qn_ttext_replace(struct qn_trun *run, const struct qn_tval *v,
                               const struct qn_tval *from, const struct qn_tval *to, int64_t max,
                               struct qn_tval *out)
{
    size_t mark = run->out.len, at = 0, kind = v->kind;
    QN_T_TRY(qn_trun_walked(run, v->n / 4));
    for (int64_t done = 0; max < 0 || done < max; done++) {
        size_t found = from->n ? qn_ttext_find(v->s + at, v->n - at, from->s, from->n) : 0;
        if (found == SIZE_MAX)
            break;
        QN_T_TRY(qn_trun_charge(run, 1));
        QN_T_TRY(qn_trun_put(run, v->s + at, found));
        QN_T_TRY(qn_trun_putv(run, to));
        at += found + from->n;
        if (from->n > 0)
            continue;
        if (at >= v->n)
            break;
        size_t used = qn_ttext_char(v->s + at, v->n - at);
        QN_T_TRY(qn_trun_put(run, v->s + at, used));
        at += used;
    }
    QN_T_TRY(qn_trun_put(run, v->s + at, v->n - at));
    QN_T_TRY(qn_trun_take(run, mark, out));
    out->kind = (uint8_t)kind;
    return QN_T_OK;
}

enum qn_tflow qn_ttext_join(struct qn_trun *run, const struct qn_tval *sep,
                            const struct qn_tlist *items, struct qn_tval *out)
{
    size_t mark = run->out.len;
    for (size_t i = 0; i < items->n; i++) {
        if (items->items[i].type != QN_T_STRING)
            return qn_trun_fail(run, "sequence item %zu: expected str instance, %s found", i,
                                qn_tval_class(&items->items[i]));
        if (i > 0)
            QN_T_TRY(qn_trun_putv(run, sep));
        QN_T_TRY(qn_trun_putv(run, &items->items[i]));
    }
    return qn_trun_take(run, mark, out);
}

enum qn_tflow qn_ttext_reverse(struct qn_trun *run, const struct qn_tval *v, struct qn_tval *out)
{
    size_t mark = run->out.len;
    QN_T_TRY(qn_trun_walked(run, v->n));
    for (size_t n = v->n; n > 0;) {
        size_t used = qn_ttext_last(v->s, n);
        n -= used;
        QN_T_TRY(qn_trun_put(run, v->s + n, used));
    }
    return qn_trun_take(run, mark, out);
}

enum qn_tflow qn_ttext_put_padded(struct qn_trun *run, const char *s, size_t n, const char *fill,
                                  size_t fill_n, int64_t width, char how)
{
    int64_t missing = width - (int64_t)qn_ttext_len(s, n);
    size_t pad = missing > 0 ? (size_t)missing : 0;
    size_t left = how == '<' ? 0 : how == '>' ? pad : pad / 2;
    QN_T_TRY(qn_trun_fill(run, fill, fill_n, left));
    QN_T_TRY(qn_trun_put(run, s, n));
    return qn_trun_fill(run, fill, fill_n, pad - left);
}

enum qn_tflow qn_ttext_put_centered(struct qn_trun *run, const char *s, size_t n, const char *fill,
                                    size_t fill_n, int64_t width)
{
    int64_t missing = width - (int64_t)qn_ttext_len(s, n);
    size_t pad = missing > 0 ? (size_t)missing : 0;
    size_t left = pad / 2 + (pad & (size_t)width & 1);
    QN_T_TRY(qn_trun_fill(run, fill, fill_n, left));
    QN_T_TRY(qn_trun_put(run, s, n));
    return qn_trun_fill(run, fill, fill_n, pad - left);
}
