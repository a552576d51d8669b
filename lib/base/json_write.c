/* Writing JSON directly into a buffer, see json.h. */
#include "base/address.h"
#include "base/json.h"
#include "base/str.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct qn_jw qn_jw_to(struct qn_buf *out)
{
    return (struct qn_jw){.out = out};
}

static void before_value(struct qn_jw *w)
{
    if (w->comma)
        qn_buf_char(w->out, ',');
    w->comma = true;
}

static void open_container(struct qn_jw *w, char c)
{
    before_value(w);
    /* Twice the depth of a parsed document, because a parsed value is often wrapped in objects. */
    assert(w->depth < QN_JSON_DEPTH_MAX * 2);
    w->depth++;
    qn_buf_char(w->out, c);
    w->comma = false;
}

static void close_container(struct qn_jw *w, char c)
{
    assert(w->depth > 0);
    w->depth--;
    qn_buf_char(w->out, c);
    w->comma = true;
}

void qn_jw_obj(struct qn_jw *w)
{
    open_container(w, '{');
}

void qn_jw_obj_end(struct qn_jw *w)
{
    close_container(w, '}');
}

void qn_jw_arr(struct qn_jw *w)
{
    open_container(w, '[');
}

void qn_jw_arr_end(struct qn_jw *w)
{
    close_container(w, ']');
}

static void write_escaped(struct qn_buf *out, const char *s, size_t n)
{
    qn_buf_char(out, '"');
    size_t plain = 0; /* start of the bytes that are copied unchanged */
    for (size_t i = 0; i < n;) {
        unsigned char c = (unsigned char)s[i];
        size_t step = 1;
        char esc[8];
        const char *put = NULL;
        if (c == '"' || c == '\\') {
            snprintf(esc, sizeof esc, "\\%c", c);
            put = esc;
        } else if (c == '\n') {
            put = "\\n";
        } else if (c == '\r') {
            put = "\\r";
        } else if (c == '\t') {
            put = "\\t";
        } else if (c < 0x20 || c == 0x7F) {
            snprintf(esc, sizeof esc, "\\u%04x", c);
            put = esc;
        } else if (c >= 0x80) {
            uint32_t cp;
            step = qn_utf8_decode(s + i, n - i, &cp);
            if (step == 1)
                put = "\xEF\xBF\xBD";
        }
        if (put) {
            qn_buf_add(out, s + plain, i - plain);
            qn_buf_str(out, put);
            plain = i + step;
        }
        i += step;
    }
    qn_buf_add(out, s + plain, n - plain);
    qn_buf_char(out, '"');
}

void qn_jw_key(struct qn_jw *w, const char *key)
{
    before_value(w);
    write_escaped(w->out, key, strlen(key));
    qn_buf_char(w->out, ':');
    w->comma = false;
}

void qn_jw_strn(struct qn_jw *w, const char *s, size_t n)
{
    before_value(w);
    write_escaped(w->out, s, n);
}

void qn_jw_str(struct qn_jw *w, const char *s)
{
    if (s)
        qn_jw_strn(w, s, strlen(s));
    else
        qn_jw_null(w);
}

void qn_jw_i64(struct qn_jw *w, int64_t v)
{
    char digits[20]; /* enough for INT64_MIN. Digits are written without printf, which is too slow
                        here: every streamed token has a few numbers */
    size_t at = sizeof digits;
    uint64_t left = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    do
        digits[--at] = (char)('0' + left % 10);
    while (left /= 10);
    if (v < 0)
        digits[--at] = '-';
    before_value(w);
    qn_buf_add(w->out, digits + at, sizeof digits - at);
}

void qn_jw_f64(struct qn_jw *w, double v)
{
    if (!isfinite(v)) {
        qn_jw_null(w);
        return;
    }
    before_value(w);
    char text[32];
    if (v == floor(v) && fabs(v) < 0x1p53) {
        snprintf(text, sizeof text, "%.0f", v);
    } else {
        for (int digits = 15; digits <= 17; digits++) {
            snprintf(text, sizeof text, "%.*g", digits, v);
            if (strtod(text, NULL) == v)
                break;
        }
    }
    qn_buf_str(w->out, text);
}

/* Powers of ten that a double holds exactly. */
static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                              1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                              1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

enum {
    F32_DIGITS = 9,       /* distinguish every float from its neighbours */
    F32_SHORT_DIGITS = 7, /* enough for a float that came from a short decimal */
    F32_LEAST_TEN = -13,  /* from 1e-13 to 1e21 the powers above are sufficient */
    F32_MOST_TEN = 20,
    F32_PLAIN_LEAST = -5, /* decimal exponents that are written without "e" */
    F32_PLAIN_MOST = 14
};

/* Approximates x, whose decimal exponent is `ten`, by m·10^(ten - digits + 1), where m is a whole
 * number of `digits` digits. Returns m; *off: the absolute difference from x. */
static uint64_t scale(double x, int ten, int digits, double *off)
{
    int by = digits - 1 - ten;
    double scaled = by >= 0 ? x * tens[by] : x / tens[-by];
    uint64_t whole = (uint64_t)(scaled + 0.5);
    *off = fabs((double)whole - scaled) / scaled * x;
    return whole;
}

/* Writes the digits of m, the first of which has the value 10^ten; returns the length. */
static size_t put_decimal(uint64_t m, int ten, char out[static 48])
{
    char digits[20];
    size_t n = 0, len = 0;
    while (m % 10 == 0)
        m /= 10;
    for (uint64_t left = m; left; left /= 10)
        n++;
    for (size_t i = n; i > 0; i--, m /= 10)
        digits[i - 1] = (char)('0' + m % 10);
    bool plain = ten >= F32_PLAIN_LEAST && ten <= F32_PLAIN_MOST;
    int point = plain ? ten : 0; /* index of the digit before the decimal point */
    if (point < 0) {
        out[len++] = '0';
        out[len++] = '.';
        for (int i = -1; i > point; i--)
            out[len++] = '0';
    }
    for (size_t i = 0; i < n; i++) {
        if (point >= 0 && i == (size_t)point + 1)
            out[len++] = '.';
        out[len++] = digits[i];
    }
    for (int i = (int)n; i <= point; i++)
        out[len++] = '0';
    if (!plain)
        len += (size_t)snprintf(out + len, 8, "e%d", ten);
    return len;
}

/* A decimal number is parsed to the float x if it is closer to x than half the distance between x
 * and its neighbouring floats; the neighbour below a power of two is at half that distance. Nine
 * digits are always close enough. */
static size_t put_float(double x, char out[static 48])
{
    int two = ilogb(x), ten = (int)floor(two * 0.30102999566398120);
    if (ten < F32_LEAST_TEN || ten > F32_MOST_TEN)
        return (size_t)snprintf(out, 48, "%.*g", F32_DIGITS, x);
    double edge = ten + 1 >= 0 ? tens[ten + 1] : 1 / tens[-ten - 1];
    double power = scalbn(1, two), near = 0.98 * power * (x > power ? 0x1p-24 : 0x1p-25), off;
    if (x >= edge)
        ten++;
    int digits = F32_SHORT_DIGITS;
    uint64_t m = scale(x, ten, digits, &off);
    if (off > near)
        m = scale(x, ten, digits = F32_DIGITS, &off);
    uint64_t least = (uint64_t)tens[digits - 1];
    ten += m >= least * 10 ? 1 : m < least ? -1 : 0;
    return put_decimal(m, ten, out);
}

void qn_jw_f32(struct qn_jw *w, float v)
{
    char text[64] = "-";
    bool negative = signbit(v);
    if (!isfinite(v)) {
        qn_jw_null(w);
    } else if (v == 0) {
        qn_jw_raw(w, negative ? "-0.0" : "0", negative ? 4 : 1);
    } else if (v == floorf(v) && fabsf(v) < 0x1p24f) {
        qn_jw_i64(w, (int64_t)v);
    } else {
        size_t n = put_float(fabs((double)v), text + negative);
        before_value(w);
        qn_buf_add(w->out, text, n + negative);
    }
}

void qn_jw_bool(struct qn_jw *w, bool v)
{
    before_value(w);
    qn_buf_str(w->out, v ? "true" : "false");
}

void qn_jw_null(struct qn_jw *w)
{
    before_value(w);
    qn_buf_str(w->out, "null");
}

void qn_jw_raw(struct qn_jw *w, const char *json, size_t n)
{
    before_value(w);
    qn_buf_add(w->out, json, n);
}

void qn_jw_kstr(struct qn_jw *w, const char *key, const char *s)
{
    qn_jw_key(w, key);
    qn_jw_str(w, s);
}

void qn_jw_ksource(struct qn_jw *w, const char *key, const char *s)
{
    char *shown = s ? qn_xstrdup(s) : NULL;
    if (shown)
        qn_address_strip(shown);
    qn_jw_kstr(w, key, shown);
    free(shown);
}

void qn_jw_ksources(struct qn_jw *w, const char *key, const char *json)
{
    struct qn_json *doc;
    struct qn_jref it;
    qn_jw_key(w, key);
    qn_jw_obj(w);
    if (qn_json_parse(json, strlen(json), &doc, NULL) == QN_OK) {
        struct qn_jref root = qn_json_root(doc);
        for (bool more = qn_json_first(&root, &it); more; more = qn_json_next(&it))
            qn_jw_ksource(w, it.key, qn_json_raw_str(&it));
        qn_json_free(doc);
    }
    qn_jw_obj_end(w);
}

void qn_jw_ki64(struct qn_jw *w, const char *key, int64_t v)
{
    qn_jw_key(w, key);
    qn_jw_i64(w, v);
}

void qn_jw_kf64(struct qn_jw *w, const char *key, double v)
{
    qn_jw_key(w, key);
    qn_jw_f64(w, v);
}

void qn_jw_kbool(struct qn_jw *w, const char *key, bool v)
{
    qn_jw_key(w, key);
    qn_jw_bool(w, v);
}

void qn_jw_knull(struct qn_jw *w, const char *key)
{
    qn_jw_key(w, key);
    qn_jw_null(w);
}

void qn_jw_kitems(struct qn_jw *w, const char *key, struct qn_buf *items)
{
    qn_jw_key(w, key);
    qn_jw_arr(w);
    qn_jw_raw(w, qn_buf_cstr(items), items->len);
    qn_jw_arr_end(w);
}
