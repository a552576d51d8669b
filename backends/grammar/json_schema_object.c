/* Objects: the named properties in the schema's order, each optional or required, then properties
 * that the schema does not name. */
#include "grammar/json_schema_private.h"

#include "base/str.h"
#include "grammar/constrain_regex.h"

#include <stdlib.h>
#include <string.h>

/* A reference, stored in the arena, to the property `name` of the object r; NULL: absent. */
static const struct qn_jref *member(struct js *js, const struct qn_jref *r, const char *name)
{
    return r && qn_json_type(r) == QN_JSON_OBJECT ? js_get(js, r, name) : NULL;
}

static const struct qn_jref *object_at(struct js *js, const struct qn_jref *s, const char *key)
{
    const struct qn_jref *r = js_get(js, s, key);
    if (r && qn_json_type(r) != QN_JSON_OBJECT) {
        js_fail(js, r, QN_EINVAL, "expected an object");
        return NULL;
    }
    return r;
}

bool js_matches(struct js *js, const struct qn_jref *at, const char *pattern, const char *text)
{
    struct qn_error why = {0};
    /* The last pattern's automaton is cached, because consecutive calls usually test the same
     * pattern. */
    if (js->matcher.n == 0 || strcmp(js->matcher_of, pattern) != 0) {
        if (js->matcher.n > 0)
            qn_dfa_deinit(&js->matcher);
        js->matcher_of = pattern;
        qn_err err = qn_regex_compile(pattern, QN_GX_UTF8, js->g->budget, &js->matcher, &why);
        if (err) {
            js->matcher = (struct qn_dfa){0};
            return js_fail(js, at, err, "%s", why.message);
        }
    }
    size_t n = strlen(text);
    return js_take(js, 1 + n) && qn_dfa_accepts(&js->matcher, text, n);
}

bool js_property(struct js *js, const struct conj *c, const char *name, struct conj *out)
{
    *out = (struct conj){0};
    for (size_t i = 0; i < c->n && !js->err; i++) {
        const struct qn_jref *s = c->v[i].ref;
        const struct qn_jref *own = member(js, object_at(js, s, "properties"), name);
        const struct qn_jref *patterns = object_at(js, s, "patternProperties"),
                             *more = js_get(js, s, "additionalProperties");
        bool named = own;
        if (own)
            conj_add(js, out, own, 0);
        struct qn_jref it;
        for (bool next = patterns && qn_json_first(patterns, &it); next; next = qn_json_next(&it)) {
            if (js_matches(js, patterns, it.key, name)) {
                conj_add(js, out, js_keep(js, &it), 0);
                named = true;
            }
        }
        if (!named && more)
            conj_add(js, out, more, 0);
    }
    return !js->err;
}

bool js_required(struct js *js, const struct conj *c, const char *name)
{
    for (size_t i = 0; i < c->n; i++) {
        struct qn_jref list = qn_json_get(c->v[i].ref, "required"), it;
        js_take(js, qn_json_count(&list));
        for (bool more = qn_json_type(&list) == QN_JSON_ARRAY && qn_json_first(&list, &it); more;
             more = qn_json_next(&it))
            if (strcmp(qn_json_raw_str(&it), name) == 0)
                return true;
    }
    return false;
}

bool js_makes_more(struct js *js, const struct conj *c)
{
    bool names = false, asked = false;
    for (size_t i = 0; i < c->n; i++) {
        const struct qn_jref *s = c->v[i].ref, *more = js_get(js, s, "additionalProperties");
        names |= js_get(js, s, "properties") != NULL;
        asked |= js_get(js, s, "propertyNames") || js_get(js, s, "patternProperties") ||
                 (more && !(qn_json_type(more) == QN_JSON_BOOL && !qn_json_raw_bool(more)));
    }
    return asked || !names;
}

static bool add_name(struct js *js, const struct qn_jref *at, const char *name, const char ***names,
                     size_t *n)
{
    if (strlen(name) > QN_ERROR_MESSAGE_MAX * 16)
        return js_fail(js, at, QN_ELIMIT, "a property's name is too long");
    js_take(js, *n);
    for (size_t i = 0; i < *n; i++)
        if (strcmp((*names)[i], name) == 0)
            return true;
    if (*n == QN_SCHEMA_PROPERTIES_MAX)
        return js_fail(js, at, QN_ELIMIT, "more than %d properties", QN_SCHEMA_PROPERTIES_MAX);
    *names = qn_xrealloc(*names, (*n + 1) * sizeof(char *));
    (*names)[(*n)++] = name;
    return true;
}

bool js_names(struct js *js, const struct conj *c, const char ***names, size_t *n)
{
    *names = NULL;
    *n = 0;
    for (size_t i = 0; i < c->n && !js->err; i++) {
        const struct qn_jref *own = object_at(js, c->v[i].ref, "properties");
        struct qn_jref it;
        for (bool more = own && qn_json_first(own, &it); more && !js->err; more = qn_json_next(&it))
            add_name(js, own, it.key, names, n);
    }
    for (size_t i = 0; i < c->n && !js->err; i++) {
        const struct qn_jref *list = js_get(js, c->v[i].ref, "required");
        struct qn_jref it;
        if (list && qn_json_type(list) == QN_JSON_BOOL)
            continue; /* draft 3: a boolean that belongs to the property itself */
        if (list && qn_json_type(list) != QN_JSON_ARRAY)
            js_fail(js, list, QN_EINVAL, "expected an array of strings");
        for (bool more = list && qn_json_first(list, &it); more && !js->err;
             more = qn_json_next(&it)) {
            if (qn_json_type(&it) != QN_JSON_STRING)
                js_fail(js, &it, QN_EINVAL, "expected a string");
            else
                add_name(js, list, qn_json_raw_str(&it), names, n);
        }
    }
    if (!js->err)
        return true;
    free(*names);
    *names = NULL;
    *n = 0;
    return false;
}

/* unevaluatedProperties refers to the properties that its own schema does not name. When that
 * schema comes first in the conjunction, nothing more needs to be checked: only properties that the
 * schema names are generated. */
static bool check_unevaluated(struct js *js, const struct conj *c)
{
    bool others = false;
    for (size_t i = 0; i < c->n; i++) {
        const struct qn_jref *s = c->v[i].ref, *u = js_get(js, s, "unevaluatedProperties");
        if (u && others && !(qn_json_type(u) == QN_JSON_BOOL && qn_json_raw_bool(u)))
            return js_fail(
                js, u, QN_EUNSUPPORTED,
                "unevaluatedProperties is not supported in one of several combined schemas");
        others |= js_get(js, s, "properties") || js_get(js, s, "additionalProperties") ||
                  js_get(js, s, "patternProperties");
    }
    return true;
}

/* The quoted names that are not among `names` and conform to propertyNames. */
static qn_err free_names(struct js *js, const struct conj *c, const char *const *names, size_t n,
                         struct qn_dfa *out, struct qn_error *e)
{
    struct conj all = {0}, flat;
    struct facts f;
    for (size_t i = 0; i < c->n; i++) {
        const struct qn_jref *s = js_get(js, c->v[i].ref, "propertyNames");
        if (s)
            conj_add(js, &all, s, 0);
    }
    if (!js_flatten(js, &all, &flat)) {
        if (js->err)
            return js->err;
        return qn_gx_compile(qn_gx_never(js->g), QN_GX_UTF8, js->g->budget, out, e);
    }
    if (!js_facts(js, &flat, &f))
        return js->err;
    static const char *const words[] = {"anyOf", "oneOf", "if", "not", NULL};
    for (size_t i = 0; i < flat.n; i++)
        for (size_t k = 0; words[k]; k++)
            if (js_get(js, flat.v[i].ref, words[k]))
                return qn_fail(e, QN_EUNSUPPORTED, "propertyNames with %s is not supported",
                               words[k]);
    qn_err err;
    struct qn_gx_list l = {0};
    if (f.has_enum) {
        const struct qn_jref **values;
        size_t count;
        bool good = js_listed(js, &flat, &values, &count);
        for (size_t i = 0; good && i < count; i++)
            if (qn_json_type(values[i]) == QN_JSON_STRING)
                qn_gx_push(&l, qn_gx_text(js->g, qn_json_raw_str(values[i])));
        free(values);
        /* The names in their JSON form, without the quotes. */
        struct qn_dfa inner;
        err = js->err;
        if (!err)
            err = qn_gx_compile(qn_gx_alt(js->g, l.v, l.n), QN_GX_JSON, js->g->budget, &inner, e);
        if (!err)
            err = js_quote_dfa(js, &inner, out, e);
        l.n = 0;
    } else {
        err = js_string_dfa(js, &flat, &f, true, out, e);
    }
    struct qn_dfa taken, rest;
    for (size_t i = 0; i < n; i++)
        qn_gx_push(&l, qn_gx_text(js->g, names[i]));
    if (!err && n > 0) {
        struct qn_dfa inner;
        err = qn_gx_compile(qn_gx_alt(js->g, l.v, l.n), QN_GX_JSON, js->g->budget, &inner, e);
        if (!err)
            err = js_quote_dfa(js, &inner, &taken, e);
        if (!err) {
            err = qn_dfa_subtract(out, &taken, js->g->budget, &rest, e);
            qn_dfa_deinit(&taken);
        }
        qn_dfa_deinit(out);
        if (!err)
            *out = rest;
    }
    qn_gx_list_deinit(&l);
    return err;
}

struct pattern {
    const char *text;
    struct qn_dfa keys; /* quoted names in which the pattern matches */
};

/* Adds a pattern unless it is already in the list. */
static qn_err add_pattern(struct js *js, const char *text, struct pattern *v, size_t *n,
                          struct qn_error *e)
{
    for (size_t i = 0; i < *n; i++)
        if (strcmp(v[i].text, text) == 0)
            return QN_OK;
    if (*n == QN_SCHEMA_PATTERNS_MAX)
        return qn_fail(e, QN_ELIMIT, "patternProperties: more than %d patterns",
                       QN_SCHEMA_PATTERNS_MAX);
    struct qn_dfa inner;
    qn_err err = qn_regex_compile(text, QN_GX_JSON, js->g->budget, &inner, e);
    if (!err)
        err = js_quote_dfa(js, &inner, &v[*n].keys, e);
    if (!err)
        v[(*n)++].text = text;
    return err;
}

/* The schemas for a property whose name matches exactly the patterns of the bit set `set`. */
static struct conj extra_value(struct js *js, const struct conj *c, const struct pattern *v,
                               size_t n, unsigned set)
{
    struct conj out = {0};
    for (size_t i = 0; i < c->n; i++) {
        const struct qn_jref *s = c->v[i].ref, *patterns = js_get(js, s, "patternProperties"),
                             *more = js_get(js, s, "additionalProperties");
        bool named = false;
        for (size_t k = 0; k < n; k++) {
            const struct qn_jref *one = set >> k & 1 ? member(js, patterns, v[k].text) : NULL;
            if (one) {
                conj_add(js, &out, one, 0);
                named = true;
            }
        }
        if (!named && more)
            conj_add(js, &out, more, 0);
    }
    return out;
}

/* Makes the expression for one property that the schema does not name: an alternative for each set
 * of patterns of patternProperties, with the names that match all patterns of the set and no other
 * pattern, and the values that conform to the schemas of those patterns. */
static const struct qn_gx *make_extra(struct js *js, const struct conj *c, const char *const *names,
                                      size_t n)
{
    struct pattern patterns[QN_SCHEMA_PATTERNS_MAX];
    struct qn_dfa keys = {0};
    struct qn_error why = {0};
    struct qn_gx_list l = {0};
    size_t n_patterns = 0;
    qn_err err = free_names(js, c, names, n, &keys, &why);
    if (err) {
        js_fail(js, c->v[0].ref, err, "%s", why.message);
        return qn_gx_never(js->g);
    }
    for (size_t i = 0; i < c->n && !err; i++) {
        const struct qn_jref *p = object_at(js, c->v[i].ref, "patternProperties");
        struct qn_jref it;
        for (bool more = p && qn_json_first(p, &it); more && !err; more = qn_json_next(&it))
            err = add_pattern(js, it.key, patterns, &n_patterns, &why);
    }
    for (unsigned set = 0; set < 1u << n_patterns && !err && !js->err; set++) {
        struct qn_dfa some = keys, next;
        bool own = false;
        for (size_t k = 0; k < n_patterns && !err; k++) {
            err = (set >> k & 1 ? qn_dfa_intersect : qn_dfa_subtract)(&some, &patterns[k].keys,
                                                                      js->g->budget, &next, &why);
            if (own)
                qn_dfa_deinit(&some);
            own = !err;
            if (!err)
                some = next;
        }
        if (err)
            break;
        if (!own)
            keys = (struct qn_dfa){0}; /* `some` owns the automaton from here on */
        struct conj value = extra_value(js, c, patterns, n_patterns, set);
        const struct qn_gx *key = js_dfa(js, &some, QN_OK, NULL, NULL);
        const struct qn_gx *one[3] = {key, js->colon, js_rule(js, &value)};
        qn_gx_push(&l, qn_gx_seq(js->g, one, 3));
    }
    if (err)
        js_fail(js, c->v[0].ref, err, "%s", why.message);
    for (size_t k = 0; k < n_patterns; k++)
        qn_dfa_deinit(&patterns[k].keys);
    qn_dfa_deinit(&keys);
    const struct qn_gx *x = qn_gx_alt(js->g, l.v, l.n);
    qn_gx_list_deinit(&l);
    return x;
}

struct maker {
    struct js *js;
    const struct qn_gx **members; /* [n] "name": value */
    bool *required;               /* [n] */
    const struct qn_gx *extra;    /* one property that the schema does not name; NULL: not
                                     allowed */
    size_t n;
    uint32_t min, max;
    uint32_t cap;    /* counts above this value are equivalent */
    uint32_t *rules; /* [(n + 1) * (cap + 1)] rule number + 1; 0: not made */
};

static const struct qn_gx *with_comma(struct js *js, const struct qn_gx *x)
{
    const struct qn_gx *v[2] = {js->comma, x};
    return qn_gx_seq(js->g, v, 2);
}

/* What may follow the last named property after `count` properties. Only one unnamed property is
 * counted towards the minimum, because several might have the same name. */
static const struct qn_gx *end_of(struct maker *m, uint32_t count)
{
    struct qn_grammar *g = m->js->g;
    uint32_t need = m->min > count ? m->min - count : 0;
    if (!m->extra)
        return need ? qn_gx_never(g) : qn_gx_empty(g);
    if (need > 1)
        return qn_gx_never(g);
    if (m->max <= count)
        return need ? qn_gx_never(g) : qn_gx_empty(g);
    uint32_t most = m->max == QN_REPEAT_EVER ? QN_REPEAT_EVER : m->max - count;
    const struct qn_gx *more = with_comma(m->js, m->extra);
    if (count > 0)
        return qn_gx_repeat(g, more, need, most);
    const struct qn_gx *list[2] = {
        m->extra, qn_gx_repeat(g, more, 0, most == QN_REPEAT_EVER ? most : most - 1)};
    return qn_gx_repeat(g, qn_gx_seq(g, list, 2), need, 1);
}

/* The rule for the properties from the i-th on, after `count` properties. */
static const struct qn_gx *rest_of(struct maker *m, size_t i, uint32_t count)
{
    struct qn_grammar *g = m->js->g;
    uint32_t *slot = &m->rules[i * ((size_t)m->cap + 1) + count];
    if (i == m->n)
        return end_of(m, count);
    if (!*slot)
        *slot = qn_grammar_rule(g, "$members") + 1;
    return qn_gx_rule(g, *slot - 1);
}

static const struct qn_gx *make_members(struct maker *m)
{
    struct qn_grammar *g = m->js->g;
    const struct qn_gx *start = rest_of(m, 0, 0);
    for (size_t i = 0; i < m->n && !g->full; i++) {
        for (uint32_t count = 0; count <= m->cap && !g->full; count++) {
            uint32_t rule = m->rules[i * ((size_t)m->cap + 1) + count];
            const struct qn_gx *ways[2];
            size_t n = 0;
            if (!rule)
                continue; /* no path reaches this combination */
            if (count < m->max) {
                const struct qn_gx *v[3] = {count > 0 ? m->js->comma : qn_gx_empty(g),
                                            m->members[i],
                                            rest_of(m, i + 1, count < m->cap ? count + 1 : count)};
                ways[n++] = count > 0 ? qn_gx_seq(g, v, 3) : qn_gx_seq(g, v + 1, 2);
            }
            if (!m->required[i])
                ways[n++] = rest_of(m, i + 1, count);
            g->rules[rule - 1].body = qn_gx_alt(g, ways, n);
        }
    }
    return start;
}

static const struct qn_gx *make_member(struct js *js, const struct conj *c, const char *name)
{
    struct conj value;
    struct qn_buf key;
    if (!js_property(js, c, name, &value))
        return qn_gx_never(js->g);
    for (size_t i = 0; i < c->n; i++) {
        const struct qn_jref *names = js_get(js, c->v[i].ref, "propertyNames");
        if (!names)
            continue;
        qn_buf_init(&key, 1 << 20);
        js_quote(name, &key);
        const struct qn_jref *text = js_aux(js, key.data, key.len);
        qn_buf_deinit(&key);
        enum verdict v = text ? js_check(js, names, text, 0) : INVALID;
        if (v == UNKNOWN)
            js_fail(js, names, QN_EUNSUPPORTED,
                    "propertyNames with keywords that cannot be checked");
        if (v != VALID)
            return qn_gx_never(js->g);
    }
    qn_buf_init(&key, 1 << 20);
    js_quote(name, &key);
    qn_buf_char(&key, ':');
    const struct qn_gx *space = qn_gx_repeat(js->g, qn_gx_text(js->g, " "), 0, 1);
    const struct qn_gx *v[3] = {qn_gx_bytes(js->g, key.data, key.len), space, js_rule(js, &value)};
    qn_buf_deinit(&key);
    return qn_gx_seq(js->g, v, 3);
}

const struct qn_gx *js_object(struct js *js, const struct conj *c, const struct facts *f)
{
    struct maker m = {.js = js, .min = f->min_properties, .max = f->max_properties};
    const char **names;
    struct qn_grammar *g = js->g;
    if (!check_unevaluated(js, c) || !js_names(js, c, &names, &m.n))
        return qn_gx_never(g);
    uint32_t needed = 0;
    m.members = qn_xcalloc(m.n + 1, sizeof *m.members);
    m.required = qn_xcalloc(m.n + 1, sizeof *m.required);
    for (size_t i = 0; i < m.n && !js->err; i++) {
        m.required[i] = js_required(js, c, names[i]);
        needed += m.required[i];
        m.members[i] = make_member(js, c, names[i]);
    }
    if (m.min <= needed)
        m.min = 0;
    bool more = !js->err && (js_makes_more(js, c) || m.min > m.n);
    if (more)
        m.extra = make_extra(js, c, (const char *const *)names, m.n);
    if (m.extra && m.extra->kind == QN_GX_NEVER)
        m.extra = NULL;
    if (m.max >= m.n && !m.extra)
        m.max = QN_REPEAT_EVER;
    if (m.min > m.n + (m.extra ? 1 : 0) && m.extra)
        js_fail(js, c->v[0].ref, QN_EUNSUPPORTED,
                "minProperties: needs %u different names that the schema does not list", m.min);
    uint32_t differ = m.max == QN_REPEAT_EVER ? m.min : m.max;
    m.cap = differ < m.n ? differ : (uint32_t)m.n;
    m.cap = m.cap < 1 ? 1 : m.cap;
    const struct qn_gx *x = qn_gx_never(g);
    if ((m.n + 1) * ((size_t)m.cap + 1) > QN_SCHEMA_COUNTED_MAX)
        js_fail(js, c->v[0].ref, QN_ELIMIT, "too many properties to count");
    if (!js->err) {
        m.rules = qn_xcalloc((m.n + 1) * ((size_t)m.cap + 1), sizeof *m.rules);
        const struct qn_gx *v[5] = {qn_gx_text(g, "{"), js->space, make_members(&m), js->space,
                                    qn_gx_text(g, "}")};
        x = qn_gx_seq(g, v, 5);
        free(m.rules);
    }
    free(m.members);
    free(m.required);
    free(names);
    return x;
}
