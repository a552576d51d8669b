/* Values of enum and const. Finds the listed values that are valid by all schemas that apply at the
 * same place (two long lists are compared by hash), and makes a grammar expression that matches
 * their JSON texts. */
#include "grammar/json_schema_private.h"

#include "base/hash.h"
#include "grammar/constrain_words.h"

#include <stdlib.h>
#include <string.h>

enum {
    SHORT_LIST = 16,    /* lists up to this length are searched linearly */
    WORDS_BYTES = 4096, /* bytes of texts above which they are compiled to one automaton directly */
    VALUE_BYTES_MAX = 16 << 20
};

/* Hash set of the items of a long list. */
struct listed_set {
    const void *list; /* the list's JSON node; NULL: the slot is free */
    struct qn_jref *items;
    uint32_t *slot; /* [mask + 1] item + 1; 0: free */
    size_t mask;
};

bool js_equal(struct js *js, const struct qn_jref *a, const struct qn_jref *b)
{
    enum qn_json_type type = qn_json_type(a);
    struct qn_jref x, y;
    if (type != qn_json_type(b) || !js_take(js, 1))
        return false;
    switch (type) {
    case QN_JSON_BOOL:
        return qn_json_raw_bool(a) == qn_json_raw_bool(b);
    case QN_JSON_NUMBER:
        return qn_json_raw_f64(a) == qn_json_raw_f64(b);
    case QN_JSON_STRING:
        return strcmp(qn_json_raw_str(a), qn_json_raw_str(b)) == 0;
    case QN_JSON_ARRAY: {
        bool more = qn_json_first(a, &x), other = qn_json_first(b, &y);
        while (more && other && js_equal(js, &x, &y)) {
            more = qn_json_next(&x);
            other = qn_json_next(&y);
        }
        return !more && !other;
    }
    case QN_JSON_OBJECT: {
        size_t n = qn_json_count(a);
        if (n != qn_json_count(b))
            return false;
        for (bool more = qn_json_first(a, &x); more; more = qn_json_next(&x)) {
            if (!js_take(js, n))
                return false;
            y = qn_json_get(b, x.key);
            if (!js_equal(js, &x, &y))
                return false;
        }
        return true;
    }
    default:
        return true;
    }
}

/* Equal values have equal hashes: the order of members does not matter, and -0 hashes like 0. */
static uint64_t value_hash(struct js *js, const struct qn_jref *v)
{
    enum qn_json_type type = qn_json_type(v);
    uint64_t h = qn_hash_u64(js->seed, (uint64_t)type);
    struct qn_jref it;
    const char *s = qn_json_raw_str(v);
    double number = qn_json_raw_f64(v);
    js_take(js, 1);
    if (type == QN_JSON_NUMBER && number != 0)
        return qn_hash_bytes(h, &number, sizeof number);
    if (type == QN_JSON_STRING)
        return qn_hash_bytes(h, s, strlen(s));
    if (type == QN_JSON_BOOL)
        return qn_hash_u64(h, qn_json_raw_bool(v));
    for (bool more = qn_json_first(v, &it); more; more = qn_json_next(&it)) {
        uint64_t one = value_hash(js, &it);
        if (type == QN_JSON_ARRAY)
            h = qn_hash_u64(h, one);
        else
            h += qn_hash_bytes(one, it.key, strlen(it.key));
    }
    return h;
}

static struct listed_set *set_slot(struct listed_set *sets, size_t mask, const void *list)
{
    size_t i = qn_hash_u64(3, (uint64_t)(uintptr_t)list) & mask;
    while (sets[i].list && sets[i].list != list)
        i = (i + 1) & mask;
    return &sets[i];
}

static void fill_set(struct js *js, struct listed_set *s, const struct qn_jref *list)
{
    struct qn_jref it;
    size_t n = qn_json_count(list);
    *s = (struct listed_set){.list = list->node, .mask = 63};
    while (s->mask < n * 2)
        s->mask = s->mask * 2 + 1;
    s->items = qn_xcalloc(n, sizeof *s->items);
    s->slot = qn_xcalloc(s->mask + 1, sizeof *s->slot);
    size_t at = 0;
    for (bool more = qn_json_first(list, &it); more; more = qn_json_next(&it), at++) {
        size_t i = value_hash(js, &it) & s->mask;
        while (s->slot[i])
            i = (i + 1) & s->mask;
        s->slot[i] = (uint32_t)at + 1;
        s->items[at] = (struct qn_jref){.node = it.node};
    }
}

/* The list's hash set, built on the first call. */
static struct listed_set *set_of(struct js *js, const struct qn_jref *list)
{
    if (js->n_sets * 2 >= js->sets_mask) {
        size_t mask = js->sets_mask ? js->sets_mask * 2 + 1 : 15;
        struct listed_set *more = qn_xcalloc(mask + 1, sizeof *more);
        for (size_t i = 0; js->sets && i <= js->sets_mask; i++)
            if (js->sets[i].list)
                *set_slot(more, mask, js->sets[i].list) = js->sets[i];
        free(js->sets);
        js->sets = more;
        js->sets_mask = mask;
    }
    struct listed_set *s = set_slot(js->sets, js->sets_mask, list->node);
    if (!s->list) {
        fill_set(js, s, list);
        js->n_sets++;
    }
    return s;
}

void js_sets_free(struct js *js)
{
    for (size_t i = 0; js->sets && i <= js->sets_mask; i++) {
        free(js->sets[i].items);
        free(js->sets[i].slot);
    }
    free(js->sets);
    js->sets = NULL;
}

bool js_in_list(struct js *js, const struct qn_jref *list, const struct qn_jref *value)
{
    struct qn_jref it;
    size_t n = 0;
    for (bool more = qn_json_first(list, &it); more && n <= SHORT_LIST; more = qn_json_next(&it))
        n++;
    if (n <= SHORT_LIST) {
        for (bool more = qn_json_first(list, &it); more; more = qn_json_next(&it))
            if (js_equal(js, &it, value))
                return true;
        return false;
    }
    const struct listed_set *s = set_of(js, list);
    for (size_t i = value_hash(js, value) & s->mask; s->slot[i]; i = (i + 1) & s->mask)
        if (js_equal(js, &s->items[s->slot[i] - 1], value))
            return true;
    return false;
}

/* Whether the value is valid by every schema. The verdict UNKNOWN is reported as a failure. */
static bool satisfies(struct js *js, const struct conj *c, const struct qn_jref *from,
                      const struct qn_jref *value)
{
    enum verdict all = VALID;
    for (size_t k = 0; k < c->n && all == VALID; k++)
        all = js_check(js, c->v[k].ref, value, 0);
    if (all == UNKNOWN)
        js_fail(js, from, QN_EUNSUPPORTED,
                "enum or const is not supported next to keywords that cannot be checked");
    return all == VALID;
}

bool js_listed(struct js *js, const struct conj *c, const struct qn_jref ***values, size_t *n)
{
    *values = NULL;
    *n = 0;
    for (size_t i = 0; i < c->n; i++) {
        const struct qn_jref *constant = js_get(js, c->v[i].ref, "const"),
                             *listed = js_get(js, c->v[i].ref, "enum");
        if (!constant && !listed)
            continue;
        size_t count = constant ? 1 : qn_json_count(listed);
        if (count > QN_SCHEMA_VALUES_MAX)
            return js_fail(js, listed, QN_ELIMIT, "more than %d values", QN_SCHEMA_VALUES_MAX);
        const struct qn_jref **v = qn_xcalloc(count + 1, sizeof(struct qn_jref *));
        struct qn_jref it;
        bool more = constant || qn_json_first(listed, &it);
        while (more && !js->err) {
            const struct qn_jref *value = constant ? constant : js_keep(js, &it);
            if (satisfies(js, c, c->v[i].ref, value))
                v[(*n)++] = value;
            more = !constant && qn_json_next(&it);
        }
        if (!js->err) {
            *values = v;
            return true;
        }
        free(v);
        *n = 0;
        return false;
    }
    return !js->err;
}

const struct qn_gx *js_texts(struct js *js, const struct qn_jref *const *values, size_t n)
{
    struct qn_gx_list l = {0};
    size_t bytes = 0;
    for (size_t i = 0; i < n && !js->err; i++) {
        struct qn_buf text;
        qn_buf_init(&text, VALUE_BYTES_MAX);
        qn_json_print(values[i], &text);
        if (text.overflow)
            js_fail(js, values[i], QN_ELIMIT, "a value is too large");
        qn_gx_push(&l, qn_gx_bytes(js->g, text.data, text.len));
        bytes += text.len;
        qn_buf_deinit(&text);
    }
    const struct qn_gx *x;
    if (bytes <= WORDS_BYTES || js->g->full || js->err) {
        x = qn_gx_alt(js->g, l.v, l.n);
    } else {
        struct qn_dfa d;
        struct qn_error why = {0};
        qn_err err = qn_dfa_of_words(l.v, l.n, js->g->budget, &d, &why);
        x = js_dfa(js, &d, err, values[0], &why);
    }
    qn_gx_list_deinit(&l);
    return x;
}
