/* Links in a text; see html.h. */
#include "base/str.h"
#include "jinja/html.h"
#include "jinja/print.h"
#include "jinja/run.h"
#include "jinja/text.h"
#include "jinja/unicode.h"

#include <ctype.h>

struct word {
    const char *s;
    size_t n;
};

static bool starts(const char *s, size_t n, const char *prefix, bool any_case)
{
    size_t m = strlen(prefix);
    return n >= m && (any_case ? strncasecmp(s, prefix, m) : strncmp(s, prefix, m)) == 0;
}

static bool ends(const char *s, size_t n, const char *suffix)
{
    size_t m = strlen(suffix);
    return n >= m && memcmp(s + n - m, suffix, m) == 0;
}

/* Length of a run of host name characters: letters, digits, underscore and the given signs. */
static size_t label(const char *s, size_t n, const char *signs)
{
    size_t at = 0;
    while (at < n) {
        uint32_t cp;
        size_t used = qn_utf8_decode(s + at, n - at, &cp);
        if (!qn_tchar_word(cp) && !(cp && cp < 128 && strchr(signs, (int)cp)))
            break;
        at += used;
    }
    return at;
}

/* Whether the text is valid after a host: a port, then a path. */
static bool tail_ok(const char *s, size_t n)
{
    if (n > 1 && *s == ':' && isdigit((unsigned char)s[1])) {
        size_t at = 1;
        while (at < n && at < 6 && isdigit((unsigned char)s[at]))
            at++;
        s += at;
        n -= at;
    }
    return n == 0 || *s == '/' || *s == '?' || *s == '#';
}

static bool letters_only(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isalpha((unsigned char)s[i]))
            return false;
    return true;
}

/* Whether a label can be a top-level domain in an address that begins with a scheme or www. */
static bool top_level(const char *s, size_t n)
{
    if (starts(s, n, "xn--", true) && n >= 6 && n <= 63)
        return label(s + 4, n - 4, "%") == n - 4;
    return n >= 2 && n <= 63 && letters_only(s, n);
}

static bool known_domain(const char *s, size_t n)
{
    static const char *const known[] = {"com", "net", "int", "edu", "gov", "org", "info", "mil"};
    for (size_t i = 0; i < 8; i++)
        if (n == strlen(known[i]) && strncasecmp(s, known[i], n) == 0)
            return true;
    return false;
}

/* Whether s is a host: labels, then a last label that `last` accepts, then an end of the host. */
static bool host_ok(const char *s, size_t n, bool (*last)(const char *, size_t), size_t least,
                    bool needs_dot)
{
    size_t dots = 0;
    while (n > 0) {
        size_t len = label(s, n, "%-");
        if (last(s, len) && tail_ok(s + len, n - len) && (!needs_dot || dots > 0))
            return true;
        if (len < least || len > 63 || len >= n || s[len] != '.')
            return false;
        s += len + 1;
        n -= len + 1;
        dots++;
    }
    return false;
}

static bool ipv4(const char *s, size_t n)
{
    for (int part = 0; part < 4; part++) {
        size_t digits = 0;
        while (digits < n && digits < 3 && isdigit((unsigned char)s[digits]))
            digits++;
        if (digits == 0)
            return false;
        s += digits;
        n -= digits;
        if (part < 3 && (n == 0 || *s != '.'))
            return false;
        if (part < 3)
            s++, n--;
    }
    return tail_ok(s, n);
}

static bool is_address(const char *s, size_t n)
{
    size_t scheme = starts(s, n, "https://", true) ? 8 : starts(s, n, "http://", true) ? 7 : 0;
    size_t www = starts(s, n, "www.", true) ? 4 : 0;
    if ((scheme || www) && host_ok(s + scheme + www, n - scheme - www, top_level, 1, false))
        return true;
    if (scheme && ipv4(s + scheme, n - scheme))
        return true;
    return host_ok(s, n, known_domain, 2, true);
}

static bool is_mail(const char *s, size_t n)
{
    size_t at = qn_ttext_rfind(s, n, "@", 1);
    if (at == SIZE_MAX || at == 0 || at + 1 >= n)
        return false;
    size_t dot = qn_ttext_rfind(s + at + 1, n - at - 1, ".", 1);
    size_t rest = n - at - 1;
    return dot != SIZE_MAX && dot > 0 && dot + 1 < rest && label(s + at + 1, rest, ".-") == rest &&
           label(s + at + 1 + dot + 1, rest - dot - 1, "") == rest - dot - 1 &&
           label(s + at + 1, 1, "") > 0;
}

/* Length of a punctuation mark or bracket before or after an address that does not belong to it. */
static size_t mark_before(const char *s, size_t n)
{
    return starts(s, n, "(", false) || starts(s, n, "<", false) ? 1
           : starts(s, n, "&lt;", false)                        ? 4
                                                                : 0;
}

static size_t mark_behind(const char *s, size_t n)
{
    if (ends(s, n, "&gt;"))
        return 4;
    return n > 0 && strchr(")>.,\n", s[n - 1]) && s[n - 1] ? 1 : 0;
}

static size_t count_of(struct word w, const char *what)
{
    size_t count = 0, m = strlen(what), found;
    while ((found = qn_ttext_find(w.s, w.n, what, m)) != SIZE_MAX) {
        count++;
        w.s += found + m;
        w.n -= found + m;
    }
    return count;
}

/* A closing bracket belongs to the address when the address contains its opening bracket. */
static void balance(struct word *middle, struct word *tail, const char *open, const char *close)
{
    size_t opened = count_of(*middle, open);
    if (opened <= count_of(*middle, close))
        return;
    for (size_t i = 0, most = count_of(*tail, close); i < opened && i < most; i++) {
        size_t taken = qn_ttext_find(tail->s, tail->n, close, strlen(close)) + strlen(close);
        middle->n += taken;
        tail->s += taken;
        tail->n -= taken;
    }
}

static enum qn_tflow put_link(struct qn_trun *run, const char *prefix, struct word w,
                              struct word shown, const struct qn_thtml_links *how, bool attributes)
{
    QN_T_TRY(qn_trun_puts(run, "<a href=\""));
    QN_T_TRY(qn_trun_puts(run, prefix));
    QN_T_TRY(qn_trun_put(run, w.s, w.n));
    QN_T_TRY(qn_trun_puts(run, "\""));
    if (attributes && how->rel.n > 0) {
        QN_T_TRY(qn_trun_puts(run, " rel=\""));
        QN_T_TRY(qn_tval_put_escaped(run, how->rel.s, how->rel.n));
        QN_T_TRY(qn_trun_puts(run, "\""));
    }
    if (attributes && how->target.n > 0) {
        QN_T_TRY(qn_trun_puts(run, " target=\""));
        QN_T_TRY(qn_tval_put_escaped(run, how->target.s, how->target.n));
        QN_T_TRY(qn_trun_puts(run, "\""));
    }
    QN_T_TRY(qn_trun_puts(run, ">"));
    QN_T_TRY(qn_trun_put(run, shown.s, shown.n));
    if (shown.n < w.n && shown.s == w.s)
        QN_T_TRY(qn_trun_puts(run, "..."));
    return qn_trun_puts(run, "</a>");
}

static enum qn_tflow put_middle(struct qn_trun *run, struct word w,
                                const struct qn_thtml_links *how)
{
    struct word shown = w, mail = {.s = w.s + 7, .n = w.n - 7};
    if (how->limit >= 0)
        shown.n = qn_ttext_offset(w.s, w.n, (size_t)how->limit);
    bool http = starts(w.s, w.n, "https://", false) || starts(w.s, w.n, "http://", false);
    if (is_address(w.s, w.n))
        return put_link(run, http ? "" : "https://", w, shown, how, true);
    if (starts(w.s, w.n, "mailto:", false) && is_mail(mail.s, mail.n))
        return put_link(run, "", w, mail, how, false);
    if (w.n && !starts(w.s, w.n, "www.", false) && !memchr(w.s, ':', w.n) && is_mail(w.s, w.n))
        return put_link(run, "mailto:", w, w, how, false);
    for (size_t i = 0; how->schemes && i < how->schemes->n; i++) {
        const struct qn_tval *scheme = &how->schemes->items[i];
        if (w.n > scheme->n && memcmp(w.s, scheme->s, scheme->n) == 0)
            return put_link(run, "", w, w, how, true);
    }
    return qn_trun_put(run, w.s, w.n);
}

static enum qn_tflow put_word(struct qn_trun *run, struct word w, const struct qn_thtml_links *how)
{
    struct word middle = w, tail;
    size_t n;
    while ((n = mark_before(middle.s, middle.n)) > 0) {
        middle.s += n;
        middle.n -= n;
    }
    QN_T_TRY(qn_trun_put(run, w.s, (size_t)(middle.s - w.s)));
    tail = (struct word){.s = middle.s + middle.n};
    while ((n = mark_behind(middle.s, middle.n)) > 0) {
        middle.n -= n;
        tail.s -= n;
        tail.n += n;
    }
    balance(&middle, &tail, "(", ")");
    balance(&middle, &tail, "<", ">");
    balance(&middle, &tail, "&lt;", "&gt;");
    QN_T_TRY(put_middle(run, middle, how));
    return qn_trun_put(run, tail.s, tail.n);
}

enum qn_tflow qn_thtml_urlize(struct qn_trun *run, const struct qn_tval *text,
                              const struct qn_thtml_links *how, struct qn_tval *out)
{
    struct qn_tval v;
    size_t mark = run->out.len;
    QN_T_TRY(qn_tval_escape(run, text, &v));
    QN_T_TRY(qn_trun_walked(run, v.n * 16));
    for (size_t at = 0; at < v.n;) {
        size_t space = qn_ttext_skip(v.s + at, v.n - at), end = at + space;
        QN_T_TRY(qn_trun_put(run, v.s + at, space));
        while (end < v.n && !qn_ttext_skip(v.s + end, qn_ttext_char(v.s + end, v.n - end)))
            end += qn_ttext_char(v.s + end, v.n - end);
        struct word w = {.s = v.s + at + space, .n = end - at - space};
        QN_T_TRY(put_word(run, w, how));
        at = end;
    }
    return qn_trun_take(run, mark, out);
}
