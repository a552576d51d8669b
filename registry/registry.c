/* See registry.h. */
#include "registry/registry.h"

#include "base/arena.h"
#include "base/json.h"
#include "base/path.h"
#include "base/str.h"
#include "registry/ref.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct name_row {
    const char *name, *checkpoint;
};

struct qn_registry {
    struct qn_arena *arena;
    struct qn_registry_entry *entries;
    size_t n;
    int64_t modified_s;
    struct name_row *names; /* of Ollama's library, without "library/" and ":latest" */
    size_t n_names;
};

enum { ARENA_MAX = 64 * 1024 * 1024 };
#define SIZE_MAX_GB 100000.0

/* The known recipes; those that cannot be run here have the reason. */
static const struct recipe {
    const char *name, *unsupported;
} recipes[] = {
    {"llamacpp", NULL},
    {"whispercpp", NULL},
    {"sd-cpp", NULL},
    {"kokoro", NULL},
    {"ryzenai-llm", "made for the NPU of AMD's Ryzen AI processors, whose runtime there is for "
                    "Windows only: take the "
                    "model's GGUF version"},
    {"flm", "made for the NPU of AMD's Ryzen AI processors (FastFlowLM), which quince does not "
            "drive: take the model's "
            "GGUF version"},
};

static const struct recipe *recipe_find(const char *name)
{
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++)
        if (qn_str_eq(recipes[i].name, name))
            return &recipes[i];
    return NULL;
}

const char *qn_recipe_unsupported(const char *recipe)
{
    const struct recipe *r = recipe_find(recipe);
    return r ? r->unsupported : NULL;
}

bool qn_recipe_known(const char *recipe)
{
    return recipe_find(recipe) != NULL;
}

static const char *keep_json(struct qn_registry *r, const struct qn_jref *v)
{
    struct qn_buf text;
    qn_buf_init(&text, QN_REGISTRY_FILE_MAX);
    qn_json_print(v, &text);
    char *out = qn_arena_strdup(r->arena, qn_buf_cstr(&text));
    qn_buf_deinit(&text);
    return out;
}

/* Labels are stored as JSON text: the catalog and the API pass them on unchanged. */
static qn_err read_labels(const struct qn_jref *entry, struct qn_registry *r,
                          struct qn_registry_entry *out, struct qn_error *e)
{
    struct qn_jref labels = qn_json_get(entry, "labels"), it;
    out->labels = "[]";
    if (qn_json_type(&labels) == QN_JSON_ABSENT)
        return QN_OK;
    if (qn_json_type(&labels) != QN_JSON_ARRAY)
        return qn_json_fail(&labels, e, "expected an array of strings");
    for (bool more = qn_json_first(&labels, &it); more; more = qn_json_next(&it)) {
        const char *label;
        qn_err err = qn_json_str(&it, &label, e);
        if (err)
            return err;
    }
    out->labels = keep_json(r, &labels);
    return QN_OK;
}

/* "shipped": true marks a checkpoint that is a file in the registry's folder. */
static qn_err read_file(const struct qn_jref *entry, const char *dir, struct qn_registry *r,
                        struct qn_registry_entry *out, bool *shipped, struct qn_error *e)
{
    struct qn_jref v = qn_json_get(entry, "shipped");
    *shipped = false;
    qn_err err = qn_json_bool_opt(&v, shipped, e);
    if (err || !*shipped)
        return err;
    char *joined = qn_path_join(dir, out->checkpoint);
    struct qn_error reason = {0};
    char *path = qn_path_absolute(joined, &reason);
    free(joined);
    if (!path)
        return qn_fail(e, reason.code, "%s", reason.message);
    out->file = qn_arena_strdup(r->arena, path);
    out->hub = "";
    free(path);
    return QN_OK;
}

/* Adds a checkpoint in the form in which it is stored: for ModelScope with its host, so that the
 * text is complete. The value in the list must be a repository's name. */
static qn_err add_part(struct qn_registry *r, struct qn_registry_entry *out, const char *role,
                       const struct qn_jref *v, struct qn_error *e)
{
    const char *text;
    struct qn_ref ref;
    struct qn_error why = {0};
    qn_err err = qn_json_str(v, &text, e);
    if (err)
        return err;
    if (out->n_parts == QN_REGISTRY_PARTS_MAX)
        return qn_json_fail(v, e, "a model has at most %d checkpoints", QN_REGISTRY_PARTS_MAX);
    enum qn_hub_kind plain = qn_str_eq(out->hub, "modelscope") ? QN_HUB_MODELSCOPE : QN_HUB_HF;
    if (qn_ref_parse(text, plain, &ref, &why))
        return qn_json_fail(v, e, "%s", why.message);
    const char *kept = plain == QN_HUB_MODELSCOPE ? qn_arena_fmt(r->arena, "modelscope.cn/%s", text)
                                                  : qn_arena_strdup(r->arena, text);
    out->parts[out->n_parts++] = (struct qn_registry_part){role, kept};
    return QN_OK;
}

static qn_err read_checkpoints(const struct qn_jref *entry, struct qn_registry *r,
                               struct qn_registry_entry *out, struct qn_error *e)
{
    static const char *const roles[] = {"main", "mmproj", "draft", "text_encoder", "vae"};
    struct qn_jref all = qn_json_get(entry, "checkpoints"), one = qn_json_get(entry, "checkpoint"),
                   it;
    if (qn_json_type(&all) == QN_JSON_ABSENT)
        return add_part(r, out, "main", &one, e);
    if (qn_json_type(&all) != QN_JSON_OBJECT)
        return qn_json_fail(&all, e, "expected an object");
    qn_err err = QN_OK;
    size_t known = 0;
    for (size_t i = 0; i < sizeof roles / sizeof *roles && !err; i++) {
        it = qn_json_get(&all, roles[i]);
        if (qn_json_type(&it) == QN_JSON_ABSENT && i > 0)
            continue;
        err = add_part(r, out, roles[i], &it, e);
        known++;
    }
    return !err && known != qn_json_count(&all) ? qn_json_fail(&all, e, "has an unknown role")
                                                : err;
}

/* Writes the checkpoints by role; the projector's file becomes a checkpoint of the main repository.
 */
static void write_checkpoints(struct qn_registry *r, struct qn_registry_entry *out)
{
    struct qn_buf text;
    qn_buf_init(&text, QN_REGISTRY_FILE_MAX);
    struct qn_jw w = qn_jw_to(&text);
    qn_jw_obj(&w);
    for (size_t i = 0; i < out->n_parts; i++)
        qn_jw_kstr(&w, out->parts[i].role, out->parts[i].checkpoint);
    if (out->mmproj)
        qn_jw_kstr(&w, "mmproj", out->mmproj);
    qn_jw_obj_end(&w);
    out->checkpoints = qn_arena_strdup(r->arena, qn_buf_cstr(&text));
    qn_buf_deinit(&text);
}

static qn_err read_extras(const struct qn_jref *entry, struct qn_registry *r,
                          struct qn_registry_entry *out, struct qn_error *e)
{
    struct qn_jref image = qn_json_get(entry, "image_defaults"),
                   options = qn_json_get(entry, "recipe_options");
    out->options = out->extras = "{}";
    if (qn_json_type(&options) == QN_JSON_OBJECT)
        out->options = keep_json(r, &options);
    else if (qn_json_type(&options) != QN_JSON_ABSENT)
        return qn_json_fail(&options, e, "expected an object");
    if (qn_json_type(&image) == QN_JSON_OBJECT)
        out->extras = qn_arena_fmt(r->arena, "{\"image_defaults\":%s}", keep_json(r, &image));
    else if (qn_json_type(&image) != QN_JSON_ABSENT)
        return qn_json_fail(&image, e, "expected an object");
    return QN_OK;
}

static qn_err read_entry(const struct qn_jref *entry, const char *dir, struct qn_registry *r,
                         struct qn_registry_entry *out, struct qn_error *e)
{
    const char *recipe, *source = "huggingface", *mmproj = NULL;
    double size_gb = 0;
    bool shipped = false;
    struct qn_jref v = qn_json_get(entry, "recipe");
    qn_err err = qn_json_str(&v, &recipe, e);
    if (err)
        return err;
    if (!qn_recipe_known(recipe))
        return qn_json_fail(&v, e, "'%.40s' is not a recipe that quince knows", recipe);
    v = qn_json_get(entry, "source");
    if ((err = qn_json_str_opt(&v, &source, e)))
        return err;
    enum qn_hub_kind hub = qn_hub_kind_parse(source);
    if (hub != QN_HUB_HF && hub != QN_HUB_MODELSCOPE)
        return qn_json_fail(&v, e, "must be huggingface or modelscope");
    out->name = qn_arena_strdup(r->arena, entry->key);
    out->recipe = qn_arena_strdup(r->arena, recipe);
    out->hub = qn_hub_kind_name(hub);
    if ((err = read_checkpoints(entry, r, out, e)))
        return err;
    out->checkpoint = out->parts[0].checkpoint;
    v = qn_json_get(entry, "suggested");
    err = qn_json_bool_opt(&v, &out->suggested, e);
    v = qn_json_get(entry, "mmproj");
    if (!err)
        err = qn_json_str_opt(&v, &mmproj, e);
    if (!err && mmproj && !qn_ref_path_ok(mmproj))
        err = qn_json_fail(&v, e, "is not a file's path");
    v = qn_json_get(entry, "size");
    if (!err)
        err = qn_json_f64_opt(&v, 0, SIZE_MAX_GB, &size_gb, e);
    if (!err)
        err = read_labels(entry, r, out, e);
    if (!err)
        err = read_extras(entry, r, out, e);
    if (!err)
        err = read_file(entry, dir, r, out, &shipped, e);
    if (err)
        return err;
    out->mmproj = mmproj ? qn_arena_strdup(r->arena, mmproj) : NULL;
    out->size_bytes = (int64_t)(size_gb * 1e9 + 0.5);
    write_checkpoints(r, out);
    return QN_OK;
}

static qn_err read_list(const struct qn_jref *root, const char *dir, struct qn_registry *r,
                        struct qn_error *e)
{
    size_t n = qn_json_count(root);
    if (qn_json_type(root) != QN_JSON_OBJECT || n > QN_REGISTRY_ENTRIES_MAX)
        return qn_fail(e, QN_EINVAL, "%s/models.json: expected an object of at most %d models", dir,
                       QN_REGISTRY_ENTRIES_MAX);
    r->entries = qn_arena_alloc(r->arena, (n + 1) * sizeof *r->entries);
    struct qn_jref it;
    qn_err err = QN_OK;
    for (bool more = qn_json_first(root, &it); more && !err; more = qn_json_next(&it)) {
        if (qn_registry_find(r, it.key))
            return qn_fail(e, QN_EINVAL, "%s/models.json: '%.100s' occurs twice", dir, it.key);
        err = read_entry(&it, dir, r, &r->entries[r->n], e);
        r->n += !err;
    }
    return err;
}

static qn_err read_names(const struct qn_jref *root, const char *dir, struct qn_registry *r,
                         struct qn_error *e)
{
    size_t n = qn_json_count(root);
    if (qn_json_type(root) != QN_JSON_OBJECT || n > QN_REGISTRY_ENTRIES_MAX)
        return qn_fail(e, QN_EINVAL, "%s/ollama_names.json: expected an object of at most %d names",
                       dir, QN_REGISTRY_ENTRIES_MAX);
    r->names = qn_arena_alloc(r->arena, (n + 1) * sizeof *r->names);
    struct qn_jref it;
    for (bool more = qn_json_first(root, &it); more; more = qn_json_next(&it)) {
        const char *checkpoint;
        struct qn_ref ref;
        struct qn_error why = {0};
        qn_err err = qn_json_str(&it, &checkpoint, e);
        if (!err && qn_ref_parse(checkpoint, QN_HUB_HF, &ref, &why))
            err = qn_json_fail(&it, e, "%s", why.message);
        if (err)
            return err;
        r->names[r->n_names++] = (struct name_row){qn_arena_strdup(r->arena, it.key),
                                                   qn_arena_strdup(r->arena, checkpoint)};
    }
    return QN_OK;
}

/* Reads one of the two files. */
static qn_err read_document(const char *dir, const char *name, struct qn_registry *r,
                            qn_err (*read)(const struct qn_jref *, const char *,
                                           struct qn_registry *, struct qn_error *),
                            struct qn_error *e)
{
    struct qn_buf text;
    struct qn_json *doc = NULL;
    qn_buf_init(&text, QN_REGISTRY_FILE_MAX);
    char *path = qn_path_join(dir, name);
    qn_err err = qn_file_read(path, &text, e);
    if (!err)
        err = qn_json_parse(qn_buf_cstr(&text), text.len, &doc, e);
    if (!err) {
        struct qn_jref root = qn_json_root(doc);
        err = read(&root, dir, r, e);
    }
    qn_json_free(doc);
    qn_buf_deinit(&text);
    free(path);
    return err;
}

qn_err qn_registry_open(const char *dir, struct qn_registry **out, struct qn_error *e)
{
    struct qn_registry *r = qn_xcalloc(1, sizeof *r);
    r->arena = qn_arena_new(ARENA_MAX);
    *out = NULL;
    qn_err err = read_document(dir, "models.json", r, read_list, e);
    char *list = qn_path_join(dir, "models.json"), *names = qn_path_join(dir, "ollama_names.json");
    struct stat st;
    if (stat(list, &st) == 0)
        r->modified_s = st.st_mtime;
    free(list);
    if (!err && qn_file_exists(names))
        err = read_document(dir, "ollama_names.json", r, read_names, e);
    free(names);
    if (err)
        qn_registry_close(r);
    else
        *out = r;
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
    return r ? r->n : 0;
}

int64_t qn_registry_modified_s(const struct qn_registry *r)
{
    return r->modified_s;
}

const struct qn_registry_entry *qn_registry_at(const struct qn_registry *r, size_t i)
{
    return &r->entries[i];
}

const struct qn_registry_entry *qn_registry_find(const struct qn_registry *r, const char *name)
{
    const struct qn_registry_entry *loosely = NULL;
    if (qn_str_starts(name, "builtin."))
        name += strlen("builtin.");
    size_t len = strlen(name);
    if (qn_str_ends(name, ":latest"))
        len -= strlen(":latest");
    for (size_t i = 0; i < qn_registry_count(r); i++) {
        const char *listed = r->entries[i].name;
        if (strncasecmp(listed, name, len) != 0 || listed[len])
            continue;
        if (!strncmp(listed, name, len))
            return &r->entries[i];
        if (!loosely)
            loosely = &r->entries[i];
    }
    return loosely;
}

const char *qn_registry_ollama(const struct qn_registry *r, const char *name)
{
    struct qn_ref ref;
    char plain[QN_REF_REPO_MAX + QN_REF_VARIANT_MAX + 2];
    if (!r || qn_ref_parse(name, QN_HUB_HF, &ref, NULL) || ref.hub != QN_HUB_OLLAMA ||
        !qn_str_starts(ref.repo, "library/"))
        return NULL;
    size_t n = strlen(ref.repo) - strlen("library/");
    memcpy(plain, ref.repo + strlen("library/"), n + 1);
    if (!qn_str_eq(ref.variant, "latest")) {
        plain[n] = ':';
        memcpy(plain + n + 1, ref.variant, strlen(ref.variant) + 1);
    }
    for (size_t i = 0; i < r->n_names; i++)
        if (qn_str_ieq(r->names[i].name, plain))
            return r->names[i].checkpoint;
    return NULL;
}
