/* Validates a value against a schema. Used for listed values (enum, const) that stand next to other
 * keywords. "format" is treated as an annotation. */
#include "grammar/json_schema_private.h"

#include "base/str.h"

#include <string.h>

enum { CHECK_DEPTH = 64 };

static unsigned type_of(const struct qn_jref *v)
{
    switch (qn_json_type(v)) {
    case QN_JSON_NULL:
        return TYPE_NULL;
    case QN_JSON_BOOL:
        return TYPE_BOOL;
    case QN_JSON_OBJECT:
        return TYPE_OBJECT;
    case QN_JSON_ARRAY:
        return TYPE_ARRAY;
    case QN_JSON_STRING:
        return TYPE_STRING;
    default:
        return qn_json_raw_f64(v) == floor(qn_json_raw_f64(v)) ? TYPE_INTEGER : TYPE_FRACTION;
    }
}

static enum verdict both(enum verdict a, enum verdict b)
{
    return a == INVALID || b == INVALID ? INVALID : a == UNKNOWN || b == UNKNOWN ? UNKNOWN : VALID;
}

static enum verdict verdict(bool valid)
{
    return valid ? VALID : INVALID;
}

static uint32_t characters(const char *s)
{
    uint32_t n = 0;
    for (; *s; s++)
        n += ((uint8_t)*s & 0xc0) != 0x80;
    return n;
}

static enum verdict check_object(struct js *js, const struct conj *c, const struct facts *f,
                                 const struct qn_jref *v, int depth)
{
    size_t n = qn_json_count(v);
    enum verdict all = verdict(n >= f->min_properties && n <= f->max_properties);
    struct qn_jref list = qn_json_get(c->v[0].ref, "required"), it;
    for (bool more = qn_json_type(&list) == QN_JSON_ARRAY && qn_json_first(&list, &it); more;
         more = qn_json_next(&it)) {
        struct qn_jref member = qn_json_get(v, qn_json_raw_str(&it));
        all = both(all, verdict(qn_json_type(&member) != QN_JSON_ABSENT));
    }
    for (bool more = qn_json_first(v, &it); more && !js->err; more = qn_json_next(&it)) {
        struct conj parts;
        if (!js_property(js, c, it.key, &parts))
            return UNKNOWN;
        for (size_t i = 0; i < parts.n; i++)
            all = both(all, js_check(js, parts.v[i].ref, &it, depth + 1));
    }
    return js_get(js, c->v[0].ref, "propertyNames") ? both(all, UNKNOWN) : all;
}

static enum verdict check_array(struct js *js, const struct conj *c, const struct facts *f,
                                const struct qn_jref *v, int depth)
{
    size_t n = qn_json_count(v), at = 0;
    enum verdict all = verdict(n >= f->min_items && n <= f->max_items);
    struct qn_jref it, other;
    for (bool more = qn_json_first(v, &it); more && !js->err; more = qn_json_next(&it), at++) {
        struct conj parts;
        if (!js_item_parts(js, c, at, &parts))
            return UNKNOWN;
        for (size_t i = 0; i < parts.n; i++)
            all = both(all, js_check(js, parts.v[i].ref, &it, depth + 1));
        size_t k = 0;
        for (bool next = f->unique && qn_json_first(v, &other); next && k < at && !js->err;
             next = qn_json_next(&other), k++)
            all = both(all, verdict(!js_equal(js, &it, &other)));
    }
    return js_get(js, c->v[0].ref, "contains") ? both(all, UNKNOWN) : all;
}

/* Checks the keywords that apply other schemas to the same value. */
static enum verdict check_applied(struct js *js, const struct qn_jref *s, const struct qn_jref *v,
                                  int depth)
{
    enum verdict all = VALID;
    struct qn_jref list, it, ref = qn_json_get(s, "$ref");
    if (qn_json_type(&ref) == QN_JSON_STRING) {
        const struct qn_jref *target = js_resolve(js, s, qn_json_raw_str(&ref));
        all = target ? js_check(js, target, v, depth + 1) : UNKNOWN;
    }
    list = qn_json_get(s, "allOf");
    for (bool more = qn_json_first(&list, &it); more; more = qn_json_next(&it))
        all = both(all, js_check(js, js_keep(js, &it), v, depth + 1));
    static const char *const names[] = {"anyOf", "oneOf"};
    for (int k = 0; k < 2; k++) {
        size_t valid = 0, unknown = 0;
        list = qn_json_get(s, names[k]);
        if (qn_json_type(&list) != QN_JSON_ARRAY)
            continue;
        for (bool more = qn_json_first(&list, &it); more; more = qn_json_next(&it)) {
            enum verdict one = js_check(js, js_keep(js, &it), v, depth + 1);
            valid += one == VALID;
            unknown += one == UNKNOWN;
        }
        bool good = k == 0 ? valid > 0 : valid == 1 && unknown == 0;
        bool open = k == 0 ? unknown > 0 : valid + unknown > 0 && unknown > 0 && valid <= 1;
        all = both(all, good ? VALID : open ? UNKNOWN : INVALID);
    }
    const struct qn_jref *not = js_get(js, s, "not"), *condition = js_get(js, s, "if");
    if (not ) {
        enum verdict one = js_check(js, not, v, depth + 1);
        all = both(all, one == UNKNOWN ? UNKNOWN : verdict(one == INVALID));
    }
    if (condition) {
        enum verdict one = js_check(js, condition, v, depth + 1);
        const struct qn_jref *then = js_get(js, s, one == VALID ? "then" : "else");
        all = both(all, one == UNKNOWN ? UNKNOWN : then ? js_check(js, then, v, depth + 1) : VALID);
    }
    return all;
}

enum verdict js_check(struct js *js, const struct qn_jref *s, const struct qn_jref *v, int depth)
{
    struct facts f;
    struct conj c = {0};
    if (js->err || depth > CHECK_DEPTH)
        return UNKNOWN;
    if (qn_json_type(s) == QN_JSON_BOOL)
        return verdict(qn_json_raw_bool(s));
    conj_add(js, &c, s, 0);
    if (js->err || !js_facts(js, &c, &f))
        return UNKNOWN;
    struct qn_jref listed = qn_json_get(s, "enum"), constant = qn_json_get(s, "const");
    unsigned type = type_of(v), types;
    if (!js_type_word(js, s, &types))
        return UNKNOWN;
    enum verdict all = verdict(types & type);
    if (qn_json_type(&constant) != QN_JSON_ABSENT)
        all = both(all, verdict(js_equal(js, &constant, v)));
    if (qn_json_type(&listed) == QN_JSON_ARRAY)
        all = both(all, verdict(js_in_list(js, &listed, v)));
    if (type & (TYPE_INTEGER | TYPE_FRACTION)) {
        double x = qn_json_raw_f64(v);
        all = both(all, verdict(f.above ? x > f.min : x >= f.min));
        all = both(all, verdict(f.below ? x < f.max : x <= f.max));
        for (size_t i = 0; i < f.n_multiple; i++) {
            double q = x / f.multiple[i];
            all = both(all, fabs(q - round(q)) < 1e-9 * fmax(1, fabs(q)) ? VALID : INVALID);
        }
    } else if (type == TYPE_STRING) {
        uint32_t n = characters(qn_json_raw_str(v));
        js_take(js, n / 4);
        all = both(all, verdict(n >= f.min_length && n <= f.max_length));
        struct qn_jref pattern = qn_json_get(s, "pattern");
        if (qn_json_type(&pattern) == QN_JSON_STRING)
            all = both(all,
                       verdict(js_matches(js, s, qn_json_raw_str(&pattern), qn_json_raw_str(v))));
    } else if (type == TYPE_OBJECT) {
        all = both(all, check_object(js, &c, &f, v, depth));
    } else if (type == TYPE_ARRAY) {
        all = both(all, check_array(js, &c, &f, v, depth));
    }
    all = both(all, check_applied(js, s, v, depth));
    return js->err ? UNKNOWN : all;
}
