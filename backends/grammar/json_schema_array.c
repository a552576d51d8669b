/* Arrays: first the listed items in order, then the items that "items" describes. */
#include "grammar/json_schema_private.h"

#include <stdlib.h>

enum { LISTED_MAX = 4096 };

/* Returns the listed items of one schema and the schema of the items after them: prefixItems and
 * items in 2020-12, items (an array) and additionalItems in earlier drafts. NULL: absent. */
static void lists_of(struct js *js, const struct qn_jref *s, const struct qn_jref **listed,
                     const struct qn_jref **rest)
{
    const struct qn_jref *items = js_get(js, s, "items");
    *listed = js_get(js, s, "prefixItems");
    *rest = items;
    if (items && qn_json_type(items) == QN_JSON_ARRAY) {
        *listed = items;
        *rest = js_get(js, s, "additionalItems");
    }
}

bool js_item_parts(struct js *js, const struct conj *c, size_t index, struct conj *out)
{
    *out = (struct conj){0};
    for (size_t i = 0; i < c->n && !js->err; i++) {
        const struct qn_jref *listed, *rest;
        lists_of(js, c->v[i].ref, &listed, &rest);
        const struct qn_jref *own = listed ? js_item(js, listed, index) : NULL;
        if (own || rest)
            conj_add(js, out, own ? own : rest, 0);
    }
    return !js->err;
}

static const struct qn_gx *with_comma(struct js *js, const struct qn_gx *x)
{
    const struct qn_gx *v[2] = {js->comma, x};
    return qn_gx_seq(js->g, v, 2);
}

/* lo to hi items, the first without a comma. */
static const struct qn_gx *list_of(struct js *js, const struct qn_gx *item, uint32_t lo,
                                   uint32_t hi)
{
    if (hi == 0)
        return lo ? qn_gx_never(js->g) : qn_gx_empty(js->g);
    const struct qn_gx *v[2] = {item, qn_gx_repeat(js->g, with_comma(js, item), lo > 0 ? lo - 1 : 0,
                                                   hi == QN_REPEAT_EVER ? hi : hi - 1)};
    return qn_gx_repeat(js->g, qn_gx_seq(js->g, v, 2), lo > 0, 1);
}

/* Distinct values of a short list: one rule for each set of values that have already been
 * written. */
static const struct qn_gx *make_unique(struct js *js, const struct conj *item, uint32_t min,
                                       uint32_t max)
{
    struct conj flat;
    struct facts f;
    const struct qn_jref **values = NULL;
    size_t n = 0, kept = 0;
    const struct qn_gx *text[QN_SCHEMA_UNIQUE_MAX], *x = qn_gx_never(js->g);
    uint32_t rules[1 << QN_SCHEMA_UNIQUE_MAX];
    if (!js_flatten(js, item, &flat) || !js_facts(js, &flat, &f))
        return x;
    if (f.has_enum && !js_listed(js, &flat, &values, &n))
        return x;
    for (size_t i = 0; i < n && kept <= QN_SCHEMA_UNIQUE_MAX; i++) {
        bool twice = false;
        for (size_t k = 0; k < i && !twice; k++)
            twice = js_equal(js, values[i], values[k]);
        if (!twice && kept++ < QN_SCHEMA_UNIQUE_MAX) {
            struct qn_buf b;
            qn_buf_init(&b, 1 << 20);
            qn_json_print(values[i], &b);
            text[kept - 1] = qn_gx_bytes(js->g, b.data, b.len);
            qn_buf_deinit(&b);
        }
    }
    free(values);
    if (!f.has_enum || kept > QN_SCHEMA_UNIQUE_MAX) {
        js_fail(js, item->n ? item->v[0].ref : NULL, QN_EUNSUPPORTED,
                "uniqueItems: only for items with an enum of at most %d values",
                QN_SCHEMA_UNIQUE_MAX);
        return x;
    }
    for (unsigned set = 0; set < 1u << kept; set++)
        rules[set] = qn_grammar_rule(js->g, "$unique");
    for (unsigned set = 0; set < 1u << kept && !js->g->full; set++) {
        struct qn_gx_list ways = {0};
        uint32_t count = (uint32_t)__builtin_popcount(set);
        if (count >= min)
            qn_gx_push(&ways, qn_gx_empty(js->g));
        for (size_t k = 0; k < kept && count < max; k++) {
            if (set >> k & 1)
                continue;
            const struct qn_gx *v[2] = {text[k], qn_gx_rule(js->g, rules[set | 1u << k])};
            const struct qn_gx *one = qn_gx_seq(js->g, v, 2);
            qn_gx_push(&ways, count ? with_comma(js, one) : one);
        }
        js->g->rules[rules[set]].body = qn_gx_alt(js->g, ways.v, ways.n);
        qn_gx_list_deinit(&ways);
    }
    return qn_gx_rule(js->g, rules[0]);
}

/* At least one of the items conforms to "contains"; the other items may conform too. */
static const struct qn_gx *make_contains(struct js *js, const struct conj *item,
                                         const struct qn_jref *contains, uint32_t min, uint32_t max)
{
    struct conj both = conj_copy(js, item);
    conj_add(js, &both, contains, 0);
    const struct qn_gx *any = js_rule(js, item), *one = js_rule(js, &both);
    const struct qn_gx *before[2] = {any, js->comma};
    const struct qn_gx *v[3] = {qn_gx_repeat(js->g, qn_gx_seq(js->g, before, 2), 0, QN_REPEAT_EVER),
                                one,
                                qn_gx_repeat(js->g, with_comma(js, any), min > 1 ? min - 1 : 0,
                                             max == QN_REPEAT_EVER ? max : max - 1)};
    /* With an upper bound, the conforming item comes first. */
    return max == QN_REPEAT_EVER ? qn_gx_seq(js->g, v, 3) : qn_gx_seq(js->g, v + 1, 2);
}

static const struct qn_gx *make_items(struct js *js, const struct conj *c, const struct facts *f)
{
    size_t listed = 0;
    bool more = f->min_items > 0, described = false;
    const struct qn_jref *contains = NULL;
    struct qn_grammar *g = js->g;
    for (size_t i = 0; i < c->n; i++) {
        const struct qn_jref *list, *rest, *s = c->v[i].ref, *here = js_get(js, s, "contains");
        lists_of(js, s, &list, &rest);
        size_t n = list ? qn_json_count(list) : 0;
        listed = n > listed ? n : listed;
        described |= rest != NULL;
        if (!here)
            continue;
        struct qn_jref least = qn_json_get(s, "minContains"), most = qn_json_get(s, "maxContains");
        if (qn_json_type(&least) == QN_JSON_NUMBER && qn_json_raw_f64(&least) == 0 &&
            qn_json_type(&most) == QN_JSON_ABSENT)
            continue; /* minContains 0 without maxContains requires nothing */
        if (contains || qn_json_type(&most) != QN_JSON_ABSENT ||
            (qn_json_type(&least) != QN_JSON_ABSENT && qn_json_raw_f64(&least) != 1)) {
            js_fail(
                js, here, QN_EUNSUPPORTED,
                "contains is only supported once, without maxContains and with minContains 0 or 1");
            return qn_gx_never(g);
        }
        contains = here;
    }
    struct conj rest;
    if (f->min_items > f->max_items)
        return qn_gx_never(g);
    if (listed > LISTED_MAX) {
        js_fail(js, c->v[0].ref, QN_ELIMIT, "more than %d listed items", LISTED_MAX);
        return qn_gx_never(g);
    }
    if (!js_item_parts(js, c, SIZE_MAX, &rest))
        return qn_gx_never(g);
    if (f->max_items == 0)
        return f->min_items || contains ? qn_gx_never(g) : qn_gx_empty(g);
    if (f->unique && f->max_items > 1) {
        if (listed == 0 && !contains)
            return make_unique(js, &rest, f->min_items, f->max_items);
        js_fail(js, c->v[0].ref, QN_EUNSUPPORTED,
                "uniqueItems is not supported together with prefixItems or contains");
        return qn_gx_never(g);
    }
    if (contains && listed == 0)
        return make_contains(js, &rest, contains, f->min_items, f->max_items);
    if (contains) {
        js_fail(js, contains, QN_EUNSUPPORTED,
                "contains is not supported together with prefixItems");
        return qn_gx_never(g);
    }
    if (listed == 0)
        return list_of(js, js_rule(js, &rest), f->min_items, f->max_items);
    /* Builds from the last listed item to the first; `tail` is what may follow an item. */
    uint32_t n = (uint32_t)listed;
    const struct qn_gx *tail = f->min_items > n ? qn_gx_never(g) : qn_gx_empty(g);
    if (n >= f->max_items)
        n = f->max_items;
    else if (described || (more && f->min_items > n))
        tail = qn_gx_repeat(g, with_comma(js, js_rule(js, &rest)),
                            f->min_items > n ? f->min_items - n : 0,
                            f->max_items == QN_REPEAT_EVER ? QN_REPEAT_EVER : f->max_items - n);
    for (uint32_t i = n; i-- > 0 && !js->err;) {
        struct conj one;
        js_item_parts(js, c, i, &one);
        const struct qn_gx *v[2] = {js_rule(js, &one), tail};
        const struct qn_gx *x = qn_gx_seq(g, v, 2);
        uint32_t rule = qn_grammar_rule(g, "$items");
        if (g->full)
            return qn_gx_never(g);
        g->rules[rule].body = qn_gx_repeat(g, i ? with_comma(js, x) : x, i < f->min_items, 1);
        tail = qn_gx_rule(g, rule);
    }
    return tail;
}

const struct qn_gx *js_array(struct js *js, const struct conj *c, const struct facts *f)
{
    const struct qn_gx *v[5] = {qn_gx_text(js->g, "["), js->space, make_items(js, c, f), js->space,
                                qn_gx_text(js->g, "]")};
    for (size_t i = 1; i < c->n; i++) {
        const struct qn_jref *u = js_get(js, c->v[i].ref, "unevaluatedItems");
        if (u && !(qn_json_type(u) == QN_JSON_BOOL && qn_json_raw_bool(u)))
            js_fail(js, u, QN_EUNSUPPORTED,
                    "unevaluatedItems is not supported in one of several combined schemas");
    }
    return qn_gx_seq(js->g, v, 5);
}
