/* See definition.h. */
#include "cli/definition.h"

#include "base/str.h"

/* Copies a member of the entry, under the same or another name; nothing if it is absent or
 * empty. */
static void copy(const struct qn_jref *from, const char *key, const char *as, struct qn_jw *w)
{
    struct qn_jref v = qn_json_get(from, key);
    enum qn_json_type type = qn_json_type(&v);
    bool empty = type == QN_JSON_ABSENT || type == QN_JSON_NULL ||
                 (type == QN_JSON_STRING && !qn_json_raw_str(&v)[0]) ||
                 ((type == QN_JSON_ARRAY || type == QN_JSON_OBJECT) && !qn_json_count(&v));
    if (empty)
        return;
    qn_jw_key(w, as);
    qn_json_print(&v, w->out);
    w->comma = true;
}

void qn_definition_write(const struct qn_jref *entry, struct qn_jw *w)
{
    static const char *const members[] = {"recipe",         "labels",         "size",  "mmproj",
                                          "image_defaults", "recipe_options", "remote"};
    struct qn_jref checkpoints = qn_json_get(entry, "checkpoints");
    qn_jw_obj(w);
    copy(entry, "id", "model_name", w);
    if (qn_json_count(&checkpoints) > 1)
        copy(entry, "checkpoints", "checkpoints", w);
    else
        copy(entry, "checkpoint", "checkpoint", w);
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        copy(entry, members[i], members[i], w);
    qn_jw_obj_end(w);
}

static bool is_definition(const struct qn_jref *v)
{
    struct qn_jref one = qn_json_get(v, "checkpoint"), many = qn_json_get(v, "checkpoints");
    return qn_json_type(&one) != QN_JSON_ABSENT || qn_json_type(&many) != QN_JSON_ABSENT;
}

bool qn_definition_next(struct qn_definition_walk *walk, struct qn_jref *definition)
{
    if (is_definition(&walk->root)) {
        *definition = walk->root;
        bool first = !walk->begun;
        walk->begun = true;
        return first;
    }
    bool more = walk->begun ? qn_json_next(&walk->at) : qn_json_first(&walk->root, &walk->at);
    walk->begun = true;
    *definition = walk->at;
    return more;
}

/* Members that hold the definition's name; the body has a name of its own. */
static bool is_name(const char *key)
{
    return qn_str_eq(key, "model_name") || qn_str_eq(key, "id") || qn_str_eq(key, "name");
}

qn_err qn_definition_register(const struct qn_jref *definition, const char *name,
                              struct qn_buf *out, struct qn_error *e)
{
    static const char *const names[] = {"model_name", "id", "name"};
    struct qn_jref it;
    if (qn_json_type(definition) != QN_JSON_OBJECT || !is_definition(definition))
        return qn_json_fail(definition, e,
                            "expected the definition of a model: an object with \"model_name\", "
                            "\"checkpoint\" and \"recipe\"");
    for (size_t i = 0; i < sizeof names / sizeof *names && !(name && name[0]); i++) {
        it = qn_json_get(definition, names[i]);
        name = qn_json_raw_str(&it);
    }
    if (!name[0])
        name = definition->key ? definition->key : "";
    if (!name[0])
        return qn_json_fail(definition, e, "the model has no name: add a \"model_name\"");
    struct qn_buf full;
    qn_buf_init(&full, 64 * 1024);
    qn_buf_fmt(&full, "%s%s", qn_str_starts(name, "user.") ? "" : "user.", name);
    struct qn_jw w = qn_jw_to(out);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "model_name", qn_buf_cstr(&full));
    for (bool more = qn_json_first(definition, &it); more; more = qn_json_next(&it))
        if (!is_name(it.key))
            copy(definition, it.key, it.key, &w);
    qn_jw_obj_end(&w);
    bool too_long = full.overflow || out->overflow;
    qn_buf_deinit(&full);
    return too_long ? qn_json_fail(definition, e, "the definition is too long") : QN_OK;
}
