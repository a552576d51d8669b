/* Writing JSON straight into a buffer, see json.h. */
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
    /* One level more than a document may have: a parsed value is often wrapped in an object. */
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
    size_t plain = 0; /* start of the bytes that need no change */
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
    char digits[20]; /* of INT64_MIN with its sign: every token of a stream has a few numbers */
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
