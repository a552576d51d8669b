/* See keep_alive.h. */
#include "dialects/shared/keep_alive.h"

#include "base/str.h"

#include <math.h>
#include <string.h>

/* A hundred years count as no limit and are far from overflow. */
static const double MS_MAX = 100.0 * 366 * 24 * 3600 * 1000;

enum { NUMBER_MAX = 32 };

static const struct {
    const char *name;
    double ms;
} units[] = {
    /* longer names precede their prefixes */
    {"ms", 1},     {"us", 1e-3}, {"\xc2\xb5s", 1e-3}, {"ns", 1e-6},
    {"h", 3600e3}, {"m", 60e3},  {"s", 1e3},
};

/* Parses "1h30m": numbers with units. */
static bool read_duration(const char *s, double *ms)
{
    double sum = 0, sign = *s == '-' ? -1 : 1;
    s += *s == '-' || *s == '+';
    if (!*s)
        return false;
    while (*s) {
        char number[NUMBER_MAX];
        size_t n = strspn(s, "0123456789."), u = 0;
        double v;
        if (n == 0 || n >= sizeof number)
            return false;
        memcpy(number, s, n);
        number[n] = '\0';
        s += n;
        while (u < sizeof units / sizeof *units && !qn_str_starts(s, units[u].name))
            u++;
        if (u == sizeof units / sizeof *units || !qn_parse_f64(number, &v))
            return false;
        sum += v * units[u].ms;
        s += strlen(units[u].name);
    }
    *ms = sign * sum;
    return true;
}

qn_err qn_keep_alive_read(const struct qn_jref *v, int64_t *ms, struct qn_error *e)
{
    double t = 0;
    if (qn_json_type(v) <= QN_JSON_NULL)
        return QN_OK;
    if (qn_json_type(v) == QN_JSON_STRING) {
        const char *text = qn_json_raw_str(v);
        if (qn_parse_f64(text, &t))
            t *= 1000;
        else if (!read_duration(text, &t))
            return qn_json_fail(
                v, e, "'%.40s' is not a duration: give seconds, or text like \"5m\"", text);
    } else if (qn_json_type(v) == QN_JSON_NUMBER) {
        t = qn_json_raw_f64(v) * 1000;
    } else {
        return qn_json_fail(v, e, "expected a number of seconds or a text like \"5m\"");
    }
    /* rounded up, so that less than a millisecond is not 0 */
    *ms = t < 0 ? -1 : (int64_t)ceil(t > MS_MAX ? MS_MAX : t);
    return QN_OK;
}

qn_err qn_keep_alive_of(const struct qn_jref *request, int64_t *ms, struct qn_error *e)
{
    struct qn_jref ttl = qn_json_get(request, "ttl"), keep = qn_json_get(request, "keep_alive");
    qn_err err = qn_keep_alive_read(&ttl, ms, e);
    return err ? err : qn_keep_alive_read(&keep, ms, e);
}
