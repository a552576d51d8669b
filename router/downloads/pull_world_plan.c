/* The step of a download that queries hubs for the files of an order; see pull_world.h. */
#include "downloads/pull_world_private.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "models/no_engine.h"
#include "registry/resolve.h"
#include "registry/unpack.h"

#include <stdlib.h>
#include <string.h>

enum { LABELS_MAX = 16 * 1024 };

/* A plan in progress. */
struct planning {
    const struct qn_pull_world *w;
    struct qn_pull_plan *plan;
    const char *recipe; /* required by the files; static */
    bool vision, embeddings, reranking;
};

static qn_err add_file(struct planning *p, const struct qn_repo *repo,
                       const struct qn_choice_file *chosen, const char *role, struct qn_error *e)
{
    struct qn_pull_plan *plan = p->plan;
    struct qn_store_spot spot;
    char *partial = NULL, *path = NULL;
    int64_t size = -1;
    if (plan->n == QN_DOWNLOAD_FILES_MAX)
        return qn_fail(e, QN_ELIMIT, "%s has more than %d files", repo->id, QN_DOWNLOAD_FILES_MAX);
    qn_err err = qn_store_spot(repo, chosen->file, &spot, e);
    if (!err)
        err = qn_store_partial(p->w->store, &spot, &partial, e);
    if (err)
        return err;
    bool here = qn_store_find(p->w->store, &spot, &path, &size, NULL) == QN_OK &&
                (chosen->file->size_bytes < 0 || size == chosen->file->size_bytes);
    if (!here && (err = qn_repo_may_fetch(repo, e))) {
        free(partial);
        free(path);
        return err;
    }
    qn_download_file_copy(
        &(struct qn_download_file){.hub = qn_hub_kind_name(spot.hub),
                                   .repo = spot.repo,
                                   .revision = repo->revision,
                                   .commit = spot.commit,
                                   .path = spot.path,
                                   .role = role,
                                   .url = chosen->file->url,
                                   .partial = partial,
                                   .sha256 = chosen->file->sha256,
                                   .git_sha1 = chosen->file->git_sha1,
                                   .size_bytes = here ? size : chosen->file->size_bytes,
                                   .done = here},
        plan->arena, &plan->files[plan->n++]);
    free(partial);
    free(path);
    return QN_OK;
}

static void note_kind(struct planning *p, const struct qn_repo *repo)
{
    struct qn_variants *v;
    qn_variants(repo, &v);
    p->recipe = v->recipe;
    for (size_t i = 0; i < v->n_labels; i++) {
        p->embeddings = p->embeddings || qn_str_eq(v->labels[i], "embeddings");
        p->reranking = p->reranking || qn_str_eq(v->labels[i], "reranking");
    }
    qn_variants_free(v);
}

/* Gets the file list from the hub, or, for a local order, from the cache. */
static qn_err look_up(struct planning *p, const struct qn_web *web, const struct qn_ref *ref,
                      struct qn_repo **repo, struct qn_error *e)
{
    if (!p->plan->order.local)
        return qn_hub_repo(p->w->hubs, web, ref, repo, e);
    if (!qn_store_cached(p->w->store, ref->hub, ref->repo, ref->revision, 0, repo, e))
        return QN_OK;
    return qn_fail_param(e, QN_ENOTFOUND, "checkpoint",
                         "the files of %s are not on this machine, and nothing is downloaded%s: "
                         "they have to be in %s",
                         ref->repo, qn_web_is_offline(p->w->web) ? " while offline" : " here",
                         qn_store_root(p->w->store, ref->hub));
}

/* The file, if the order is for an archive; its model is determined after unpacking. */
static const struct qn_repo_file *archive_of(const struct qn_repo *repo, const char *variant)
{
    for (size_t i = 0; i < repo->n; i++)
        if (qn_unpack_is_archive(repo->files[i].path) &&
            (qn_str_eq(repo->files[i].path, variant) || (!*variant && repo->n == 1)))
            return &repo->files[i];
    return NULL;
}

static qn_err add_local(struct planning *p, const struct qn_ref *ref, const char *role,
                        struct qn_error *e)
{
    struct qn_pull_plan *plan = p->plan;
    if (*ref->url != '/')
        return qn_fail_param(e, QN_EINVAL, "checkpoint",
                             "'%.200s' is not an absolute path of a model's file", ref->url);
    if (plan->n == QN_DOWNLOAD_FILES_MAX)
        return qn_fail(e, QN_ELIMIT, "at most %d files", QN_DOWNLOAD_FILES_MAX);
    qn_download_file_copy(&(struct qn_download_file){.hub = qn_hub_kind_name(QN_HUB_LOCAL),
                                                     .path = ref->url,
                                                     .partial = ref->url,
                                                     .role = role,
                                                     .size_bytes = -1,
                                                     .done = true},
                          plan->arena, &plan->files[plan->n++]);
    return QN_OK;
}

static qn_err add_checkpoint(struct planning *p, const struct qn_web *web,
                             const struct qn_pull_checkpoint *c, struct qn_error *e)
{
    const struct qn_pull_order *o = &p->plan->order;
    bool main = qn_str_eq(c->role, "main");
    struct qn_ref ref;
    struct qn_repo *repo = NULL;
    struct qn_choice *choice = NULL;
    enum qn_hub_kind plain = qn_hub_kind_parse(o->source);
    qn_err err = qn_ref_parse(c->ref, plain == QN_HUB_MODELSCOPE ? plain : QN_HUB_HF, &ref, e);
    if (!err && ref.hub == QN_HUB_LOCAL)
        return add_local(p, &ref, c->role, e);
    if (!err)
        err = look_up(p, web, &ref, &repo, e);
    const struct qn_repo_file *archive = err || !main ? NULL : archive_of(repo, ref.variant);
    if (archive) {
        err = add_file(p, repo, &(struct qn_choice_file){archive, QN_PULL_ARCHIVE}, QN_PULL_ARCHIVE,
                       e);
        qn_repo_free(repo);
        return err;
    }
    if (!err)
        err = qn_resolve(repo, ref.variant, main ? o->mmproj : "", &choice, e);
    if (!err && main)
        note_kind(p, repo);
    for (size_t i = 0; !err && i < choice->n; i++) {
        const char *role = choice->files[i].role;
        /* For a checkpoint other than main, the file itself has the role of that checkpoint. */
        if (!main && qn_str_eq(role, "main"))
            role = c->role;
        p->vision = p->vision || qn_str_eq(role, "mmproj");
        err = add_file(p, repo, &choice->files[i], role, e);
    }
    qn_choice_free(choice);
    qn_repo_free(repo);
    return err;
}

/* Adds the labels that follow from the files to the requested ones. */
static void add_labels(struct planning *p)
{
    const struct {
        const char *label;
        bool holds;
    } found[] = {{"vision", p->vision}, {"embeddings", p->embeddings}, {"reranking", p->reranking}};
    struct qn_pull_order *o = &p->plan->order;
    struct qn_json *doc;
    if (qn_json_parse(*o->labels ? o->labels : "[]", strlen(*o->labels ? o->labels : "[]"), &doc,
                      NULL))
        return;
    struct qn_buf text;
    qn_buf_init(&text, LABELS_MAX);
    struct qn_jw w = qn_jw_to(&text);
    struct qn_jref root = qn_json_root(doc), it;
    bool has[3] = {false};
    qn_jw_arr(&w);
    for (bool more = qn_json_first(&root, &it); more; more = qn_json_next(&it)) {
        for (int i = 0; i < 3; i++)
            has[i] = has[i] || qn_str_eq(qn_json_raw_str(&it), found[i].label);
        qn_jw_str(&w, qn_json_raw_str(&it));
    }
    for (int i = 0; i < 3; i++)
        if (found[i].holds && !has[i])
            qn_jw_str(&w, found[i].label);
    qn_jw_arr_end(&w);
    if (!text.overflow)
        o->labels = qn_arena_strdup(p->plan->arena, qn_buf_cstr(&text));
    qn_buf_deinit(&text);
    qn_json_free(doc);
}

/* Checks before gigabytes are downloaded whether the model can be run. */
static qn_err check_recipe(struct planning *p, struct qn_error *e)
{
    struct qn_pull_order *o = &p->plan->order;
    if (!*o->recipe)
        o->recipe = qn_arena_strdup(p->plan->arena, p->recipe ? p->recipe : "llamacpp");
    const char *why = qn_no_engine(o->recipe, 0);
    return why ? qn_fail_param(e, QN_EUNSUPPORTED, "recipe",
                               "model '%.200s' cannot be run here: it is %s", o->model, why)
               : QN_OK;
}

qn_err qn_pull_world_resolve(void *ctx, const struct qn_pull_order *order, const atomic_bool *stop,
                             struct qn_pull_plan **out, struct qn_error *e)
{
    const struct qn_pull_world *w = ctx;
    struct qn_web web = *w->web;
    web.stop = stop;
    struct qn_arena *a = qn_arena_new(QN_PULL_PLAN_BYTES_MAX);
    struct qn_pull_plan *plan = qn_arena_alloc(a, sizeof *plan);
    *plan = (struct qn_pull_plan){.arena = a};
    qn_pull_order_copy(order, a, &plan->order);
    plan->files = qn_arena_alloc(a, QN_DOWNLOAD_FILES_MAX * sizeof *plan->files);
    struct planning p = {.w = w, .plan = plan};
    qn_err err = QN_OK;
    for (size_t i = 0; i < order->n && !err; i++)
        err = add_checkpoint(&p, &web, &order->checkpoints[i], e);
    if (!err)
        err = check_recipe(&p, e);
    if (err) {
        qn_arena_free(a);
        return err;
    }
    add_labels(&p);
    *out = plan;
    return QN_OK;
}
