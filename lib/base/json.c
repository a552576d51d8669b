/* Reading JSON, see json.h. The tree is cJSON's; no other file uses cJSON. */
#include "base/json.h"

#include "base/str.h"

#include <assert.h>
#include <cjson/cJSON.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct qn_json {
    cJSON *tree;
};

enum { ZERO_LEN = 6 }; /* bytes of \u0000 */

static bool is_zero(const char *s, size_t n)
{
    return n >= ZERO_LEN && memcmp(s, "\\u0000", ZERO_LEN) == 0;
}

/* Checks what cJSON does not: nesting, UTF-8. *zeros: the number of \u0000 escapes, which would end
 * a C string early. */
static qn_err check_text(const char *s, size_t n, size_t *zeros, struct qn_error *e)
{
    if (!qn_utf8_valid(s, n))
        return qn_fail(e, QN_EFORMAT, "JSON text is not valid UTF-8");
    /* One value per comma and opening bracket, plus one; empty lists and objects count too much. */
    int depth = 0, values = 1;
    bool in_string = false;
    for (size_t i = 0; i < n; i++) {
        char c = s[i];
        if (c == '\0')
            return qn_fail(e, QN_EFORMAT, "JSON text holds a zero byte at offset %zu", i);
        if (in_string) {
            if (c == '"')
                in_string = false;
            else if (c == '\\') {
                *zeros += is_zero(s + i, n - i);
                i++;
            }
        } else if (c == '"') {
            in_string = true;
        } else if (c == ',') {
            values++;
        } else if (c == '[' || c == '{') {
            values++;
            if (++depth > QN_JSON_DEPTH_MAX)
                return qn_fail(e, QN_ELIMIT, "JSON is nested deeper than %d levels",
                               QN_JSON_DEPTH_MAX);
        } else if (c == ']' || c == '}') {
            depth--;
        }
        if (values > QN_JSON_VALUES_MAX)
            return qn_fail(e, QN_ELIMIT, "JSON holds more than %d values", QN_JSON_VALUES_MAX);
    }
    return QN_OK;
}

/* A copy in which \uFFFD replaces \u0000: it has as many bytes, so offsets do not change. */
static char *without_zeros(const char *text, size_t n)
{
    char *copy = qn_xmalloc(n);
    memcpy(copy, text, n);
    for (size_t i = 0; i < n; i++) {
        if (copy[i] != '\\')
            continue; /* no backslashes outside strings */
        if (is_zero(copy + i, n - i))
            memcpy(copy + i, "\\ufffd", ZERO_LEN);
        i++;
    }
    return copy;
}

static size_t skip_space(const char *s, size_t i, size_t n)
{
    while (i < n && (s[i] == ' ' || s[i] == '\t' || s[i] == '\n' || s[i] == '\r'))
        i++;
    return i;
}

qn_err qn_json_parse(const char *text, size_t n, struct qn_json **out, struct qn_error *e)
{
    if (skip_space(text, 0, n) == n)
        return qn_fail(e, QN_EFORMAT, "JSON text is empty");
    size_t zeros = 0;
    qn_err err = check_text(text, n, &zeros, e);
    if (err)
        return err;
    const char *end = NULL;
    char *copy = zeros ? without_zeros(text, n) : NULL;
    const char *clean = copy ? copy : text;
    cJSON *tree = cJSON_ParseWithLengthOpts(clean, n, &end, 0);
    size_t at = end ? (size_t)(end - clean) : 0;
    free(copy);
    if (!tree)
        return qn_fail(e, QN_EFORMAT, "invalid JSON at offset %zu", at);
    at = skip_space(text, at, n);
    if (at != n) {
        cJSON_Delete(tree);
        return qn_fail(e, QN_EFORMAT, "text after the JSON value at offset %zu", at);
    }
    *out = qn_xmalloc(sizeof **out);
    (*out)->tree = tree;
    return QN_OK;
}

void qn_json_free(struct qn_json *doc)
{
    if (!doc)
        return;
    cJSON_Delete(doc->tree);
    free(doc);
}

static const cJSON *node_of(const struct qn_jref *r)
{
    return r->node;
}

struct qn_jref qn_json_root(const struct qn_json *doc)
{
    return (struct qn_jref){.node = doc->tree};
}

struct qn_jref qn_json_get(const struct qn_jref *object, const char *key)
{
    struct qn_jref r = {.up = object, .key = key};
    const cJSON *o = node_of(object);
    if (cJSON_IsObject(o))
        for (const cJSON *c = o->child; c; c = c->next)
            if (strcmp(c->string, key) == 0)
                r.node = c; /* no break: the last of equal keys wins */
    return r;
}

enum qn_json_type qn_json_type(const struct qn_jref *r)
{
    const cJSON *c = node_of(r);
    if (!c)
        return QN_JSON_ABSENT;
    switch (c->type & 0xFF) {
    case cJSON_False:
    case cJSON_True:
        return QN_JSON_BOOL;
    case cJSON_Number:
        return QN_JSON_NUMBER;
    case cJSON_String:
        return QN_JSON_STRING;
    case cJSON_Array:
        return QN_JSON_ARRAY;
    case cJSON_Object:
        return QN_JSON_OBJECT;
    default:
        return QN_JSON_NULL;
    }
}

const char *qn_json_type_name(enum qn_json_type t)
{
    static const char *const type_names[] = {"nothing",  "null",     "a boolean", "a number",
                                             "a string", "an array", "an object"};
    return type_names[t];
}

size_t qn_json_count(const struct qn_jref *r)
{
    enum qn_json_type t = qn_json_type(r);
    size_t n = 0;
    if (t == QN_JSON_ARRAY || t == QN_JSON_OBJECT)
        for (const cJSON *c = node_of(r)->child; c; c = c->next)
            n++;
    return n;
}

bool qn_json_first(const struct qn_jref *container, struct qn_jref *it)
{
    enum qn_json_type t = qn_json_type(container);
    if (t != QN_JSON_ARRAY && t != QN_JSON_OBJECT)
        return false;
    const cJSON *c = node_of(container)->child;
    if (!c)
        return false;
    *it = (struct qn_jref){
        .node = c, .up = container, .key = t == QN_JSON_OBJECT ? c->string : NULL, .index = 0};
    return true;
}

bool qn_json_next(struct qn_jref *it)
{
    const cJSON *c = node_of(it)->next;
    if (!c)
        return false;
    it->node = c;
    it->index++;
    if (it->key)
        it->key = c->string;
    return true;
}

/* Writes the path from the root down; the recursion is as deep as the reference's chain. */
static size_t path_write(const struct qn_jref *r, char *out, size_t n)
{
    if (!r->up)
        return 0;
    size_t used = path_write(r->up, out, n);
    if (used >= n)
        return used;
    int w = r->key ? snprintf(out + used, n - used, "%s%s", used ? "." : "", r->key)
                   : snprintf(out + used, n - used, "[%zu]", r->index);
    return used + (size_t)(w > 0 ? w : 0);
}

void qn_json_path(const struct qn_jref *r, char *out, size_t n)
{
    out[0] = '\0';
    path_write(r, out, n);
}

qn_err qn_json_fail(const struct qn_jref *r, struct qn_error *e, const char *fmt, ...)
{
    char path[QN_ERROR_PARAM_MAX];
    char text[QN_ERROR_MESSAGE_MAX];
    qn_json_path(r, path, sizeof path);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (path[0])
        return qn_fail_param(e, QN_EINVAL, path, "%s: %s", path, text);
    return qn_fail(e, QN_EINVAL, "%s", text);
}

static qn_err expected(const struct qn_jref *r, const char *what, struct qn_error *e)
{
    enum qn_json_type t = qn_json_type(r);
    if (t == QN_JSON_ABSENT)
        return qn_json_fail(r, e, "is missing; expected %s", what);
    return qn_json_fail(r, e, "expected %s, not %s", what, qn_json_type_name(t));
}

static bool is_unset(const struct qn_jref *r)
{
    return qn_json_type(r) <= QN_JSON_NULL;
}

qn_err qn_json_str(const struct qn_jref *r, const char **out, struct qn_error *e)
{
    if (qn_json_type(r) != QN_JSON_STRING)
        return expected(r, "a string", e);
    *out = node_of(r)->valuestring;
    return QN_OK;
}

qn_err qn_json_str_opt(const struct qn_jref *r, const char **out, struct qn_error *e)
{
    return is_unset(r) ? QN_OK : qn_json_str(r, out, e);
}

qn_err qn_json_f64(const struct qn_jref *r, double min, double max, double *out, struct qn_error *e)
{
    if (qn_json_type(r) != QN_JSON_NUMBER)
        return expected(r, "a number", e);
    double v = node_of(r)->valuedouble;
    if (!isfinite(v) || v < min || v > max)
        return qn_json_fail(r, e, "must be between %g and %g", min, max);
    *out = v;
    return QN_OK;
}

qn_err qn_json_f64_opt(const struct qn_jref *r, double min, double max, double *out,
                       struct qn_error *e)
{
    return is_unset(r) ? QN_OK : qn_json_f64(r, min, max, out, e);
}

qn_err qn_json_i64(const struct qn_jref *r, int64_t min, int64_t max, int64_t *out,
                   struct qn_error *e)
{
    if (qn_json_type(r) != QN_JSON_NUMBER)
        return expected(r, "an integer", e);
    double v = node_of(r)->valuedouble;
    if (!isfinite(v) || v != floor(v))
        return qn_json_fail(r, e, "expected an integer");
    /* Doubles are exact up to 2^53; beyond +-2^63 the conversion would be undefined. */
    if (v < -0x1p63 || v >= 0x1p63 || (int64_t)v < min || (int64_t)v > max)
        return qn_json_fail(r, e, "must be between %lld and %lld", (long long)min, (long long)max);
    *out = (int64_t)v;
    return QN_OK;
}

qn_err qn_json_i64_opt(const struct qn_jref *r, int64_t min, int64_t max, int64_t *out,
                       struct qn_error *e)
{
    return is_unset(r) ? QN_OK : qn_json_i64(r, min, max, out, e);
}

qn_err qn_json_bool(const struct qn_jref *r, bool *out, struct qn_error *e)
{
    if (qn_json_type(r) != QN_JSON_BOOL)
        return expected(r, "true or false", e);
    *out = cJSON_IsTrue(node_of(r));
    return QN_OK;
}

qn_err qn_json_bool_opt(const struct qn_jref *r, bool *out, struct qn_error *e)
{
    return is_unset(r) ? QN_OK : qn_json_bool(r, out, e);
}

const char *qn_json_raw_str(const struct qn_jref *r)
{
    return qn_json_type(r) == QN_JSON_STRING ? node_of(r)->valuestring : "";
}

double qn_json_raw_f64(const struct qn_jref *r)
{
    return qn_json_type(r) == QN_JSON_NUMBER ? node_of(r)->valuedouble : 0.0;
}

bool qn_json_raw_bool(const struct qn_jref *r)
{
    return qn_json_type(r) == QN_JSON_BOOL && cJSON_IsTrue(node_of(r));
}

static void print_value(struct qn_jw *w, const struct qn_jref *r)
{
    struct qn_jref it;
    switch (qn_json_type(r)) {
    case QN_JSON_ABSENT:
    case QN_JSON_NULL:
        qn_jw_null(w);
        break;
    case QN_JSON_BOOL:
        qn_jw_bool(w, qn_json_raw_bool(r));
        break;
    case QN_JSON_NUMBER:
        qn_jw_f64(w, qn_json_raw_f64(r));
        break;
    case QN_JSON_STRING:
        qn_jw_str(w, qn_json_raw_str(r));
        break;
    case QN_JSON_ARRAY:
        qn_jw_arr(w);
        for (bool more = qn_json_first(r, &it); more; more = qn_json_next(&it))
            print_value(w, &it);
        qn_jw_arr_end(w);
        break;
    case QN_JSON_OBJECT:
        qn_jw_obj(w);
        for (bool more = qn_json_first(r, &it); more; more = qn_json_next(&it)) {
            qn_jw_key(w, it.key);
            print_value(w, &it);
        }
        qn_jw_obj_end(w);
        break;
    }
}

qn_err qn_json_print(const struct qn_jref *r, struct qn_buf *out)
{
    struct qn_jw w = qn_jw_to(out);
    print_value(&w, r);
    return out->overflow ? QN_ELIMIT : QN_OK;
}

void qn_jw_value(struct qn_jw *w, const struct qn_jref *v)
{
    print_value(w, v);
}

void qn_jw_members(struct qn_jw *w, const char *json)
{
    struct qn_json *doc;
    struct qn_jref it;
    if (qn_json_parse(json, strlen(json), &doc, NULL))
        return;
    struct qn_jref root = qn_json_root(doc);
    bool object = qn_json_type(&root) == QN_JSON_OBJECT;
    for (bool more = object && qn_json_first(&root, &it); more; more = qn_json_next(&it)) {
        qn_jw_key(w, it.key);
        qn_jw_value(w, &it);
    }
    qn_json_free(doc);
}
