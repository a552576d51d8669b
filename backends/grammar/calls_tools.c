/* See calls_tools.h. */
#include "grammar/calls_tools.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>

enum {
    REF_DEPTH_MAX = 8,    /* maximum depth of nested schemas searched for a type */
    TYPE_STEPS_MAX = 1000 /* maximum number of schemas visited to find one parameter's type */
};

struct tool {
    const char *name;
    const void *function; /* the JSON node of the tool's "function" object */
};

struct qn_tools {
    struct qn_json *doc;
    struct tool *v;
    size_t n;
};

qn_err qn_tools_new(const char *json, struct qn_tools **out, struct qn_error *e)
{
    struct qn_tools *t = qn_xcalloc(1, sizeof *t);
    qn_err err = qn_json_parse(json, strlen(json), &t->doc, e);
    struct qn_jref root = {0}, it;
    if (!err) {
        root = qn_json_root(t->doc);
        if (qn_json_type(&root) != QN_JSON_ARRAY)
            err = qn_fail_param(e, QN_EINVAL, "tools", "tools: expected an array");
    }
    if (err) {
        qn_tools_free(t);
        return err;
    }
    t->v = qn_xcalloc(qn_json_count(&root) + 1, sizeof *t->v);
    for (bool more = qn_json_first(&root, &it); more; more = qn_json_next(&it)) {
        struct qn_jref f = qn_json_get(&it, "function");
        if (qn_json_type(&f) != QN_JSON_OBJECT)
            f = it;
        struct qn_jref name = qn_json_get(&f, "name");
        if (qn_json_raw_str(&name)[0])
            t->v[t->n++] = (struct tool){qn_json_raw_str(&name), f.node};
    }
    *out = t;
    return QN_OK;
}

void qn_tools_free(struct qn_tools *t)
{
    if (!t)
        return;
    qn_json_free(t->doc);
    free(t->v);
    free(t);
}

size_t qn_tools_count(const struct qn_tools *t)
{
    return t ? t->n : 0;
}

const char *qn_tools_name(const struct qn_tools *t, size_t i)
{
    return t->v[i].name;
}

struct qn_jref qn_tools_parameters(const struct qn_tools *t, size_t i)
{
    struct qn_jref f = {.node = t->v[i].function}, p = qn_json_get(&f, "parameters");
    if (qn_json_type(&p) != QN_JSON_OBJECT)
        p = qn_json_get(&f, "input_schema");
    struct qn_jref none = {0};
    return qn_json_type(&p) == QN_JSON_OBJECT ? (struct qn_jref){.node = p.node} : none;
}

bool qn_tools_strict(const struct qn_tools *t, size_t i)
{
    struct qn_jref f = {.node = t->v[i].function}, strict = qn_json_get(&f, "strict");
    return qn_json_raw_bool(&strict);
}

int qn_tools_find(const struct qn_tools *t, const char *name, size_t n)
{
    for (size_t i = 0; i < qn_tools_count(t); i++)
        if (strlen(t->v[i].name) == n && memcmp(t->v[i].name, name, n) == 0)
            return (int)i;
    return -1;
}

static unsigned type_named(const char *s)
{
    static const struct {
        const char *name;
        unsigned type;
    } rows[] = {{"string", QN_TYPE_STRING}, {"number", QN_TYPE_NUMBER}, {"integer", QN_TYPE_NUMBER},
                {"boolean", QN_TYPE_BOOL},  {"null", QN_TYPE_NULL},     {"object", QN_TYPE_OBJECT},
                {"array", QN_TYPE_ARRAY}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (qn_str_ieq(s, rows[i].name))
            return rows[i].type;
    return 0;
}

static unsigned type_of_value(const struct qn_jref *v)
{
    switch (qn_json_type(v)) {
    case QN_JSON_STRING:
        return QN_TYPE_STRING;
    case QN_JSON_NUMBER:
        return QN_TYPE_NUMBER;
    case QN_JSON_BOOL:
        return QN_TYPE_BOOL;
    case QN_JSON_NULL:
        return QN_TYPE_NULL;
    case QN_JSON_OBJECT:
        return QN_TYPE_OBJECT;
    case QN_JSON_ARRAY:
        return QN_TYPE_ARRAY;
    default:
        return 0;
    }
}

/* Resolves a JSON pointer. References are relative to the schema `root`. */
static struct qn_jref follow(const struct qn_jref *root, const char *ref)
{
    struct qn_jref at = {.node = root->node};
    if (ref[0] != '#')
        return (struct qn_jref){0};
    for (const char *s = ref + 1; *s == '/';) {
        size_t n = strcspn(++s, "/");
        char *key = qn_xstrndup(s, n);
        at = (struct qn_jref){.node = qn_json_get(&at, key).node};
        free(key);
        s += n;
    }
    return at;
}

/* *steps is the number of schemas that may still be visited. When it reaches 0, or at the maximum
 * depth, the result is QN_TYPE_ANY. */
static unsigned types_of(const struct qn_jref *root, const struct qn_jref *schema, int depth,
                         int *steps)
{
    struct qn_jref it, type = qn_json_get(schema, "type"), ref = qn_json_get(schema, "$ref");
    unsigned mask = 0;
    if (depth == REF_DEPTH_MAX || --*steps < 0 || qn_json_type(schema) != QN_JSON_OBJECT)
        return QN_TYPE_ANY;
    if (qn_json_type(&ref) == QN_JSON_STRING) {
        struct qn_jref at = follow(root, qn_json_raw_str(&ref));
        return types_of(root, &at, depth + 1, steps);
    }
    if (qn_json_type(&type) == QN_JSON_STRING)
        mask = type_named(qn_json_raw_str(&type));
    for (bool more = qn_json_first(&type, &it); more; more = qn_json_next(&it))
        mask |= type_named(qn_json_raw_str(&it));
    struct qn_jref every = qn_json_get(schema, "allOf");
    unsigned both = QN_TYPE_ANY;
    for (bool more = qn_json_first(&every, &it); more; more = qn_json_next(&it))
        both &= types_of(root, &it, depth + 1, steps);
    if (mask & both)
        return mask & both;
    static const char *const either[] = {"anyOf", "oneOf"};
    for (size_t i = 0; i < 2; i++) {
        struct qn_jref list = qn_json_get(schema, either[i]);
        for (bool more = qn_json_first(&list, &it); more && mask != QN_TYPE_ANY;
             more = qn_json_next(&it))
            mask |= types_of(root, &it, depth + 1, steps);
    }
    struct qn_jref values = qn_json_get(schema, "enum"), only = qn_json_get(schema, "const");
    for (bool more = qn_json_first(&values, &it); more; more = qn_json_next(&it))
        mask |= type_of_value(&it);
    mask |= type_of_value(&only);
    mask = mask ? mask & both : both;
    return mask ? mask : QN_TYPE_ANY;
}

static struct qn_jref properties(const struct qn_tools *t, const char *tool, struct qn_jref *root)
{
    int i = qn_tools_find(t, tool, strlen(tool));
    *root = i < 0 ? (struct qn_jref){0} : qn_tools_parameters(t, (size_t)i);
    return qn_json_get(root, "properties");
}

unsigned qn_tools_types(const struct qn_tools *t, const char *tool, const char *parameter)
{
    struct qn_jref root, all = properties(t, tool, &root), one = qn_json_get(&all, parameter);
    int steps = TYPE_STEPS_MAX;
    return types_of(&root, &one, 0, &steps);
}

const char *qn_tools_parameter(const struct qn_tools *t, const char *tool, size_t i)
{
    struct qn_jref root, all = properties(t, tool, &root), it;
    for (bool more = qn_json_first(&all, &it); more; more = qn_json_next(&it))
        if (i-- == 0)
            return it.key;
    return NULL;
}
