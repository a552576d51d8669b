/* See json_schema.h. Source: JSON Schema core and validation, 2020-12, and their earlier drafts. */
#include "grammar/json_schema_private.h"

#include "base/hash.h"
#include "base/rand.h"
#include "base/str.h"
#include "grammar/constrain_regex.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALTERNATIVES_MAX = 1024, REFS_MAX = 64 };

bool js_fail(struct js *js, const struct qn_jref *ref, qn_err code, const char *fmt, ...)
{
    char path[256] = "", text[512];
    va_list ap;
    if (js->err)
        return false;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (ref)
        qn_json_path(ref, path, sizeof path);
    js->err = qn_fail(js->e, code, "%s%s%s", path, path[0] ? ": " : "", text);
    return false;
}

bool js_take(struct js *js, uint64_t steps)
{
    struct qn_error why = {0};
    if (!js->err && !qn_budget_take(js->g->budget, steps)) {
        qn_budget_fail(&why);
        js_fail(js, NULL, QN_ELIMIT, "%s", why.message);
    }
    return !js->err;
}

const struct qn_jref *js_keep(struct js *js, const struct qn_jref *ref)
{
    struct qn_jref *copy = qn_arena_try(js->g->arena, sizeof *copy);
    if (!copy) {
        js_fail(js, ref, QN_ELIMIT, "the schema is too large");
        return js->root;
    }
    *copy = *ref;
    return copy;
}

const struct qn_jref *js_get(struct js *js, const struct qn_jref *ref, const char *key)
{
    if (!js_take(js, 1 + qn_json_count(ref) / 2))
        return NULL;
    struct qn_jref r = qn_json_get(ref, key);
    return qn_json_type(&r) == QN_JSON_ABSENT ? NULL : js_keep(js, &r);
}

const struct qn_jref *js_item(struct js *js, const struct qn_jref *ref, size_t index)
{
    struct qn_jref it;
    js_take(js, qn_json_count(ref));
    for (bool more = qn_json_first(ref, &it); more; more = qn_json_next(&it))
        if (index-- == 0)
            return js_keep(js, &it);
    return NULL;
}

const struct qn_jref *js_aux(struct js *js, const char *json, size_t n)
{
    struct qn_json *doc;
    if (!js_take(js, n) || qn_json_parse(json, n, &doc, NULL)) {
        js_fail(js, NULL, QN_ELIMIT, "the schema is too large");
        return NULL;
    }
    js->aux = qn_xrealloc(js->aux, (js->n_aux + 1) * sizeof(struct qn_json *));
    js->aux[js->n_aux++] = doc;
    struct qn_jref root = qn_json_root(doc);
    return js_keep(js, &root);
}

/* Reads one step of a JSON pointer (RFC 6901) that is percent-encoded as in a URI's fragment. */
static bool pointer_step(const char **at, struct qn_buf *out)
{
    qn_buf_clear(out);
    const char *s = *at;
    for (; *s && *s != '/'; s++) {
        char c = *s;
        if (c == '%') {
            char hex[3] = {s[1], s[1] ? s[2] : 0, 0};
            char *end;
            long v = strtol(hex, &end, 16);
            if (end != hex + 2 || v == 0)
                return false;
            c = (char)v;
            s += 2;
        }
        if (c == '~') {
            if (s[1] != '0' && s[1] != '1')
                return false;
            c = *++s == '0' ? '~' : '/';
        }
        qn_buf_char(out, c);
    }
    *at = s;
    return !out->overflow;
}

/* Depth-first search below `at` for the schema that declares this anchor; NULL: none. */
static const struct qn_jref *find_named(struct js *js, const struct qn_jref *at, const char *anchor,
                                        const char *id)
{
    enum qn_json_type type = qn_json_type(at);
    if ((type != QN_JSON_OBJECT && type != QN_JSON_ARRAY) || !js_take(js, 4 + qn_json_count(at)))
        return NULL;
    if (type == QN_JSON_OBJECT) {
        struct qn_jref a = qn_json_get(at, "$anchor"), i = qn_json_get(at, "$id");
        const char *name = qn_json_raw_str(&i);
        if (anchor && (strcmp(qn_json_raw_str(&a), anchor) == 0 ||
                       (name[0] == '#' && strcmp(name + 1, anchor) == 0)))
            return js_keep(js, at);
        if (id && name[0] && strcmp(name, id) == 0)
            return js_keep(js, at);
    }
    struct qn_jref it;
    for (bool more = qn_json_first(at, &it); more; more = qn_json_next(&it)) {
        const struct qn_jref *kept = js_keep(js, &it);
        const struct qn_jref *found = js->err ? NULL : find_named(js, kept, anchor, id);
        if (found)
            return found;
    }
    return NULL;
}

const struct qn_jref *js_resolve(struct js *js, const struct qn_jref *schema, const char *ref)
{
    const struct qn_jref *at = js->root;
    const char *hash = strchr(ref, '#');
    struct qn_jref root_id = qn_json_get(js->root, "$id");
    const char *id = qn_json_raw_str(&root_id);
    size_t n = hash ? (size_t)(hash - ref) : strlen(ref);
    if (n > 0 && !(strncmp(id, ref, n) == 0 && (id[n] == 0 || strcmp(id + n, "#") == 0))) {
        size_t kept = n < 1024 ? n : 1024;
        char *base = qn_arena_try(js->g->arena, kept + 1);
        if (!base) {
            js_fail(js, schema, QN_ELIMIT, "the schema is too large");
            return NULL;
        }
        memcpy(base, ref, kept);
        base[kept] = 0;
        at = find_named(js, js->root, NULL, base);
        if (!at) {
            js_fail(js, schema, QN_EUNSUPPORTED,
                    "$ref \"%.100s\" is not in this schema; put what it refers to under $defs",
                    ref);
            return NULL;
        }
    }
    const char *s = hash ? hash + 1 : "";
    if (*s && *s != '/') {
        const struct qn_jref *found = find_named(js, at, s, NULL);
        if (!found)
            js_fail(js, schema, QN_EINVAL, "$ref \"%.100s\" does not resolve to a schema", ref);
        return found;
    }
    struct qn_buf key;
    qn_buf_init(&key, QN_JSON_VALUES_MAX);
    while (*s == '/' && at) {
        s++;
        if (!pointer_step(&s, &key)) {
            at = NULL;
        } else if (qn_json_type(at) == QN_JSON_ARRAY) {
            int64_t index;
            at = qn_parse_i64(qn_buf_cstr(&key), &index) && index >= 0
                     ? js_item(js, at, (size_t)index)
                     : NULL;
        } else {
            char *name = qn_arena_try(js->g->arena, key.len + 1);
            if (name)
                memcpy(name, qn_buf_cstr(&key), key.len + 1);
            at = name ? js_get(js, at, name) : NULL;
        }
    }
    qn_buf_deinit(&key);
    if (!at)
        js_fail(js, schema, QN_EINVAL, "$ref \"%.100s\" does not resolve to a schema", ref);
    return at;
}

void conj_add(struct js *js, struct conj *c, const struct qn_jref *ref, unsigned done)
{
    for (size_t i = 0; i < c->n; i++) {
        if (c->v[i].ref->node == ref->node) {
            c->v[i].done |= done;
            return;
        }
    }
    struct part *v =
        c->n < QN_SCHEMA_PARTS_MAX ? qn_arena_try(js->g->arena, (c->n + 1) * sizeof *v) : NULL;
    if (!v) {
        js_fail(js, ref, QN_ELIMIT, "too many schemas apply to one value");
        return;
    }
    if (c->n > 0)
        memcpy(v, c->v, c->n * sizeof *v);
    v[c->n] = (struct part){ref, done};
    c->v = v;
    c->n++;
}

struct conj conj_copy(struct js *js, const struct conj *c)
{
    struct conj copy = {0};
    if (c->n == 0)
        return copy;
    struct part *v = qn_arena_try(js->g->arena, c->n * sizeof *v);
    if (!v) {
        js_fail(js, c->v[0].ref, QN_ELIMIT, "the schema is too large");
        return copy;
    }
    memcpy(v, c->v, c->n * sizeof *v);
    copy.v = v;
    copy.n = c->n;
    return copy;
}

struct conj conj_copy_done(struct js *js, const struct conj *c, size_t part, unsigned done)
{
    struct conj copy = conj_copy(js, c);
    if (part < copy.n) /* a failed copy: the arena is full */
        copy.v[part].done |= done;
    return copy;
}

bool js_flatten(struct js *js, const struct conj *in, struct conj *out)
{
    *out = conj_copy(js, in);
    for (size_t i = 0; i < out->n && !js->err; i++) {
        const struct qn_jref *s = out->v[i].ref;
        enum qn_json_type type = qn_json_type(s);
        js_take(js, out->n);
        if (type == QN_JSON_BOOL) {
            if (!qn_json_raw_bool(s))
                return false;
            continue;
        }
        if (type != QN_JSON_OBJECT)
            return js_fail(js, s, QN_EINVAL, "expected a schema, found %s",
                           qn_json_type_name(type));
        const struct qn_jref *ref = js_get(js, s, "$ref"), *all = js_get(js, s, "allOf");
        if (ref && qn_json_type(ref) != QN_JSON_STRING)
            return js_fail(js, ref, QN_EINVAL, "expected a string");
        if (ref) {
            const struct qn_jref *target = js_resolve(js, s, qn_json_raw_str(ref));
            if (target)
                conj_add(js, out, target, 0);
        }
        if (all && qn_json_type(all) != QN_JSON_ARRAY)
            return js_fail(js, all, QN_EINVAL, "expected an array");
        struct qn_jref it;
        for (bool more = all && qn_json_first(all, &it); more && !js->err; more = qn_json_next(&it))
            conj_add(js, out, js_keep(js, &it), 0);
    }
    return !js->err;
}

static uint64_t conj_hash(const struct conj *c)
{
    uint64_t h = 5;
    for (size_t i = 0; i < c->n; i++)
        h = qn_hash_u64(h, (uint64_t)(uintptr_t)c->v[i].ref->node ^ (uint64_t)c->v[i].done << 56);
    return h;
}

static struct memo *memo_slot(struct memo *slots, size_t mask, const struct conj *c)
{
    size_t at = conj_hash(c) & mask;
    for (;; at = (at + 1) & mask) {
        struct memo *m = &slots[at];
        bool same = m->all.n == c->n;
        for (size_t i = 0; i < c->n && same; i++)
            same = m->all.v[i].ref->node == c->v[i].ref->node && m->all.v[i].done == c->v[i].done;
        if (!m->rule || same)
            return m;
    }
}

const struct qn_gx *js_rule(struct js *js, const struct conj *c)
{
    if (c->n == 0)
        return js_any(js);
    if (js->n_memo * 2 >= js->memo_mask) {
        size_t mask = js->memo_mask * 2 + 1;
        struct memo *slots = qn_xcalloc(mask + 1, sizeof *slots);
        for (size_t i = 0; i <= js->memo_mask && js->memo; i++)
            if (js->memo[i].rule)
                *memo_slot(slots, mask, &js->memo[i].all) = js->memo[i];
        free(js->memo);
        js->memo = slots;
        js->memo_mask = mask;
    }
    struct memo *m = memo_slot(js->memo, js->memo_mask, c);
    if (!m->rule) {
        char name[256];
        qn_json_path(c->v[0].ref, name, sizeof name);
        uint32_t rule = qn_grammar_rule(js->g, name[0] ? name : "$");
        if (js->g->full) {
            js_fail(js, c->v[0].ref, QN_ELIMIT, "the schema has too many parts");
            return qn_gx_never(js->g);
        }
        if (js->n_jobs == js->cap_jobs) {
            js->cap_jobs = js->cap_jobs ? js->cap_jobs * 2 : 32;
            js->jobs = qn_xrealloc(js->jobs, js->cap_jobs * sizeof *js->jobs);
        }
        js->jobs[js->n_jobs++] = (struct job){rule, *c};
        *m = (struct memo){*c, rule + 1};
        js->n_memo++;
    }
    return qn_gx_rule(js->g, m->rule - 1);
}

const struct qn_gx *js_dfa(struct js *js, struct qn_dfa *d, qn_err err, const struct qn_jref *ref,
                           const struct qn_error *why)
{
    if (err) {
        js_fail(js, ref, err, "%s", why->message);
        return qn_gx_never(js->g);
    }
    if (qn_dfa_is_empty(d)) {
        qn_dfa_deinit(d);
        return qn_gx_never(js->g);
    }
    return qn_gx_dfa(js->g, qn_grammar_dfa(js->g, d));
}

static const struct qn_gx *fixed(struct js *js, const char *pattern)
{
    struct qn_dfa d;
    struct qn_error why = {0};
    qn_err err = qn_regex_compile(pattern, QN_GX_UTF8, js->g->budget, &d, &why);
    return js_dfa(js, &d, err, NULL, &why);
}

/* Makes the expressions that all schemas share: white space, punctuation, and values without
 * bounds. */
static void make_shared(struct js *js)
{
    static const char four[] =
        "(0(00[1-9a-fA-F]|0[1-9a-fA-F][0-9a-fA-F]|[1-9a-fA-F][0-9a-fA-F]{2})|"
        "[1-9a-cA-CefEF][0-9a-fA-F]{3}|[dD][0-7][0-9a-fA-F]{2}|"
        "[dD][89abAB][0-9a-fA-F]{2}\\\\u[dD][c-fC-F][0-9a-fA-F]{2})";
    char string[512];
    struct qn_error why = {0};
    snprintf(string, sizeof string, "^\"([^\"\\\\\\x00-\\x1f]|\\\\([\"\\\\/bfnrt]|u%s))*\"$", four);
    qn_err err = qn_regex_compile(string, QN_GX_UTF8, js->g->budget, &js->plain_string, &why);
    struct qn_dfa copy = js->plain_string;
    if (!err) {
        size_t cells = (size_t)copy.n * copy.classes;
        copy.next = qn_xcalloc(cells, sizeof *copy.next);
        memcpy(copy.next, js->plain_string.next, cells * sizeof *copy.next);
        copy.flags = qn_xcalloc(copy.n, 1);
        memcpy(copy.flags, js->plain_string.flags, copy.n);
    }
    js->string = js_dfa(js, &copy, err, NULL, &why);
    js->space = fixed(js, "^( |\\n( {0,40}|\\t{0,10}))?$");
    js->comma = fixed(js, "^,( |\\n( {0,40}|\\t{0,10}))?$");
    js->colon = fixed(js, "^: ?$");
    js->integer = fixed(js, "^(0|-?[1-9][0-9]{0,17})$");
    js->number = fixed(js, "^-?(0|[1-9][0-9]{0,14})(\\.[0-9]{1,15})?([eE][+-]?[0-9]{1,2})?$");
}

const struct qn_gx *js_any(struct js *js)
{
    if (js->any)
        return js->any;
    struct qn_grammar *g = js->g;
    const struct qn_gx *inner = NULL;
    for (int level = 0; level <= QN_SCHEMA_ANY_DEPTH; level++) {
        const struct qn_gx *words[3] = {qn_gx_text(g, "true"), qn_gx_text(g, "false"),
                                        qn_gx_text(g, "null")};
        const struct qn_gx *v[5] = {js->string, js->number, qn_gx_alt(g, words, 3)};
        size_t n = 3;
        if (inner) {
            const struct qn_gx *member[3] = {js->string, js->colon, inner};
            const struct qn_gx *one[2] = {qn_gx_seq(g, member, 3), inner};
            for (int k = 0; k < 2; k++) {
                const struct qn_gx *more[2] = {js->comma, one[k]};
                const struct qn_gx *list[2] = {
                    one[k], qn_gx_repeat(g, qn_gx_seq(g, more, 2), 0, QN_REPEAT_EVER)};
                const struct qn_gx *all[5] = {qn_gx_text(g, k ? "[" : "{"), js->space,
                                              qn_gx_repeat(g, qn_gx_seq(g, list, 2), 0, 1),
                                              js->space, qn_gx_text(g, k ? "]" : "}")};
                v[n++] = qn_gx_seq(g, all, 5);
            }
        }
        char name[32];
        snprintf(name, sizeof name, "$any.%d", QN_SCHEMA_ANY_DEPTH - level);
        uint32_t rule = qn_grammar_rule(g, name);
        if (g->full)
            return qn_gx_never(g);
        g->rules[rule].body = qn_gx_alt(g, v, n);
        inner = qn_gx_rule(g, rule);
    }
    return js->any = inner;
}

/* The values of enum or const that conform to all schemas of the conjunction. */
static const struct qn_gx *make_listed(struct js *js, const struct conj *c)
{
    const struct qn_jref **values;
    size_t n;
    if (!js_listed(js, c, &values, &n))
        return qn_gx_never(js->g);
    const struct qn_gx *x = js_texts(js, (const struct qn_jref *const *)values, n);
    free(values);
    return x;
}

/* c must be flattened: it has only keywords that describe values directly, no references or
 * alternatives. */
static const struct qn_gx *make_value(struct js *js, const struct conj *c)
{
    struct facts f;
    struct qn_gx_list l = {0};
    struct qn_grammar *g = js->g;
    if (!js_facts(js, c, &f))
        return qn_gx_never(g);
    if (f.has_enum)
        return make_listed(js, c);
    unsigned types = js_types_made(&f);
    if (types == TYPE_ANY && !f.object_words && !f.array_words && !f.string_words &&
        !f.number_words)
        return js_any(js);
    if (types & TYPE_OBJECT)
        qn_gx_push(&l, js_object(js, c, &f));
    if (types & TYPE_ARRAY)
        qn_gx_push(&l, js_array(js, c, &f));
    if (types & TYPE_STRING)
        qn_gx_push(&l, js_string(js, c, &f));
    if (types & (TYPE_INTEGER | TYPE_FRACTION))
        qn_gx_push(&l, js_number(js, c, &f, !(types & TYPE_FRACTION)));
    if (types & TYPE_BOOL) {
        const struct qn_gx *words[2] = {qn_gx_text(g, "true"), qn_gx_text(g, "false")};
        qn_gx_push(&l, qn_gx_alt(g, words, 2));
    }
    if (types & TYPE_NULL)
        qn_gx_push(&l, qn_gx_text(g, "null"));
    const struct qn_gx *x = qn_gx_alt(g, l.v, l.n);
    qn_gx_list_deinit(&l);
    return x;
}

/* Fails when a branch leads, by $ref alone, back to a schema whose branches are being expanded;
 * such a schema would never end. */
static void check_end(struct js *js, const struct conj *c, const struct qn_jref *branch)
{
    const struct qn_jref *at = branch;
    for (int step = 0; at && step < REFS_MAX && !js->err; step++) {
        for (size_t i = 0; i < c->n; i++)
            if (c->v[i].ref->node == at->node)
                js_fail(js, branch, QN_EUNSUPPORTED, "refers to itself endlessly");
        const struct qn_jref *ref = js_get(js, at, "$ref");
        at = ref && qn_json_type(ref) == QN_JSON_STRING ? js_resolve(js, at, qn_json_raw_str(ref))
                                                        : NULL;
    }
}

/* anyOf or oneOf of one part: each branch is combined with all other schemas of the conjunction. */
static const struct qn_gx *make_branches(struct js *js, const struct conj *c, size_t part,
                                         const struct qn_jref *list, bool one)
{
    size_t n = qn_json_count(list);
    if (qn_json_type(list) != QN_JSON_ARRAY || n == 0) {
        js_fail(js, list, QN_EINVAL, "expected an array of schemas");
        return qn_gx_never(js->g);
    }
    if (n > ALTERNATIVES_MAX) {
        js_fail(js, list, QN_ELIMIT, "more than %d alternatives", ALTERNATIVES_MAX);
        return qn_gx_never(js->g);
    }
    struct conj *branch = qn_xcalloc(n, sizeof *branch), *made = qn_xcalloc(n, sizeof *made);
    struct qn_jref it;
    size_t i = 0;
    for (bool more = qn_json_first(list, &it); more; more = qn_json_next(&it), i++) {
        branch[i] = conj_copy_done(js, c, part, one ? DONE_ONE_OF : DONE_ANY_OF);
        check_end(js, c, js_keep(js, &it));
        conj_add(js, &branch[i], js_keep(js, &it), 0);
        made[i] = conj_copy(js, &branch[i]);
    }
    for (i = 0; one && i < n && !js->err; i++) {
        struct conj flat;
        if (!js_flatten(js, &made[i], &flat))
            continue;
        for (size_t k = 0; k < n && !js->err; k++) {
            if (k == i || !js_flatten(js, &branch[k], &flat))
                continue;
            if (!js_apart(js, &made[i], &branch[k]))
                js_fail(
                    js, list, QN_EUNSUPPORTED,
                    "a value could be valid by branch %zu and by branch %zu: use anyOf, or tell "
                    "the branches apart by a property with a const",
                    i, k);
        }
    }
    struct qn_gx_list l = {0};
    for (i = 0; i < n && !js->err; i++)
        qn_gx_push(&l, js_rule(js, &made[i]));
    const struct qn_gx *x = qn_gx_alt(js->g, l.v, l.n);
    qn_gx_list_deinit(&l);
    free(branch);
    free(made);
    return x;
}

static const struct qn_gx *make(struct js *js, const struct conj *in)
{
    struct conj c;
    if (!js_flatten(js, in, &c))
        return qn_gx_never(js->g);
    for (size_t i = 0; i < c.n && !js->err; i++) {
        const struct qn_jref *any = js_get(js, c.v[i].ref, "anyOf");
        const struct qn_jref *one = js_get(js, c.v[i].ref, "oneOf");
        if (any && !(c.v[i].done & DONE_ANY_OF))
            return make_branches(js, &c, i, any, false);
        if (one && !(c.v[i].done & DONE_ONE_OF))
            return make_branches(js, &c, i, one, true);
    }
    struct conj *ways;
    size_t n;
    if (js->err || !js_rewrite(js, &c, &ways, &n))
        return js->err ? qn_gx_never(js->g) : make_value(js, &c);
    struct qn_gx_list l = {0};
    for (size_t i = 0; i < n && !js->err; i++)
        qn_gx_push(&l, js_rule(js, &ways[i]));
    free(ways);
    const struct qn_gx *x = qn_gx_alt(js->g, l.v, l.n);
    qn_gx_list_deinit(&l);
    return x;
}

void js_begin(struct js *js, struct qn_grammar *g, const struct qn_jref *root, struct qn_error *e)
{
    *js = (struct js){.g = g, .e = e, .root = root, .memo_mask = 63};
    qn_random_bytes(&js->seed, sizeof js->seed);
    js->memo = qn_xcalloc(js->memo_mask + 1, sizeof *js->memo);
    make_shared(js);
}

void js_finish(struct js *js)
{
    while (js->next_job < js->n_jobs && js_take(js, 1) && !js->g->full) {
        struct job job = js->jobs[js->next_job++];
        const struct qn_gx *body = make(js, &job.all);
        js->g->rules[job.rule].body = body;
    }
    if (!js->err && js->g->full && js_take(js, 0))
        js_fail(js, NULL, QN_ELIMIT, "the schema is too large");
}

qn_err js_end(struct js *js)
{
    for (size_t i = 0; i < js->n_aux; i++)
        qn_json_free(js->aux[i]);
    free(js->aux);
    free(js->jobs);
    free(js->memo);
    js_sets_free(js);
    qn_dfa_deinit(&js->plain_string);
    qn_dfa_deinit(&js->matcher);
    return js->err;
}

qn_err qn_json_schema_add(struct qn_grammar *g, uint32_t rule, const char *schema,
                          struct qn_error *e)
{
    struct qn_json *doc;
    struct js js;
    qn_err err = qn_json_parse(schema, strlen(schema), &doc, e);
    if (err)
        return err;
    struct qn_jref root = qn_json_root(doc);
    struct conj all = {0};
    js_begin(&js, g, &root, e);
    conj_add(&js, &all, &root, 0);
    g->rules[rule].body = js.err ? qn_gx_never(g) : js_rule(&js, &all);
    js_finish(&js);
    err = js_end(&js);
    qn_json_free(doc);
    return err;
}
