/* See registry.h. */
#include "registry/registry.h"

#include "base/arena.h"
#include "base/json.h"
#include "base/path.h"

#include <stdlib.h>

struct qn_registry {
    struct qn_arena *arena;
    struct qn_registry_entry *entries;
    size_t n;
};

enum { ARENA_MAX = 64 * 1024 * 1024 };

/* labels is kept as text: the catalog and the API pass it on as it is. */
static qn_err read_labels(const struct qn_jref *entry, struct qn_registry *r,
                          struct qn_registry_entry *out, struct qn_error *e)
{
    struct qn_jref labels = qn_json_get(entry, "labels");
    out->labels = "[]";
    if (qn_json_type(&labels) == QN_JSON_ABSENT)
        return QN_OK;
    if (qn_json_type(&labels) != QN_JSON_ARRAY)
        return qn_json_fail(&labels, e, "expected an array of strings");
    struct qn_jref it;
    for (bool more = qn_json_first(&labels, &it); more; more = qn_json_next(&it)) {
        const char *label;
        qn_err err = qn_json_str(&it, &label, e);
        if (err)
            return err;
    }
    struct qn_buf text;
    qn_buf_init(&text, QN_REGISTRY_FILE_MAX);
    qn_json_print(&labels, &text);
    out->labels = qn_arena_strdup(r->arena, qn_buf_cstr(&text));
    qn_buf_deinit(&text);
    return QN_OK;
}

/* "shipped": true marks a checkpoint that lies in the registry's folder. */
static qn_err read_file(const struct qn_jref *entry, const char *dir, struct qn_registry *r,
                        struct qn_registry_entry *out, struct qn_error *e)
{
    bool shipped = false;
    struct qn_jref v = qn_json_get(entry, "shipped");
    qn_err err = qn_json_bool_opt(&v, &shipped, e);
    if (err || !shipped)
        return err;
    char *joined = qn_path_join(dir, out->checkpoint);
    struct qn_error reason = {0};
    char *path = qn_path_absolute(joined, &reason);
    free(joined);
    if (!path)
        return qn_fail(e, reason.code, "%s", reason.message);
    out->file = qn_arena_strdup(r->arena, path);
    free(path);
    return QN_OK;
}

static qn_err read_entry(const struct qn_jref *entry, const char *dir, struct qn_registry *r,
                         struct qn_registry_entry *out, struct qn_error *e)
{
    const char *recipe, *checkpoint;
    struct qn_jref v = qn_json_get(entry, "recipe");
    qn_err err = qn_json_str(&v, &recipe, e);
    if (err)
        return err;
    v = qn_json_get(entry, "checkpoint");
    err = qn_json_str(&v, &checkpoint, e);
    if (err)
        return err;
    out->name = qn_arena_strdup(r->arena, entry->key);
    out->recipe = qn_arena_strdup(r->arena, recipe);
    out->checkpoint = qn_arena_strdup(r->arena, checkpoint);
    v = qn_json_get(entry, "suggested");
    err = qn_json_bool_opt(&v, &out->suggested, e);
    if (!err)
        err = read_labels(entry, r, out, e);
    return err ? err : read_file(entry, dir, r, out, e);
}

static qn_err read_list(const struct qn_json *doc, const char *dir, struct qn_registry *r,
                        struct qn_error *e)
{
    struct qn_jref root = qn_json_root(doc);
    size_t n = qn_json_count(&root);
    if (qn_json_type(&root) != QN_JSON_OBJECT || n > QN_REGISTRY_ENTRIES_MAX)
        return qn_fail(e, QN_EINVAL, "%s/models.json: expected an object of at most %d models", dir,
                       QN_REGISTRY_ENTRIES_MAX);
    r->entries = qn_arena_alloc(r->arena, (n + 1) * sizeof *r->entries);
    struct qn_jref it;
    qn_err err = QN_OK;
    for (bool more = qn_json_first(&root, &it); more && !err; more = qn_json_next(&it))
        err = read_entry(&it, dir, r, &r->entries[r->n++], e);
    return err;
}

qn_err qn_registry_open(const char *dir, struct qn_registry **out, struct qn_error *e)
{
    struct qn_buf text;
    qn_buf_init(&text, QN_REGISTRY_FILE_MAX);
    struct qn_json *doc = NULL;
    struct qn_registry *r = qn_xcalloc(1, sizeof *r);
    r->arena = qn_arena_new(ARENA_MAX);
    char *path = qn_path_join(dir, "models.json");
    qn_err err = qn_file_read(path, &text, e);
    if (!err)
        err = qn_json_parse(qn_buf_cstr(&text), text.len, &doc, e);
    if (!err)
        err = read_list(doc, dir, r, e);
    if (err)
        qn_registry_close(r);
    else
        *out = r;
    qn_json_free(doc);
    qn_buf_deinit(&text);
    free(path);
    return err;
}

void qn_registry_close(struct qn_registry *r)
{
    if (!r)
        return;
    qn_arena_free(r->arena);
    free(r);
}

size_t qn_registry_count(const struct qn_registry *r)
{
    return r->n;
}

const struct qn_registry_entry *qn_registry_at(const struct qn_registry *r, size_t i)
{
    return &r->entries[i];
}
