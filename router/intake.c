/* Models into the catalog, see intake.h. */
#include "router/intake.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "contract/backend_types.h"
#include "registry/digest.h"
#include "registry/facts.h"
#include "registry/inspect.h"
#include "registry/registry.h"
#include "router/inventory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DETAILS_MAX = 64 * 1024 };

/* The backend type a recipe stands for. */
static const struct qn_backend_type *type_of(const char *recipe)
{
    const struct qn_backend_type *t;
    for (unsigned i = 0; (t = qn_backend_type_at(i)); i++)
        if (qn_str_eq(t->recipe, recipe))
            return t;
    return NULL;
}

static qn_err put_builtin(struct qn_catalog *catalog, const struct qn_registry_entry *entry,
                          struct qn_error *e)
{
    const struct qn_backend_type *type = type_of(entry->recipe);
    if (!type)
        return qn_fail(e, QN_EUNSUPPORTED, "%s: recipe '%s' is not known", entry->name,
                       entry->recipe);
    struct qn_inspection facts;
    qn_err err = qn_registry_inspect(entry->file, &facts, e);
    if (err)
        return err;
    struct qn_buf details, said;
    struct qn_stamp stamp;
    qn_buf_init(&details, DETAILS_MAX);
    qn_buf_init(&said, QN_FACTS_MAX);
    qn_inspection_json(&facts, &details);
    if ((err = qn_registry_facts(entry->file, &said, e)) ||
        (err = qn_registry_stamp(entry->file, &stamp, e)))
        goto out;
    const char *files[] = {entry->file};
    struct qn_model_row row = {
        .name = entry->name,
        .type = type->type,
        .recipe = entry->recipe,
        .checkpoint = entry->checkpoint,
        .files = files,
        .n_files = 1,
        .size_bytes = facts.size_bytes,
        .labels = entry->labels,
        .details = qn_buf_cstr(&details),
        .facts = qn_buf_cstr(&said),
        .modified_s = stamp.modified_s,
        .options = "{}",
        .builtin = true,
        .suggested = entry->suggested,
        .created_s = qn_wall_ms() / 1000,
    };
    struct qn_snapshot *snap = qn_catalog_snapshot(catalog);
    const struct qn_model_row *old = qn_snapshot_find(snap, entry->name);
    if (old) /* what the user saved for it stays */
        row.options = old->options;
    qn_catalog_put(catalog, &row, NULL, NULL);
    qn_snapshot_unref(snap);
out:
    qn_buf_deinit(&details);
    qn_buf_deinit(&said);
    return err;
}

qn_err qn_intake_builtin(struct qn_catalog *catalog, const char *dir, char *starter,
                         size_t starter_size, struct qn_error *e)
{
    struct qn_registry *list;
    qn_err err = qn_registry_open(dir, &list, e);
    if (err)
        return err;
    *starter = '\0';
    for (size_t i = 0; i < qn_registry_count(list) && !err; i++) {
        const struct qn_registry_entry *entry = qn_registry_at(list, i);
        if (!entry->file)
            continue;
        err = put_builtin(catalog, entry, e);
        if (!*starter && strlen(entry->name) < starter_size)
            memcpy(starter, entry->name, strlen(entry->name) + 1);
    }
    struct qn_snapshot *snap = qn_catalog_snapshot(catalog);
    for (size_t i = 0; i < qn_snapshot_count(snap) && !err; i++) {
        const struct qn_model_row *row = qn_snapshot_at(snap, i);
        bool listed = false;
        for (size_t k = 0; k < qn_registry_count(list) && !listed; k++)
            listed = qn_registry_at(list, k)->file &&
                     qn_str_eq(qn_registry_at(list, k)->name, row->name);
        if (row->builtin && !listed)
            qn_catalog_remove(catalog, row->name, NULL, NULL);
    }
    qn_snapshot_unref(snap);
    qn_registry_close(list);
    return err;
}

/* One registration on its way: filled on the loop, inspected on a worker, put on the loop. */
struct intake {
    struct qn_catalog *catalog;
    const bool *closed;
    char *name, *path, *recipe, *preset, *digest;
    bool replace;
    char *real; /* the file's absolute path */
    struct qn_inspection facts;
    struct qn_buf said;
    struct qn_stamp stamp;
    struct qn_error error;
    qn_intake_done done;
    void *ctx;
};

static void intake_free(struct intake *in)
{
    free(in->name);
    free(in->path);
    free(in->recipe);
    free(in->preset);
    free(in->digest);
    free(in->real);
    qn_buf_deinit(&in->said);
    free(in);
}

static void on_put(void *ctx, const struct qn_error *e)
{
    struct intake *in = ctx;
    if (!e)
        qn_info("intake", "model=%s registered=1", in->name);
    in->done(in->ctx, e);
    intake_free(in);
}

/* Worker: the file must be a regular one that can be read and is a model. */
static void inspect(void *ctx)
{
    struct intake *in = ctx;
    struct stat st;
    struct qn_error why = {0};
    if (in->error.code)
        return;
    if (stat(in->path, &st)) {
        qn_fail_param(&in->error, errno == ENOENT ? QN_ENOTFOUND : QN_EINVAL, "checkpoint",
                      "cannot open %s: %s", in->path, strerror(errno));
    } else if (!S_ISREG(st.st_mode)) {
        qn_fail_param(&in->error, QN_EINVAL, "checkpoint", "%s is not a regular file", in->path);
    } else if (access(in->path, R_OK)) {
        qn_fail_param(&in->error, QN_EINVAL, "checkpoint", "cannot read %s: %s", in->path,
                      strerror(errno));
    } else if (!(in->real = qn_path_absolute(in->path, &why)) ||
               qn_registry_inspect(in->real, &in->facts, &why) ||
               qn_registry_facts(in->real, &in->said, &why) ||
               qn_registry_stamp(in->real, &in->stamp, &why)) {
        qn_fail_param(&in->error, QN_EINVAL, "checkpoint", "%s", why.message);
    }
}

static void put(void *ctx)
{
    struct intake *in = ctx;
    if (*in->closed)
        qn_fail(&in->error, QN_EBUSY, "the server is stopping");
    if (in->error.code) {
        on_put(in, &in->error);
        return;
    }
    struct qn_snapshot *snap = qn_catalog_snapshot(in->catalog);
    const struct qn_model_row *old = qn_snapshot_find(snap, in->name);
    bool same = old && old->n_files == 1 && qn_str_eq(old->files[0], in->real);
    if (old && old->builtin && in->replace) {
        qn_fail_param(&in->error, QN_ECONFLICT, "model",
                      "'%s' ships with quince: choose another name", in->name);
        qn_snapshot_unref(snap);
        on_put(in, &in->error);
        return;
    }
    if (old && !same && !in->replace) {
        qn_fail_param(&in->error, QN_ECONFLICT, "model_name",
                      "the name '%s' belongs to another file (%s): choose another one", in->name,
                      old->n_files ? old->files[0] : "");
        qn_snapshot_unref(snap);
        on_put(in, &in->error);
        return;
    }
    bool again = same && !in->replace;
    struct qn_buf details;
    qn_buf_init(&details, DETAILS_MAX);
    qn_inspection_json(&in->facts, &details);
    const char *files[] = {in->real};
    struct qn_model_row row = {
        .name = in->name,
        .type = type_of(in->recipe)->type,
        .recipe = in->recipe,
        .checkpoint = in->real,
        .files = files,
        .n_files = 1,
        .size_bytes = in->facts.size_bytes,
        /* Who makes a file known again changes nothing of what the user made of it. */
        .labels = again ? old->labels : "[\"custom\"]",
        .base = again ? old->base : NULL,
        .details = qn_buf_cstr(&details),
        .facts = qn_buf_cstr(&in->said),
        .modified_s = in->stamp.modified_s,
        .options = old ? old->options : "{}",
        .preset = again && !in->preset ? old->preset : in->preset,
        .digest = in->digest,
        .digest_of = in->digest ? in->stamp.text : NULL,
        .created_s = qn_wall_ms() / 1000,
    };
    qn_catalog_put(in->catalog, &row, on_put, in);
    qn_snapshot_unref(snap);
    qn_buf_deinit(&details);
}

/* True when a part between slashes is empty, "." or "..": clients fold such paths, and no folder
 * may ever be named by one. */
static bool steps_aside(const char *name)
{
    for (const char *p = name;; p++) {
        size_t n = strcspn(p, "/");
        if (n == 0 || (n == 1 && p[0] == '.') || (n == 2 && p[0] == '.' && p[1] == '.'))
            return true;
        p += n;
        if (!*p)
            return false;
    }
}

/* Names appear in URLs, argument lists and log lines. */
bool qn_intake_name_ok(const char *name)
{
    if (!*name || strlen(name) > QN_MODEL_NAME_MAX)
        return false;
    for (const char *p = name; *p; p++)
        if (!((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') ||
              strchr("._-/:+@", *p)))
            return false;
    return !qn_str_ends(name, ":latest") && !qn_str_ends(name, "/") && !steps_aside(name);
}

static struct intake *intake_new(struct qn_catalog *catalog, const bool *closed,
                                 const struct qn_intake_wish *wish, qn_intake_done done, void *ctx)
{
    struct intake *in = qn_xcalloc(1, sizeof *in);
    in->catalog = catalog;
    in->closed = closed;
    in->name = qn_xstrdup(wish->name);
    in->path = qn_xstrdup(wish->path);
    in->recipe = qn_xstrdup(wish->recipe);
    in->preset = wish->preset ? qn_xstrdup(wish->preset) : NULL;
    in->digest = wish->digest ? qn_xstrdup(wish->digest) : NULL;
    in->replace = wish->replace;
    in->done = done;
    in->ctx = ctx;
    qn_buf_init(&in->said, QN_FACTS_MAX);
    return in;
}

void qn_intake_model(struct qn_loop *l, struct qn_catalog *catalog, const bool *closed,
                     const struct qn_intake_wish *wish, qn_intake_done done, void *ctx)
{
    struct intake *in = intake_new(catalog, closed, wish, done, ctx);
    if (!qn_intake_name_ok(wish->name))
        qn_fail_param(&in->error, QN_EINVAL, "model", "'%.80s' cannot be a model's name",
                      wish->name);
    qn_loop_work(l, inspect, put, in);
}

void qn_intake_file(struct qn_loop *l, struct qn_catalog *catalog, const bool *closed,
                    const char *name, const char *path, const char *recipe, qn_intake_done done,
                    void *ctx)
{
    struct qn_intake_wish wish = {.name = name, .path = path, .recipe = recipe};
    struct intake *in = intake_new(catalog, closed, &wish, done, ctx);
    if (!qn_str_starts(name, "user.") || !qn_intake_name_ok(name + 5) ||
        strlen(name) > QN_MODEL_NAME_MAX)
        qn_fail_param(
            &in->error, QN_EINVAL, "model_name",
            "'%.80s' cannot be a model's name: it must be user. and then letters, "
            "digits or . _ - / : + @, and nothing between two slashes may be empty, . or ..",
            name);
    else if (*path != '/')
        qn_fail_param(&in->error, QN_EINVAL, "checkpoint",
                      "'%.200s' is not an absolute path of a GGUF file (downloads are not in this "
                      "version)",
                      path);
    else if (!type_of(recipe))
        qn_fail_param(&in->error, QN_EUNSUPPORTED, "recipe",
                      "recipe '%.40s' is not supported in this version: llamacpp is", recipe);
    qn_loop_work(l, inspect, put, in);
}
