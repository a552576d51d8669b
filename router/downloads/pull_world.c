/* See pull_world.h. */
#include "downloads/pull_world.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/log.h"
#include "base/str.h"
#include "catalog/used_files.h"
#include "contract/backend_types.h"
#include "downloads/pull_preset.h"
#include "downloads/pull_request.h"
#include "downloads/pull_unpack.h"
#include "models/intake.h"
#include "models/no_engine.h"
#include "models/survey.h"
#include "registry/download.h"
#include "registry/resolve.h"
#include "registry/unpack.h"
#include "registry/web.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARCHIVE "archive" /* the role of a file that is to be unpacked */

enum { PLAN_BYTES_MAX = 64 * 1024 * 1024, LABELS_MAX = 16 * 1024 };

/* ---- places of files ---- */

static qn_err spot_of(const struct qn_download_file *f, struct qn_store_spot *out,
                      struct qn_error *e)
{
    enum qn_hub_kind hub = qn_hub_kind_parse(f->hub);
    const char *blob = *f->sha256 ? f->sha256 : f->git_sha1;
    *out = (struct qn_store_spot){.hub = hub};
    if (hub == QN_HUB_COUNT || strlen(f->repo) >= sizeof out->repo ||
        strlen(f->commit) >= sizeof out->commit || strlen(f->path) >= sizeof out->path ||
        strlen(blob) >= sizeof out->blob)
        return qn_fail(e, QN_EFORMAT,
                       "the catalog's entry of %.200s is damaged: pull the model "
                       "again",
                       f->path);
    strcpy(out->repo, f->repo);
    strcpy(out->commit, f->commit);
    strcpy(out->path, f->path);
    strcpy(out->blob, blob);
    return QN_OK;
}

/* A file of this machine that has only to be made known. */
static bool is_local(const struct qn_download_file *f)
{
    return qn_hub_kind_parse(f->hub) == QN_HUB_LOCAL;
}

/* ---- which files ---- */

/* A plan on its way. */
struct planning {
    const struct qn_pull_world *w;
    struct qn_pull_plan *plan;
    const char *recipe; /* what the files need; static */
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

/* What the hub says, or, for an order that may not ask, what the cache knows. */
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

/* The file, when what is asked for is an archive; its model is found when it has been unpacked. */
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
        err = add_file(p, repo, &(struct qn_choice_file){archive, ARCHIVE}, ARCHIVE, e);
        qn_repo_free(repo);
        return err;
    }
    if (!err)
        err = qn_resolve(repo, ref.variant, main ? o->mmproj : "", &choice, e);
    if (!err && main)
        note_kind(p, repo);
    for (size_t i = 0; !err && i < choice->n; i++) {
        const char *role = choice->files[i].role;
        /* Of further checkpoints the file that was asked for has the role it was asked for in. */
        if (!main && qn_str_eq(role, "main"))
            role = c->role;
        p->vision = p->vision || qn_str_eq(role, "mmproj");
        err = add_file(p, repo, &choice->files[i], role, e);
    }
    qn_choice_free(choice);
    qn_repo_free(repo);
    return err;
}

/* The labels that were given, and those that follow from the files. */
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

/* Before gigabytes come: can what they are be run? */
static qn_err check_recipe(struct planning *p, struct qn_error *e)
{
    struct qn_pull_order *o = &p->plan->order;
    if (!*o->recipe)
        o->recipe = qn_arena_strdup(p->plan->arena, p->recipe ? p->recipe : "llamacpp");
    const char *why = qn_no_engine(o->recipe);
    return why ? qn_fail_param(e, QN_EUNSUPPORTED, "recipe",
                               "model '%.200s' cannot be run here: it is %s", o->model, why)
               : QN_OK;
}

static qn_err resolve(void *ctx, const struct qn_pull_order *order, const atomic_bool *stop,
                      struct qn_pull_plan **out, struct qn_error *e)
{
    const struct qn_pull_world *w = ctx;
    struct qn_web web = *w->web;
    web.stop = stop;
    struct qn_arena *a = qn_arena_new(PLAN_BYTES_MAX);
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

/* ---- fetching ---- */

struct fetching {
    const struct qn_pull_world *w;
    struct qn_pull_part **parts; /* of the files below */
    struct qn_fetch_file *files;
    size_t n;
};

static void on_progress(void *ctx, const struct qn_fetch_file *files, size_t n)
{
    struct fetching *f = ctx;
    for (size_t i = 0; i < n; i++) {
        atomic_store(&f->parts[i]->meter->here_bytes, files[i].done_bytes);
        atomic_store(&f->parts[i]->meter->size_bytes, files[i].size_bytes);
        atomic_store(&f->parts[i]->meter->whole_only, files[i].whole_only);
    }
}

static void part_done(struct qn_pull_part *part, const char *etag, int64_t size_bytes)
{
    snprintf(part->etag, sizeof part->etag, "%s", etag);
    atomic_store(&part->meter->size_bytes, size_bytes);
    atomic_store(&part->meter->here_bytes, size_bytes);
    atomic_store_explicit(&part->done, true, memory_order_release);
}

static qn_err on_complete(void *ctx, size_t i, struct qn_error *e)
{
    struct fetching *f = ctx;
    struct qn_store_spot spot;
    qn_err err = spot_of(f->parts[i]->file, &spot, e);
    if (!err)
        err = qn_store_publish(f->w->store, &spot, f->files[i].sum, NULL, e);
    if (!err)
        part_done(f->parts[i], f->files[i].etag, f->files[i].size_bytes);
    return err;
}

/* What needs no network: a file that is here already, or whose bytes are. */
static qn_err take_if_here(const struct qn_pull_world *w, struct qn_pull_part *part, bool *here,
                           struct qn_error *e)
{
    struct qn_store_spot spot;
    char *path = NULL;
    int64_t size = -1;
    const int64_t wanted = part->file->size_bytes;
    qn_err err = spot_of(part->file, &spot, e);
    *here = false;
    if (err)
        return err;
    if (qn_store_find(w->store, &spot, &path, &size, NULL) == QN_OK)
        *here = wanted < 0 || size == wanted;
    else if (qn_store_has_blob(w->store, &spot, &size) && (wanted < 0 || size == wanted)) {
        err = qn_store_publish(w->store, &spot, NULL, NULL, e);
        *here = !err;
    }
    if (*here) {
        /* The server may have been killed between the rename of a complete file and this. */
        qn_fetch_forget(part->file->partial);
        part_done(part, part->file->etag, size);
    }
    free(path);
    return err;
}

/* It goes to no other host than the address's own. */
static const char *token_of(const struct qn_pull_world *w, const struct qn_download_file *file)
{
    enum qn_hub_kind hub = qn_hub_kind_parse(file->hub);
    return hub == QN_HUB_HF           ? w->hubs->hf_token
           : hub == QN_HUB_MODELSCOPE ? w->hubs->modelscope_token
                                      : NULL;
}

/* What it means that a hub refused a file; of a plain address the download has said it. */
static qn_err explain(const struct qn_pull_world *w, const struct qn_download_file *file,
                      int status, struct qn_error *e)
{
    struct qn_repo repo = {
        .hub = qn_hub_kind_parse(file->hub), .id = file->repo, .token = token_of(w, file)};
    return repo.hub == QN_HUB_URL ? e->code : qn_repo_refused(&repo, status, e);
}

static qn_err fetch(void *ctx, struct qn_pull_part *parts, size_t n, const atomic_bool *stop,
                    struct qn_error *e)
{
    const struct qn_pull_world *w = ctx;
    struct qn_web web = *w->web;
    struct fetching f = {.w = w};
    qn_err err = QN_OK;
    web.stop = stop;
    f.parts = qn_xcalloc(n + 1, sizeof(struct qn_pull_part *));
    f.files = qn_xcalloc(n + 1, sizeof *f.files);
    for (size_t i = 0; i < n && !err; i++) {
        const struct qn_download_file *file = parts[i].file;
        bool here;
        if ((err = take_if_here(w, &parts[i], &here, e)) || here)
            continue;
        int64_t before = qn_fetch_have(file->partial, file->size_bytes);
        atomic_store(&parts[i].meter->before_bytes, before);
        atomic_store(&parts[i].meter->here_bytes, before);
        f.parts[f.n] = &parts[i];
        f.files[f.n++] = (struct qn_fetch_file){
            .url = file->url,
            .partial = file->partial,
            .size_bytes = file->size_bytes,
            .sha256 = file->sha256,
            .git_sha1 = file->git_sha1,
            .token = token_of(w, file),
        };
    }
    struct qn_fetch_watch watch = {.ctx = &f, .progress = on_progress, .complete = on_complete};
    if (!err && f.n)
        err = qn_fetch_run(&web, f.files, f.n, &watch, e);
    if (err && watch.end == QN_FETCH_REFUSED && watch.http_status && watch.failed_file < f.n)
        err = explain(w, f.parts[watch.failed_file]->file, watch.http_status, e);
    if (err && (watch.end == QN_FETCH_DISK_FULL || watch.end == QN_FETCH_NETWORK))
        snprintf(e->param, sizeof e->param, "%s",
                 watch.end == QN_FETCH_NETWORK ? QN_PULL_NETWORK : QN_PULL_DISK_FULL);
    free(f.parts);
    free(f.files);
    return err;
}

/* ---- the end ---- */

/* A model whose files are all there, on its way into the catalog. */
struct finishing {
    const struct qn_pull_world *w;
    const struct qn_pull_order *order;
    const struct qn_download_file *files;
    size_t n;
    const atomic_bool *stop;
    struct qn_arena *arena;      /* of the strings below */
    const char **paths, **roles; /* of the model's files */
    size_t n_paths;
    const char *archive; /* that they came in, NULL: none */
    const char **old;    /* files that the model had before: an update leaves them behind */
    size_t n_old;
    struct qn_snapshot *models; /* since it is known */
    struct qn_buf preset;       /* "": none */
    struct qn_error error;
    void (*done)(void *arg, const struct qn_error *e);
    void *arg;
};

static void finishing_free(struct finishing *f)
{
    qn_snapshot_unref(f->models);
    qn_arena_free(f->arena);
    qn_buf_deinit(&f->preset);
    free(f);
}

/* Where one file is, and what the revision that was asked for means from now on. */
static qn_err find_file(struct finishing *f, size_t i, const char **out)
{
    const struct qn_download_file *file = &f->files[i];
    struct qn_store_spot spot;
    char *path = NULL;
    if (is_local(file)) {
        *out = file->path;
        return QN_OK;
    }
    qn_err err = spot_of(file, &spot, &f->error);
    if (!err)
        err = qn_store_find(f->w->store, &spot, &path, NULL, &f->error);
    if (path)
        *out = qn_arena_strdup(f->arena, path);
    free(path);
    bool again = i && qn_str_eq(file->repo, f->files[i - 1].repo);
    if (!err && !again && *file->revision && *file->commit && !f->order->local)
        err = qn_store_set_ref(f->w->store, spot.hub, file->repo, file->revision, file->commit,
                               &f->error);
    return err;
}

/* Worker. */
static void find_files(void *ctx)
{
    struct finishing *f = ctx;
    qn_err err = QN_OK;
    for (size_t i = 0; i < f->n && !err; i++) {
        f->roles[i] = f->files[i].role;
        if (!(err = find_file(f, i, &f->paths[i])) && qn_str_eq(f->roles[i], ARCHIVE))
            f->archive = f->paths[i];
    }
    f->n_paths = f->n;
    if (!err && f->archive) {
        struct qn_pull_inside inside;
        err = qn_pull_unpack(f->w->store, f->w->unpacker, f->archive, f->stop, f->arena, &inside,
                             &f->error);
        f->paths = inside.paths;
        f->roles = inside.roles;
        f->n_paths = inside.n;
    } else if (!err) {
        qn_pull_preset(f->files, f->paths, f->n, &f->preset);
    }
}

/* Worker. What nothing has any more: files of before, and an archive, since the model has what was
 * in it and an address cannot be asked whether it has changed. */
static void remove_old(void *ctx)
{
    struct finishing *f = ctx;
    struct qn_store_freed freed = {0};
    struct qn_error e = {0};
    struct qn_used_files *used = qn_used_files_new(f->models);
    size_t n = 0;
    for (size_t i = 0; i < f->n_old; i++)
        if (!qn_used_files_has(used, f->old[i]))
            f->old[n++] = f->old[i];
    qn_used_files_free(used);
    if (qn_store_remove(f->w->store, f->old, n, &freed, &e))
        qn_warn("pulls", "model=%s old_files=not_removed message=\"%s\"", f->order->model,
                e.message);
    else if (freed.files)
        qn_info("pulls", "model=%s old_files=%zu freed_bytes=%lld", f->order->model, freed.files,
                (long long)freed.size_bytes);
}

static void old_removed(void *ctx)
{
    struct finishing *f = ctx;
    f->done(f->arg, NULL);
    finishing_free(f);
}

/* What the name means now, which an order that does not redefine it leaves as it is: the model's
 * checkpoint, "": nothing yet. NULL with an error: it means another model since the order came. */
static const char *meaning_of(struct finishing *f)
{
    struct qn_snapshot *snap = qn_catalog_snapshot(f->w->catalog);
    const struct qn_model_row *row = qn_snapshot_find(snap, f->order->model);
    const char *was = NULL;
    if (row && !qn_pull_same_source(row, f->order))
        qn_fail_param(&f->error, QN_ECONFLICT, "model_name",
                      "'%s' has become another model since its download began: choose another name",
                      f->order->model);
    else
        was = qn_arena_strdup(f->arena, row ? row->checkpoint : "");
    qn_snapshot_unref(snap);
    return was;
}

/* Of the files that the model had before only those that quince keeps, and an archive. */
static void note_old(struct finishing *f)
{
    struct qn_snapshot *snap = qn_catalog_snapshot(f->w->catalog);
    const struct qn_model_row *row = qn_snapshot_find(snap, f->order->model);
    size_t n = row && qn_str_eq(row->keeper, QN_KEEPER_QUINCE) ? row->n_files : 0;
    f->old = qn_arena_alloc(f->arena, (n + 1) * sizeof *f->old);
    for (size_t i = 0; i < n; i++)
        f->old[f->n_old++] = qn_arena_strdup(f->arena, row->files[i]);
    if (f->archive)
        f->old[f->n_old++] = f->archive;
    qn_snapshot_unref(snap);
}

static void taken_in(void *ctx, const struct qn_error *e)
{
    struct finishing *f = ctx;
    if (!e)
        qn_survey_again(f->w->survey);
    if (!e && f->n_old && !*f->w->closed) {
        f->models = qn_catalog_snapshot(f->w->catalog);
        qn_loop_work(f->w->loop, remove_old, old_removed, f);
        return;
    }
    f->done(f->arg, e);
    finishing_free(f);
}

/* The place of a role among the model's files; n_paths: there is none. */
static size_t place_of(const struct finishing *f, const char *role)
{
    size_t i = 0;
    while (i < f->n_paths && !qn_str_eq(f->roles[i], role))
        i++;
    return i;
}

/* The sum of the file to load, where the hub has said it and it is the whole of the model. */
static const char *digest_of(const struct finishing *f, size_t at)
{
    bool whole = !f->archive && place_of(f, "shard") == f->n_paths;
    return whole && *f->files[at].sha256 ? f->files[at].sha256 : NULL;
}

static void take_in(void *ctx)
{
    struct finishing *f = ctx;
    const struct qn_pull_order *o = f->order;
    size_t at = place_of(f, "main");
    if (*f->w->closed)
        qn_fail(&f->error, QN_EBUSY, "the server is stopping");
    else if (at == f->n_paths && !f->error.code)
        qn_fail(&f->error, QN_EFORMAT, "%s has no file to load", o->model);
    const char *was = f->error.code || o->redefines ? NULL : meaning_of(f);
    if (f->error.code) {
        f->done(f->arg, &f->error);
        finishing_free(f);
        return;
    }
    note_old(f);
    struct qn_buf checkpoints;
    qn_buf_init(&checkpoints, QN_PULL_ORDER_MAX);
    struct qn_jw w = qn_jw_to(&checkpoints);
    qn_jw_obj(&w);
    for (size_t i = 0; i < o->n; i++)
        qn_jw_kstr(&w, o->checkpoints[i].role, o->checkpoints[i].ref);
    qn_jw_obj_end(&w);
    const struct qn_download_file *first = &f->files[f->archive ? 0 : at];
    bool local = is_local(first);
    struct qn_intake_origin origin = {
        .files = f->paths,
        .roles = f->roles,
        .n_files = local && f->n == 1 ? 0 : f->n_paths,
        .checkpoint = o->checkpoints[0].ref,
        .checkpoints = qn_buf_cstr(&checkpoints),
        .hub = local ? "" : first->hub,
        .revision = first->revision,
        .commit = first->commit,
        .keeper = local ? QN_KEEPER_USER : QN_KEEPER_QUINCE,
        .labels = *o->labels ? o->labels : NULL,
        .extras = *o->extras ? o->extras : NULL,
        .options = *o->options ? o->options : NULL,
    };
    struct qn_intake_wish wish = {
        .name = o->model,
        .path = f->paths[at],
        .origin = &origin,
        .recipe = o->recipe,
        .preset = f->preset.len ? qn_buf_cstr(&f->preset) : NULL,
        .digest = digest_of(f, at),
        .replace = true,
        .was = was,
    };
    qn_intake_model(f->w->intake, &wish, taken_in, f);
    qn_buf_deinit(&checkpoints);
}

static void finish(void *ctx, const struct qn_pull_order *order,
                   const struct qn_download_file *files, size_t n, const atomic_bool *stop,
                   void (*done)(void *arg, const struct qn_error *e), void *arg)
{
    struct qn_pull_world *w = ctx;
    struct finishing *f = qn_xcalloc(1, sizeof *f);
    *f = (struct finishing){
        .w = w, .order = order, .files = files, .n = n, .stop = stop, .done = done, .arg = arg};
    qn_buf_init(&f->preset, QN_PULL_PRESET_MAX);
    f->arena = qn_arena_new(PLAN_BYTES_MAX);
    f->paths = qn_arena_alloc(f->arena, (n + 1) * sizeof(char *));
    f->roles = qn_arena_alloc(f->arena, (n + 1) * sizeof(char *));
    qn_loop_work(w->loop, find_files, take_in, f);
}

/* ---- small things ---- */

static int64_t have(void *ctx, const struct qn_download_file *file)
{
    (void)ctx;
    return is_local(file) ? 0 : qn_fetch_have(file->partial, file->size_bytes);
}

static bool in_catalog(const struct qn_snapshot *models, const char *path)
{
    for (size_t i = 0; i < qn_snapshot_count(models); i++) {
        const struct qn_model_row *row = qn_snapshot_at(models, i);
        for (size_t k = 0; k < row->n_files; k++)
            if (qn_str_eq(row->files[k], path))
                return true;
    }
    return false;
}

/* A model that was imported from the cache has the blob itself: the link leads to it. */
static bool is_used(const struct qn_snapshot *models, const char *path)
{
    if (in_catalog(models, path))
        return true;
    char *real = realpath(path, NULL);
    bool used = real && in_catalog(models, real);
    free(real);
    return used;
}

static void discard(void *ctx, const struct qn_download_file *files, size_t n,
                    const struct qn_snapshot *models)
{
    const struct qn_pull_world *w = ctx;
    struct qn_store_freed freed = {0};
    for (size_t i = 0; i < n; i++) {
        struct qn_store_spot spot;
        struct qn_error e = {0};
        char *path = NULL;
        if (is_local(&files[i]))
            continue;
        qn_fetch_discard(files[i].partial);
        if (spot_of(&files[i], &spot, &e) == QN_OK &&
            qn_store_find(w->store, &spot, &path, NULL, NULL) == QN_OK && !is_used(models, path)) {
            const char *const paths[] = {path};
            if (qn_store_remove(w->store, paths, 1, &freed, &e))
                qn_warn("pulls", "file=%s not_removed=1 message=\"%s\"", path, e.message);
        }
        free(path);
    }
}

struct qn_pull_steps qn_pull_world_steps(struct qn_pull_world *w)
{
    return (struct qn_pull_steps){.ctx = w,
                                  .resolve = resolve,
                                  .fetch = fetch,
                                  .finish = finish,
                                  .have = have,
                                  .discard = discard};
}
