/* Strings written between delimiters instead of JSON quotes: the arguments of tool calls in model
 * families that use one tag per argument. */
#include "grammar/json_schema_private.h"

#include "grammar/calls_tools.h"
#include "grammar/constrain_regex.h"

#include <stdlib.h>
#include <string.h>

enum { BRANCHES_MAX = 64, DEPTH_MAX = 8 };

/* Texts that the parser of tool calls reads as a value of another type when the parameter's schema
 * allows that type too; see add_value in calls_xml.c. */
static const struct {
    unsigned type;
    const char *pattern;
} readings[] = {
    {QN_TYPE_NUMBER, "^\\s*-?[0-9]+(\\.[0-9]+)?([eE][+-]?[0-9]+)?\\s*$"},
    {QN_TYPE_BOOL, "^\\s*(true|false|True|False)\\s*$"},
    {QN_TYPE_NULL, "^\\s*(null|None)\\s*$"},
    {QN_TYPE_OBJECT, "^\\s*\\{"},
    {QN_TYPE_ARRAY, "^\\s*\\["},
};

/* The texts that are possible regardless of the schema: those without `until` that are not read as
 * one of the types in `others`. */
static qn_err make_frame(struct js *js, const char *until, unsigned others, struct qn_dfa *out,
                         struct qn_error *e)
{
    qn_err err = qn_dfa_without(js->g, until, out, e);
    for (size_t i = 0; i < sizeof readings / sizeof readings[0] && !err; i++) {
        struct qn_dfa one, rest;
        if (!(others & readings[i].type))
            continue;
        err = qn_regex_compile(readings[i].pattern, QN_GX_UTF8, js->g->budget, &one, e);
        if (!err) {
            err = qn_dfa_subtract(out, &one, js->g->budget, &rest, e);
            qn_dfa_deinit(&one);
        }
        qn_dfa_deinit(out);
        if (!err)
            *out = rest;
    }
    return err;
}

static const struct qn_gx *listed(struct js *js, const struct conj *c, const struct qn_dfa *frame)
{
    const struct qn_jref **values;
    struct qn_gx_list l = {0};
    size_t n;
    if (!js_listed(js, c, &values, &n))
        return qn_gx_never(js->g);
    for (size_t i = 0; i < n; i++) {
        const char *s = qn_json_raw_str(values[i]);
        if (qn_json_type(values[i]) == QN_JSON_STRING && qn_dfa_accepts(frame, s, strlen(s)))
            qn_gx_push(&l, qn_gx_text(js->g, s));
    }
    free(values);
    const struct qn_gx *x = qn_gx_alt(js->g, l.v, l.n);
    qn_gx_list_deinit(&l);
    return x;
}

static const struct qn_gx *strings(struct js *js, const struct conj *in, const struct qn_dfa *frame,
                                   int depth);

static const struct qn_gx *branches(struct js *js, const struct conj *c, size_t part,
                                    const struct qn_jref *list, const struct qn_dfa *frame,
                                    int depth)
{
    struct qn_gx_list l = {0};
    struct qn_jref it;
    size_t n = 0;
    for (bool more = qn_json_first(list, &it); more && !js->err; more = qn_json_next(&it)) {
        struct conj one = conj_copy_done(js, c, part, DONE_ANY_OF);
        if (++n > BRANCHES_MAX || depth == DEPTH_MAX)
            js_fail(js, list, QN_EUNSUPPORTED, "too many alternatives for a string");
        conj_add(js, &one, js_keep(js, &it), 0);
        if (!js->err)
            qn_gx_push(&l, strings(js, &one, frame, depth + 1));
    }
    const struct qn_gx *x = qn_gx_alt(js->g, l.v, l.n);
    qn_gx_list_deinit(&l);
    return x;
}

static const struct qn_gx *strings(struct js *js, const struct conj *in, const struct qn_dfa *frame,
                                   int depth)
{
    static const char *const words[] = {"oneOf", "if", "not", NULL};
    struct conj c;
    struct facts f;
    if (!js_flatten(js, in, &c))
        return qn_gx_never(js->g);
    for (size_t i = 0; i < c.n && !js->err; i++) {
        const struct qn_jref *any = js_get(js, c.v[i].ref, "anyOf");
        if (any && !(c.v[i].done & DONE_ANY_OF))
            return branches(js, &c, i, any, frame, depth);
        for (size_t k = 0; words[k]; k++)
            if (js_get(js, c.v[i].ref, words[k]))
                js_fail(js, c.v[i].ref, QN_EUNSUPPORTED,
                        "%s is not supported for a string without quotes", words[k]);
    }
    if (js->err || !js_facts(js, &c, &f) || !(js_types_made(&f) & TYPE_STRING))
        return qn_gx_never(js->g);
    if (f.has_enum)
        return listed(js, &c, frame);
    struct qn_dfa d, both;
    struct qn_error why = {0};
    qn_err err = js_string_dfa(js, &c, &f, true, &d, &why);
    if (!err) {
        err = qn_dfa_intersect(&d, frame, js->g->budget, &both, &why);
        qn_dfa_deinit(&d);
    }
    return js_dfa(js, &both, err, c.n ? c.v[0].ref : NULL, &why);
}

qn_err qn_json_schema_add_bare(struct qn_grammar *g, uint32_t rule, const char *json,
                               struct qn_error *e)
{
    struct qn_json *doc;
    struct js js;
    struct qn_dfa frame;
    struct conj all = {0};
    qn_err err = qn_json_parse(json, strlen(json), &doc, e);
    if (err)
        return err;
    struct qn_jref top = qn_json_root(doc), until = qn_json_get(&top, "until"),
                   others = qn_json_get(&top, "others");
    struct qn_jref root = {.node = qn_json_get(&top, "schema").node};
    js_begin(&js, g, &root, e);
    js.bare = true;
    err = js.err ? js.err
                 : make_frame(&js, qn_json_raw_str(&until), (unsigned)qn_json_raw_f64(&others),
                              &frame, e);
    if (!err) {
        conj_add(&js, &all, &root, 0);
        g->rules[rule].body = js.err ? qn_gx_never(g) : strings(&js, &all, &frame, 0);
        qn_dfa_deinit(&frame);
    }
    qn_err failed = js_end(&js);
    qn_json_free(doc);
    return err ? err : failed;
}
