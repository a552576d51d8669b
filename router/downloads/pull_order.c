/* See pull_order.h. */
#include "downloads/pull_order.h"

#include "base/json.h"
#include "base/str.h"

#include <string.h>

/* The strings of an order and their names in JSON. */
static const struct {
    const char *name;
    size_t at;
    bool json; /* the text is JSON already */
} members[] = {
    {"model", offsetof(struct qn_pull_order, model), false},
    {"recipe", offsetof(struct qn_pull_order, recipe), false},
    {"source", offsetof(struct qn_pull_order, source), false},
    {"mmproj", offsetof(struct qn_pull_order, mmproj), false},
    {"labels", offsetof(struct qn_pull_order, labels), true},
    {"extras", offsetof(struct qn_pull_order, extras), true},
    {"options", offsetof(struct qn_pull_order, options), true},
    {"owner", offsetof(struct qn_pull_order, owners), false},
};
enum { MEMBERS = sizeof members / sizeof *members };

static const char **member(struct qn_pull_order *o, size_t i)
{
    return (const char **)(void *)((char *)o + members[i].at);
}

static const char *member_of(const struct qn_pull_order *o, size_t i)
{
    const char *text = *(const char *const *)(const void *)((const char *)o + members[i].at);
    return text ? text : "";
}

static void write_checkpoints(const struct qn_pull_order *o, struct qn_jw *w)
{
    qn_jw_obj(w);
    for (size_t i = 0; i < o->n; i++)
        qn_jw_kstr(w, o->checkpoints[i].role, o->checkpoints[i].ref);
    qn_jw_obj_end(w);
}

void qn_pull_order_write_checkpoints(const struct qn_pull_order *o, struct qn_buf *out)
{
    struct qn_jw w = qn_jw_to(out);
    write_checkpoints(o, &w);
}

void qn_pull_order_write(const struct qn_pull_order *o, struct qn_buf *out)
{
    struct qn_jw w = qn_jw_to(out);
    qn_jw_obj(&w);
    for (size_t i = 0; i < MEMBERS; i++) {
        const char *text = member_of(o, i);
        if (!*text)
            continue;
        qn_jw_key(&w, members[i].name);
        if (members[i].json)
            qn_jw_raw(&w, text, strlen(text));
        else
            qn_jw_str(&w, text);
    }
    if (o->local)
        qn_jw_kbool(&w, "local", true);
    if (o->redefines)
        qn_jw_kbool(&w, "redefines", true);
    qn_jw_key(&w, "checkpoints");
    write_checkpoints(o, &w);
    qn_jw_obj_end(&w);
}

static qn_err read_checkpoints(const struct qn_jref *all, struct qn_arena *a,
                               struct qn_pull_order *out, struct qn_error *e)
{
    struct qn_jref it;
    qn_err err = QN_OK;
    for (bool more = qn_json_first(all, &it); more && !err; more = qn_json_next(&it)) {
        const char *ref = NULL;
        if (out->n == QN_PULL_ROLES_MAX)
            return qn_json_fail(&it, e, "a model may have at most %d checkpoints",
                                QN_PULL_ROLES_MAX);
        if ((err = qn_json_str(&it, &ref, e)))
            return err;
        out->checkpoints[out->n++] =
            (struct qn_pull_checkpoint){qn_arena_strdup(a, it.key), qn_arena_strdup(a, ref)};
    }
    return QN_OK;
}

qn_err qn_pull_order_read(const char *json, struct qn_arena *a, struct qn_pull_order *out,
                          struct qn_error *e)
{
    struct qn_json *doc;
    struct qn_buf text;
    qn_err err = qn_json_parse(json, strlen(json), &doc, e);
    *out = (struct qn_pull_order){0};
    if (err)
        return err;
    qn_buf_init(&text, QN_PULL_ORDER_MAX);
    struct qn_jref root = qn_json_root(doc), v;
    for (size_t i = 0; i < MEMBERS && !err; i++) {
        const char *s = "";
        v = qn_json_get(&root, members[i].name);
        if (!members[i].json) {
            err = qn_json_str_opt(&v, &s, e);
        } else if (qn_json_type(&v) != QN_JSON_ABSENT) {
            qn_buf_clear(&text);
            if (!(err = qn_json_print(&v, &text)))
                s = qn_buf_cstr(&text);
        }
        *member(out, i) = qn_arena_strdup(a, s);
    }
    v = qn_json_get(&root, "local");
    if (!err)
        err = qn_json_bool_opt(&v, &out->local, e);
    v = qn_json_get(&root, "redefines");
    if (!err)
        err = qn_json_bool_opt(&v, &out->redefines, e);
    v = qn_json_get(&root, "checkpoints");
    if (!err)
        err = read_checkpoints(&v, a, out, e);
    qn_buf_deinit(&text);
    qn_json_free(doc);
    return err;
}

void qn_pull_order_copy(const struct qn_pull_order *o, struct qn_arena *a,
                        struct qn_pull_order *out)
{
    struct qn_pull_order copy = *o;
    for (size_t i = 0; i < MEMBERS; i++)
        *member(&copy, i) = qn_arena_strdup(a, member_of(o, i));
    for (size_t i = 0; i < o->n; i++)
        copy.checkpoints[i] = (struct qn_pull_checkpoint){
            qn_arena_strdup(a, o->checkpoints[i].role), qn_arena_strdup(a, o->checkpoints[i].ref)};
    *out = copy;
}

bool qn_pull_order_same(const struct qn_pull_order *a, const struct qn_pull_order *b)
{
    bool same = a->n == b->n && qn_str_eq(a->mmproj, b->mmproj) && qn_str_eq(a->source, b->source);
    for (size_t i = 0; same && i < a->n; i++)
        same = qn_str_eq(a->checkpoints[i].role, b->checkpoints[i].role) &&
               qn_str_eq(a->checkpoints[i].ref, b->checkpoints[i].ref);
    return same;
}
