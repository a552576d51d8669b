/* Collects, keyword by keyword, what several schemas together require of a value. */
#include "grammar/json_schema_private.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    unsigned types;
} type_names[] = {{"null", TYPE_NULL},      {"boolean", TYPE_BOOL},
                  {"object", TYPE_OBJECT},  {"array", TYPE_ARRAY},
                  {"string", TYPE_STRING},  {"number", TYPE_INTEGER | TYPE_FRACTION},
                  {"integer", TYPE_INTEGER}};

static bool add_type(struct js *js, const struct qn_jref *r, unsigned *types)
{
    const char *name = qn_json_raw_str(r);
    for (size_t i = 0; i < sizeof type_names / sizeof type_names[0]; i++) {
        if (strcmp(type_names[i].name, name) == 0) {
            *types |= type_names[i].types;
            return true;
        }
    }
    return js_fail(js, r, QN_EINVAL,
                   "expected null, boolean, object, array, string, number or integer");
}

bool js_type_word(struct js *js, const struct qn_jref *s, unsigned *types)
{
    struct qn_jref type = qn_json_get(s, "type"), nullable = qn_json_get(s, "nullable"), it;
    *types = TYPE_ANY;
    if (qn_json_type(&type) == QN_JSON_ABSENT)
        return true;
    *types = qn_json_raw_bool(&nullable) ? TYPE_NULL : 0;
    if (qn_json_type(&type) == QN_JSON_STRING)
        return add_type(js, &type, types);
    if (qn_json_type(&type) != QN_JSON_ARRAY)
        return js_fail(js, &type, QN_EINVAL, "expected a string or an array of strings");
    for (bool more = qn_json_first(&type, &it); more; more = qn_json_next(&it))
        if (!add_type(js, &it, types))
            return false;
    return true;
}

static bool read_number(struct js *js, const struct qn_jref *s, const char *key, bool *has,
                        double *out)
{
    struct qn_jref r = qn_json_get(s, key);
    *has = qn_json_type(&r) != QN_JSON_ABSENT;
    if (*has && qn_json_type(&r) != QN_JSON_NUMBER)
        return js_fail(js, &r, QN_EINVAL, "expected a number");
    if (*has)
        *out = qn_json_raw_f64(&r);
    return true;
}

static bool read_count(struct js *js, const struct qn_jref *s, const char *key, bool lower,
                       uint32_t *best)
{
    bool has;
    double v = 0;
    if (!read_number(js, s, key, &has, &v) || !has)
        return !js->err;
    if (!(v >= 0) || v != floor(v)) {
        struct qn_jref r = qn_json_get(s, key);
        return js_fail(js, &r, QN_EINVAL, "expected a whole number that is not negative");
    }
    uint32_t count = v < QN_REPEAT_EVER ? (uint32_t)v : QN_REPEAT_EVER;
    if (lower ? count > *best : count < *best)
        *best = count;
    return true;
}

static bool read_bounds(struct js *js, const struct qn_jref *s, struct facts *f)
{
    bool has;
    double v = 0;
    /* In draft 4 exclusiveMinimum is a boolean that modifies minimum. */
    struct qn_jref above = qn_json_get(s, "exclusiveMinimum"),
                   below = qn_json_get(s, "exclusiveMaximum");
    bool old_above = qn_json_type(&above) == QN_JSON_BOOL,
         old_below = qn_json_type(&below) == QN_JSON_BOOL;
    if (!read_number(js, s, "minimum", &has, &v))
        return false;
    f->number_words |= has;
    bool exclusive = old_above && qn_json_raw_bool(&above);
    if (has && (v > f->min || (v == f->min && exclusive))) {
        f->min = v;
        f->above = exclusive;
    }
    if (!read_number(js, s, "maximum", &has, &v))
        return false;
    f->number_words |= has;
    exclusive = old_below && qn_json_raw_bool(&below);
    if (has && (v < f->max || (v == f->max && exclusive))) {
        f->max = v;
        f->below = exclusive;
    }
    if (!old_above && !read_number(js, s, "exclusiveMinimum", &has, &v))
        return false;
    if (!old_above && has) {
        f->number_words = true;
        if (v >= f->min) {
            f->min = v;
            f->above = true;
        }
    }
    if (!old_below && !read_number(js, s, "exclusiveMaximum", &has, &v))
        return false;
    if (!old_below && has) {
        f->number_words = true;
        if (v <= f->max) {
            f->max = v;
            f->below = true;
        }
    }
    if (!read_number(js, s, "multipleOf", &has, &v))
        return false;
    if (has) {
        struct qn_jref r = qn_json_get(s, "multipleOf");
        if (!(v > 0))
            return js_fail(js, &r, QN_EINVAL, "expected a number above 0");
        if (f->n_multiple == sizeof f->multiple / sizeof f->multiple[0])
            return js_fail(js, &r, QN_ELIMIT, "too many factors for one number");
        f->multiple[f->n_multiple++] = v;
        f->has_multiple = f->number_words = true;
    }
    return true;
}

/* OpenAPI's numeric formats are read as bounds. */
static void read_number_format(const struct qn_jref *s, struct facts *f)
{
    static const struct {
        const char *name;
        double min, max;
    } formats[] = {{"int8", -128, 127},
                   {"uint8", 0, 255},
                   {"int16", -32768, 32767},
                   {"uint16", 0, 65535},
                   {"int32", INT32_MIN, INT32_MAX},
                   {"uint32", 0, UINT32_MAX},
                   {"uint64", 0, INFINITY},
                   {"uint", 0, INFINITY}};
    struct qn_jref r = qn_json_get(s, "format");
    const char *name = qn_json_raw_str(&r);
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (strcmp(formats[i].name, name) != 0)
            continue;
        if (formats[i].min > f->min) {
            f->min = formats[i].min;
            f->above = false;
        }
        if (formats[i].max < f->max) {
            f->max = formats[i].max;
            f->below = false;
        }
    }
}

/* Reads a "not" that only concerns types or strings; js_rewrite turns any other "not" into
 * alternatives. */
static bool read_not(struct js *js, const struct qn_jref *s, struct facts *f)
{
    const struct qn_jref *not = js_get(js, s, "not");
    unsigned types;
    if (!not || qn_json_type(not ) != QN_JSON_OBJECT)
        return true;
    struct qn_jref type = qn_json_get(not, "type"), pattern = qn_json_get(not, "pattern");
    if (qn_json_type(&type) != QN_JSON_ABSENT) {
        if (!js_type_word(js, not, &types))
            return false;
        f->types &= ~types;
        if ((types & TYPE_INTEGER) && !(types & TYPE_FRACTION))
            f->no_integer = not ;
    }
    if (qn_json_type(&pattern) != QN_JSON_ABSENT) {
        f->types &= TYPE_STRING;
        f->string_words = true;
    }
    return true;
}

static bool has_key(const struct qn_jref *s, const char *const *keys)
{
    for (; *keys; keys++) {
        struct qn_jref r = qn_json_get(s, *keys);
        if (qn_json_type(&r) != QN_JSON_ABSENT)
            return true;
    }
    return false;
}

enum { LOOKUPS = 48 }; /* number of keywords that js_facts looks up in each schema */

bool js_facts(struct js *js, const struct conj *c, struct facts *out)
{
    static const char *const refused[] = {"$dynamicRef", "$recursiveRef", NULL};
    static const char *const object_keys[] = {
        "properties",    "required",      "patternProperties", "additionalProperties",
        "minProperties", "maxProperties", "propertyNames",     NULL};
    static const char *const array_keys[] = {"items",    "prefixItems", "additionalItems",
                                             "minItems", "maxItems",    "uniqueItems",
                                             "contains", NULL};
    static const char *const string_keys[] = {"pattern", "minLength", "maxLength", NULL};
    *out = (struct facts){.types = TYPE_ANY,
                          .min = -INFINITY,
                          .max = INFINITY,
                          .max_length = QN_REPEAT_EVER,
                          .max_items = QN_REPEAT_EVER,
                          .max_properties = QN_REPEAT_EVER};
    for (size_t i = 0; i < c->n; i++) {
        const struct qn_jref *s = c->v[i].ref;
        unsigned types;
        if (qn_json_type(s) != QN_JSON_OBJECT)
            continue;
        if (!js_take(js, LOOKUPS / 4 * (1 + qn_json_count(s))))
            return false;
        for (size_t k = 0; refused[k]; k++)
            if (js_get(js, s, refused[k]))
                return js_fail(js, s, QN_EUNSUPPORTED, "%s is not supported", refused[k]);
        if (!js_type_word(js, s, &types))
            return false;
        out->types &= types;
        struct qn_jref listed = qn_json_get(s, "enum"), constant = qn_json_get(s, "const"),
                       unique = qn_json_get(s, "uniqueItems"), format = qn_json_get(s, "format");
        if (qn_json_type(&listed) != QN_JSON_ABSENT && qn_json_type(&listed) != QN_JSON_ARRAY)
            return js_fail(js, &listed, QN_EINVAL, "expected an array");
        out->has_enum |=
            qn_json_type(&listed) == QN_JSON_ARRAY || qn_json_type(&constant) != QN_JSON_ABSENT;
        if (!read_bounds(js, s, out) || !read_not(js, s, out) ||
            !read_count(js, s, "minLength", true, &out->min_length) ||
            !read_count(js, s, "maxLength", false, &out->max_length) ||
            !read_count(js, s, "minItems", true, &out->min_items) ||
            !read_count(js, s, "maxItems", false, &out->max_items) ||
            !read_count(js, s, "minProperties", true, &out->min_properties) ||
            !read_count(js, s, "maxProperties", false, &out->max_properties))
            return false;
        read_number_format(s, out);
        out->unique |= qn_json_raw_bool(&unique);
        out->object_words |= has_key(s, object_keys);
        out->array_words |= has_key(s, array_keys);
        out->string_words |=
            has_key(s, string_keys) || js_known_format(qn_json_raw_str(&format), NULL);
    }
    /* A number that is not an integer must have a nonzero fraction; the number automaton cannot
     * express that. */
    if (out->no_integer && (out->types & TYPE_FRACTION))
        return js_fail(js, out->no_integer, QN_EUNSUPPORTED,
                       "excluding integers but not other numbers is not supported");
    return !js->err;
}

unsigned js_types_made(const struct facts *f)
{
    unsigned about = (f->object_words ? TYPE_OBJECT : 0) | (f->array_words ? TYPE_ARRAY : 0) |
                     (f->string_words ? TYPE_STRING : 0) |
                     (f->number_words ? TYPE_INTEGER | TYPE_FRACTION : 0);
    return f->types == TYPE_ANY && about ? about : f->types;
}
