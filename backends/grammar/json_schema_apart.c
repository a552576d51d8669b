/* Tells whether the branches of a oneOf exclude each other: no value that is generated for one
 * branch may be valid by the schema of another.
 *
 * Not every value that a branch allows is generated (for example, objects have only the named
 * properties), so branches that overlap can still exclude each other. Where that is not enough, a
 * branch is restricted further: a property by which the branches differ becomes required or
 * forbidden in it. */
#include "grammar/json_schema_private.h"

#include <stdlib.h>
#include <string.h>

enum { APART_DEPTH = 6, APART_WORK = 20000 };

static bool apart(struct js *js, struct conj *a, const struct conj *b, bool change, int depth);

/* Whether each listed value of a is invalid by at least one schema of b. */
static bool listed_apart(struct js *js, const struct conj *a, const struct conj *b)
{
    const struct qn_jref **values;
    size_t n;
    bool all = js_listed(js, a, &values, &n);
    for (size_t i = 0; i < n && all; i++) {
        bool excluded = false;
        for (size_t k = 0; k < b->n && !excluded; k++)
            excluded = js_check(js, b->v[k].ref, values[i], 0) == INVALID;
        all = excluded;
    }
    free(values);
    return all;
}

static bool strings_apart(struct js *js, const struct conj *a, const struct facts *fa,
                          const struct conj *b, const struct facts *fb)
{
    struct qn_dfa x, y;
    if (fa->min_length > fb->max_length || fa->max_length < fb->min_length)
        return true;
    if (!fa->string_words || !fb->string_words || js_string_dfa(js, a, fa, true, &x, NULL))
        return false;
    if (js_string_dfa(js, b, fb, false, &y, NULL)) {
        qn_dfa_deinit(&x);
        return false;
    }
    bool none = !qn_dfa_overlap(&x, &y, js->g->budget);
    qn_dfa_deinit(&x);
    qn_dfa_deinit(&y);
    return none;
}

static bool numbers_apart(const struct facts *a, const struct facts *b)
{
    return a->min > b->max || a->max < b->min || (a->min == b->max && (a->above || b->below)) ||
           (a->max == b->min && (a->below || b->above));
}

/* Adds {"required":[name]} or {"properties":{name:false}} to the schemas of branch a. */
static void narrow(struct js *js, struct conj *a, const char *name, bool there)
{
    struct qn_buf b;
    qn_buf_init(&b, 1 << 20);
    qn_buf_str(&b, there ? "{\"required\":[" : "{\"properties\":{");
    js_quote(name, &b);
    qn_buf_str(&b, there ? "]}" : ":false}}");
    const struct qn_jref *made = js_aux(js, b.data, b.len);
    qn_buf_deinit(&b);
    if (made)
        conj_add(js, a, made, 0);
}

static bool is_never(struct js *js, const struct conj *c)
{
    struct conj flat;
    return !js_flatten(js, c, &flat) && !js->err;
}

static bool named(struct js *js, const char *const *names, size_t n, const char *name)
{
    js_take(js, n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static bool objects_apart(struct js *js, struct conj *a, const struct conj *flat_a,
                          const struct conj *flat_b, bool change, int depth)
{
    const char **in_a, **in_b = NULL;
    size_t n_a, n_b = 0;
    bool found = false;
    bool good = js_names(js, flat_a, &in_a, &n_a) && js_names(js, flat_b, &in_b, &n_b);
    bool open = js_makes_more(js, flat_a);
    /* Passes 0 and 1 restrict nothing, passes 2 and 3 may restrict a. Even passes look for a
     * property of a that b forbids or whose values b excludes; odd passes for a property that b
     * requires and that is never generated for a. */
    for (int pass = 0; pass < 4 && good && !found; pass++) {
        bool may_change = pass >= 2;
        if (may_change && !change)
            break;
        for (size_t i = 0; pass % 2 == 0 && i < n_a && !found && !js->err; i++) {
            struct conj x, y;
            if (js_required(js, flat_a, in_a[i]) == may_change ||
                !js_property(js, flat_a, in_a[i], &x) || !js_property(js, flat_b, in_a[i], &y))
                continue;
            if (!is_never(js, &x) && (is_never(js, &y) || apart(js, &x, &y, false, depth + 1))) {
                found = true;
                if (may_change)
                    narrow(js, a, in_a[i], true);
            }
        }
        for (size_t i = 0; pass % 2 == 1 && i < n_b && !found && !js->err; i++) {
            struct conj x;
            if (!js_required(js, flat_b, in_b[i]) || !js_property(js, flat_a, in_b[i], &x))
                continue;
            bool never =
                is_never(js, &x) || (!open && !named(js, (const char *const *)in_a, n_a, in_b[i]));
            if (never || (may_change && !js_required(js, flat_a, in_b[i]))) {
                found = true;
                if (!never)
                    narrow(js, a, in_b[i], false);
            }
        }
    }
    free(in_a);
    free(in_b);
    return found;
}

static bool arrays_apart(struct js *js, const struct conj *a, const struct facts *fa,
                         const struct conj *b, const struct facts *fb, int depth)
{
    if (fa->min_items > fb->max_items || fa->max_items < fb->min_items)
        return true;
    for (size_t i = 0; i < fa->min_items && i < 8; i++) {
        struct conj x, y;
        if (!js_item_parts(js, a, i, &x) || !js_item_parts(js, b, i, &y))
            return false;
        if (is_never(js, &y) || apart(js, &x, &y, false, depth + 1))
            return true;
    }
    return false;
}

static bool apart(struct js *js, struct conj *a, const struct conj *b, bool change, int depth)
{
    struct conj x, y;
    struct facts fx, fy;
    if (js->err || depth > APART_DEPTH || ++js->work > APART_WORK)
        return false;
    if (!js_flatten(js, a, &x) || !js_flatten(js, b, &y))
        return !js->err; /* one of the two branches allows no value */
    if (x.n == 0 || y.n == 0 || !js_facts(js, &x, &fx) || !js_facts(js, &y, &fy))
        return false;
    if (fx.has_enum)
        return listed_apart(js, &x, &y);
    if (fy.has_enum)
        return listed_apart(js, &y, &x);
    unsigned common = js_types_made(&fx) & fy.types;
    if (common & (TYPE_NULL | TYPE_BOOL))
        return false;
    if ((common & (TYPE_INTEGER | TYPE_FRACTION)) && !numbers_apart(&fx, &fy))
        return false;
    if ((common & TYPE_STRING) && !strings_apart(js, &x, &fx, &y, &fy))
        return false;
    if ((common & TYPE_ARRAY) && !arrays_apart(js, &x, &fx, &y, &fy, depth))
        return false;
    return !(common & TYPE_OBJECT) || objects_apart(js, a, &x, &y, change, depth);
}

bool js_apart(struct js *js, struct conj *a, const struct conj *b)
{
    return apart(js, a, b, true, 0);
}
