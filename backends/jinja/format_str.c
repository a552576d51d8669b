/* See format.h: str.format(). */
#include "jinja/format.h"

#include "jinja/eval.h"
#include "jinja/number.h"
#include "jinja/print.h"
#include "jinja/text.h"

/* A specification may contain fields; the specifications of those fields may not. */
enum { FIELDS_WITHIN = 2 };

struct formatter {
    struct qn_trun *run;
    const struct qn_targs *args;
    int64_t automatic; /* number of automatically numbered fields so far; negative: the format
                          numbers its fields */
    bool escape;
};

static enum qn_tflow put_format(struct formatter *f, const char *s, size_t n, int depth);

static bool all_digits(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (s[i] < '0' || s[i] > '9')
            return false;
    return n > 0;
}

static enum qn_tflow first_value(struct formatter *f, const char *s, size_t n, struct qn_tval *out)
{
    struct qn_tval index = qn_tval_int(0), *found = NULL, key = qn_tval_string(s, n);
    bool ok = true;
    if (n == 0) {
        if (f->automatic < 0)
            return qn_trun_fail(
                f->run,
                "cannot switch from manual field specification to automatic field numbering");
        index = qn_tval_int(f->automatic++);
    } else if (all_digits(s, n)) {
        if (f->automatic > 0)
            return qn_trun_fail(
                f->run,
                "cannot switch from automatic field numbering to manual field specification");
        f->automatic = -1;
        QN_T_TRY(qn_tval_parse_int(f->run, s, n, 10, &ok, &index));
    } else {
        if (f->args->named)
            QN_T_TRY(qn_tdict_find(f->run, f->args->named, &key, &found));
        if (!found)
            return qn_trun_fail(f->run, "'%.*s'", (int)(n & 0xff), s);
        *out = *found;
        return QN_T_OK;
    }
    if (index.type != QN_T_INT || (uint64_t)index.i >= f->args->n)
        return qn_trun_fail(f->run, "Replacement index out of range for positional args tuple");
    *out = f->args->v[index.i];
    return QN_T_OK;
}

/* Evaluates name.member[key]... */
static enum qn_tflow field_value(struct formatter *f, const char *s, size_t n, struct qn_tval *out)
{
    size_t at = 0;
    bool ok = true;
    while (at < n && s[at] != '.' && s[at] != '[')
        at++;
    QN_T_TRY(first_value(f, s, at, out));
    while (at < n) {
        bool member = s[at] == '.';
        size_t start = ++at;
        struct qn_tval object = *out;
        while (at < n && (member ? s[at] != '.' && s[at] != '[' : s[at] != ']'))
            at++;
        struct qn_tval key = qn_tval_string(s + start, at - start);
        if (key.n == 0 || (!member && at == n))
            return qn_trun_fail(f->run, "Empty attribute in format string");
        if (!member && all_digits(key.s, key.n))
            QN_T_TRY(qn_tval_parse_int(f->run, key.s, key.n, 10, &ok, &key));
        QN_T_TRY(member ? qn_tmember_get(f->run, &object, &key, out)
                        : qn_titem_get(f->run, &object, &key, out));
        at += !member;
        if (!member && at < n && s[at] != '.' && s[at] != '[')
            return qn_trun_fail(f->run, "Only '.' or '[' may follow ']' in format field specifier");
    }
    return QN_T_OK;
}

static enum qn_tflow put_field(struct formatter *f, const char *s, size_t n, int depth)
{
    size_t name = 0, mark = f->run->out.len;
    struct qn_tval v, spec = qn_tval_cstr("");
    int brackets = 0;
    char conversion = '\0';
    for (; name < n && (brackets || (s[name] != '!' && s[name] != ':')); name++)
        brackets = s[name] == '[' ? 1 : s[name] == ']' ? 0 : brackets;
    QN_T_TRY(field_value(f, s, name, &v));
    size_t at = name;
    if (at < n && s[at] == '!') {
        if (at + 1 >= n || (at + 2 < n && s[at + 2] != ':'))
            return qn_trun_fail(f->run, "expected ':' after conversion specifier");
        conversion = s[at + 1];
        at += 2;
    }
    if (at < n) {
        QN_T_TRY(put_format(f, s + at + 1, n - at - 1, depth + 1));
        QN_T_TRY(qn_trun_take(f->run, mark, &spec));
    }
    if (conversion == 's')
        QN_T_TRY(qn_tval_str(f->run, &v, &v));
    else if (conversion == 'r' || conversion == 'a')
        QN_T_TRY(qn_tval_repr(f->run, &v, &v));
    else if (conversion)
        return qn_trun_fail(f->run, "Unknown conversion specifier '%c'", conversion);
    if (!f->escape)
        return qn_tformat_value(f->run, &v, spec.s, spec.n);
    bool markup = v.type == QN_T_STRING && v.kind == QN_T_MARKUP;
    QN_T_TRY(qn_tformat_value(f->run, &v, spec.s, spec.n));
    QN_T_TRY(qn_trun_take(f->run, mark, &v));
    v.kind = markup ? QN_T_MARKUP : QN_T_PLAIN;
    QN_T_TRY(qn_tval_escape(f->run, &v, &v));
    return qn_trun_putv(f->run, &v);
}

/* Offset of the bracket that closes the field beginning at `at`. */
static size_t field_end(const char *s, size_t n, size_t at)
{
    int open = 1;
    for (; at < n; at++) {
        open += s[at] == '{' ? 1 : s[at] == '}' ? -1 : 0;
        if (open == 0)
            break;
    }
    return at;
}

static enum qn_tflow put_format(struct formatter *f, const char *s, size_t n, int depth)
{
    if (depth >= FIELDS_WITHIN)
        return n && (memchr(s, '{', n) || memchr(s, '}', n))
                   ? qn_trun_fail(f->run, "Max string recursion exceeded")
                   : qn_trun_put(f->run, s, n);
    for (size_t at = 0; at < n;) {
        size_t start = at;
        while (at < n && s[at] != '{' && s[at] != '}')
            at++;
        QN_T_TRY(qn_trun_put(f->run, s + start, at - start));
        if (at == n)
            break;
        if (at + 1 < n && s[at + 1] == s[at]) {
            QN_T_TRY(qn_trun_put(f->run, s + at, 1));
            at += 2;
            continue;
        }
        if (s[at] == '}')
            return qn_trun_fail(f->run, "Single '}' encountered in format string");
        size_t end = field_end(s, n, at + 1);
        if (end == n)
            return qn_trun_fail(f->run, at + 1 == n ? "Single '{' encountered in format string"
                                                    : "expected '}' before end of string");
        QN_T_TRY(qn_trun_charge(f->run, 2));
        QN_T_TRY(put_field(f, s + at + 1, end - at - 1, depth));
        at = end + 1;
    }
    return QN_T_OK;
}

enum qn_tflow qn_tformat_str(struct qn_trun *run, const struct qn_tval *format,
                             const struct qn_targs *args, struct qn_tval *out)
{
    struct formatter f = {.run = run, .args = args, .escape = format->kind == QN_T_MARKUP};
    size_t mark = run->out.len;
    QN_T_TRY(qn_trun_walked(run, format->n));
    QN_T_TRY(put_format(&f, format->s, format->n, 0));
    QN_T_TRY(qn_trun_take(run, mark, out));
    out->kind = format->kind;
    return QN_T_OK;
}
