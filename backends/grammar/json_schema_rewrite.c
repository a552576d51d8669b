/* Rewrites conditions and negations as alternatives. "if" becomes its schema with "then", or its
 * negation with "else". A dependency becomes the object without the property, or with the property
 * and the dependent schema. A negation becomes one alternative per negated keyword. The results are
 * generated schemas. */
#include "grammar/json_schema_private.h"

#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 4 << 20, WAYS_MAX = 64, NOT_DEPTH = 8, DEPENDENT_MAX = 16 };

struct ways {
    struct js *js;
    const struct conj *base;
    size_t part;   /* index of the part that is rewritten */
    unsigned done; /* bits to set in the rewritten part's `done` */
    struct conj v[WAYS_MAX];
    size_t n;
};

static void add_way(struct ways *w, const struct qn_jref *a, const struct qn_jref *b)
{
    if (w->n == WAYS_MAX) {
        js_fail(w->js, w->base->v[w->part].ref, QN_ELIMIT, "more than %d alternatives", WAYS_MAX);
        return;
    }
    struct conj *c = &w->v[w->n++];
    *c = conj_copy_done(w->js, w->base, w->part, w->done);
    if (a)
        conj_add(w->js, c, a, 0);
    if (b)
        conj_add(w->js, c, b, 0);
}

/* Makes a schema of the text `before`, one printed value and the text `after`. */
static const struct qn_jref *write(struct js *js, const char *before, const struct qn_jref *value,
                                   const char *after)
{
    struct qn_buf b;
    qn_buf_init(&b, TEXT_MAX);
    qn_buf_str(&b, before);
    if (value)
        qn_json_print(value, &b);
    qn_buf_str(&b, after);
    const struct qn_jref *made = b.overflow ? NULL : js_aux(js, b.data, b.len);
    if (b.overflow)
        js_fail(js, value, QN_ELIMIT, "the schema is too large");
    qn_buf_deinit(&b);
    return made;
}

/* The schema {"required":[name]}, or {"properties":{name:false}} when the property must be
 * absent. */
static const struct qn_jref *with_property(struct js *js, const char *name, bool there)
{
    struct qn_buf b;
    qn_buf_init(&b, TEXT_MAX);
    qn_buf_str(&b, there ? "{\"required\":[" : "{\"properties\":{");
    js_quote(name, &b);
    qn_buf_str(&b, there ? "]}" : ":false}}");
    const struct qn_jref *made = js_aux(js, b.data, b.len);
    qn_buf_deinit(&b);
    return made;
}

/* The schema {"type":"object","required":[name],"properties":{name:{"not":value}}}. */
static const struct qn_jref *property_not(struct js *js, const char *name,
                                          const struct qn_jref *value)
{
    struct qn_buf b;
    qn_buf_init(&b, TEXT_MAX);
    qn_buf_str(&b, "{\"type\":\"object\",\"required\":[");
    js_quote(name, &b);
    qn_buf_str(&b, "],\"properties\":{");
    js_quote(name, &b);
    qn_buf_str(&b, ":{\"not\":");
    qn_json_print(value, &b);
    qn_buf_str(&b, "}}}");
    const struct qn_jref *made = b.overflow ? NULL : js_aux(js, b.data, b.len);
    if (b.overflow)
        js_fail(js, value, QN_ELIMIT, "the schema is too large");
    qn_buf_deinit(&b);
    return made;
}

static bool annotation(const char *key)
{
    static const char *const keys[] = {"title",    "description", "$comment", "default",
                                       "examples", "deprecated",  "readOnly", "writeOnly"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (strcmp(keys[i], key) == 0)
            return true;
    return false;
}

static bool same(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

/* Adds alternatives for all values except this one. Supported for strings, true, false and null. */
static void not_value(struct ways *w, const struct qn_jref *value, const struct qn_jref *other)
{
    enum qn_json_type type = qn_json_type(value);
    if (type == QN_JSON_BOOL)
        add_way(w, other,
                write(w->js,
                      qn_json_raw_bool(value)
                          ? "{\"anyOf\":[{\"const\":false},{\"not\":{\"type\":\"boolean\"}}]}"
                          : "{\"anyOf\":[{\"const\":true},{\"not\":{\"type\":\"boolean\"}}]}",
                      NULL, ""));
    else if (type == QN_JSON_NULL)
        add_way(w, other, write(w->js, "{\"not\":{\"type\":\"null\"}}", NULL, ""));
    else
        js_fail(w->js, value, QN_EUNSUPPORTED,
                "not: only supported for strings, true, false and null");
}

/* Adds the alternatives that together describe the values that are invalid by s. */
static void negate(struct ways *w, const struct qn_jref *s, int depth)
{
    struct js *js = w->js;
    if (qn_json_type(s) == QN_JSON_BOOL) {
        if (!qn_json_raw_bool(s))
            add_way(w, NULL, NULL);
        return;
    }
    if (qn_json_type(s) != QN_JSON_OBJECT || depth > NOT_DEPTH) {
        js_fail(js, s, QN_EUNSUPPORTED, "not: nested too deeply, or the value is not a schema");
        return;
    }
    struct qn_jref it, in;
    for (bool more = qn_json_first(s, &it); more && !js->err; more = qn_json_next(&it)) {
        const char *key = it.key;
        const struct qn_jref *value = js_keep(js, &it);
        if (annotation(key))
            continue;
        if (same(key, "type")) {
            add_way(w, write(js, "{\"not\":{\"type\":", value, "}}"), NULL);
        } else if (same(key, "pattern")) {
            add_way(w, write(js, "{\"type\":\"string\",\"not\":{\"pattern\":", value, "}}"), NULL);
        } else if ((same(key, "const") && qn_json_type(value) == QN_JSON_STRING)) {
            add_way(w, write(js, "{\"not\":{\"const\":", value, "}}"), NULL);
        } else if (same(key, "const")) {
            not_value(w, value, NULL);
        } else if (same(key, "enum")) {
            for (bool m = qn_json_first(value, &in); m; m = qn_json_next(&in))
                if (qn_json_type(&in) != QN_JSON_STRING)
                    js_fail(js, &in, QN_EUNSUPPORTED,
                            "not: an enum is only supported if all its values are strings");
            add_way(w, write(js, "{\"not\":{\"enum\":", value, "}}"), NULL);
        } else if (same(key, "required")) {
            for (bool m = qn_json_first(value, &in); m; m = qn_json_next(&in))
                add_way(w, with_property(js, qn_json_raw_str(&in), false), NULL);
        } else if (same(key, "properties")) {
            for (bool m = qn_json_first(value, &in); m; m = qn_json_next(&in))
                add_way(w, property_not(js, in.key, &in), NULL);
        } else if (same(key, "not")) {
            add_way(w, value, NULL);
        } else if (same(key, "allOf")) {
            for (bool m = qn_json_first(value, &in); m; m = qn_json_next(&in))
                negate(w, js_keep(js, &in), depth + 1);
        } else if (same(key, "anyOf")) {
            struct qn_buf b;
            qn_buf_init(&b, TEXT_MAX);
            const char *separator = "{\"allOf\":[";
            for (bool m = qn_json_first(value, &in); m; m = qn_json_next(&in)) {
                qn_buf_fmt(&b, "%s{\"not\":", separator);
                qn_json_print(&in, &b);
                qn_buf_char(&b, '}');
                separator = ",";
            }
            qn_buf_str(&b, "]}");
            add_way(w, b.overflow ? NULL : js_aux(js, b.data, b.len), NULL);
            qn_buf_deinit(&b);
        } else if (same(key, "$ref")) {
            const struct qn_jref *target = js_resolve(js, s, qn_json_raw_str(value));
            if (target)
                negate(w, target, depth + 1);
        } else {
            js_fail(js, value, QN_EUNSUPPORTED, "not: %s is not supported", key);
        }
    }
}

/* A "not" of strings, types or patterns is handled as a fact about the value (json_schema_facts.c)
 * and needs no alternatives. */
static bool plain_not(const struct qn_jref * not )
{
    struct qn_jref it, in;
    size_t words = 0;
    if (qn_json_type(not ) != QN_JSON_OBJECT)
        return false;
    for (bool more = qn_json_first(not, &it); more; more = qn_json_next(&it)) {
        if (annotation(it.key))
            continue;
        words++;
        if (same(it.key, "enum")) {
            for (bool m = qn_json_first(&it, &in); m; m = qn_json_next(&in))
                if (qn_json_type(&in) != QN_JSON_STRING)
                    return false;
        } else if (!same(it.key, "type") && !same(it.key, "pattern") &&
                   !(same(it.key, "const") && qn_json_type(&it) == QN_JSON_STRING)) {
            return false;
        }
    }
    return words == 1;
}

static void rewrite_if(struct ways *w, const struct qn_jref *s, const struct qn_jref *condition)
{
    const struct qn_jref *then = js_get(w->js, s, "then"), *other = js_get(w->js, s, "else");
    add_way(w, condition, then);
    size_t from = w->n;
    negate(w, condition, 0);
    for (size_t i = from; i < w->n && other; i++)
        conj_add(w->js, &w->v[i], other, 0);
}

/* One property on which other properties or a schema depend. */
static void rewrite_dependent(struct ways *w, const struct qn_jref *entry)
{
    struct js *js = w->js;
    const struct qn_jref *asks = js_keep(js, entry);
    if (qn_json_type(entry) == QN_JSON_ARRAY)
        asks = write(js, "{\"required\":", entry, "}");
    else if (qn_json_type(entry) == QN_JSON_STRING) /* a form of draft 3 */
        asks = with_property(js, qn_json_raw_str(entry), true);
    add_way(w, with_property(js, entry->key, false), NULL);
    add_way(w, with_property(js, entry->key, true), asks);
}

/* Performs the first rewriting of the part that is not done yet; false when there is none. */
static bool rewrite_part(struct ways *w, const struct part *p)
{
    static const char *const dependents[] = {"dependentRequired", "dependentSchemas",
                                             "dependencies"};
    struct js *js = w->js;
    const struct qn_jref *not = js_get(js, p->ref, "not"), *condition = js_get(js, p->ref, "if");
    if (not &&!(p->done & DONE_NOT) && !plain_not(not )) {
        w->done = DONE_NOT;
        negate(w, not, 0);
        return true;
    }
    if (condition && !(p->done & DONE_IF) &&
        (js_get(js, p->ref, "then") || js_get(js, p->ref, "else"))) {
        w->done = DONE_IF;
        rewrite_if(w, p->ref, condition);
        return true;
    }
    unsigned number = 0;
    for (size_t i = 0; i < sizeof dependents / sizeof dependents[0]; i++) {
        const struct qn_jref *all = js_get(js, p->ref, dependents[i]);
        struct qn_jref it;
        for (bool more = all && qn_json_first(all, &it); more; more = qn_json_next(&it), number++) {
            if (number == DEPENDENT_MAX) {
                js_fail(js, all, QN_ELIMIT, "more than %d properties with dependents",
                        DEPENDENT_MAX);
                return false;
            }
            unsigned bit = (unsigned)DONE_DEPENDENT_FIRST << number;
            if (it.key && !(p->done & bit)) {
                w->done = bit;
                rewrite_dependent(w, &it);
                return true;
            }
        }
    }
    return false;
}

bool js_rewrite(struct js *js, const struct conj *c, struct conj **out, size_t *n)
{
    struct ways *w = qn_xcalloc(1, sizeof *w);
    bool found = false;
    w->js = js;
    w->base = c;
    for (size_t i = 0; i < c->n && !found && !js->err; i++) {
        w->part = i;
        found = rewrite_part(w, &c->v[i]);
    }
    if (found && !js->err) {
        *out = qn_xcalloc(w->n + 1, sizeof **out);
        memcpy(*out, w->v, w->n * sizeof **out);
        *n = w->n;
    }
    free(w);
    return found && !js->err;
}
