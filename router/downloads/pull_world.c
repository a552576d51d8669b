/* The places of a download's files in the store, and deleting them; the longer steps have files of
 * their own. See pull_world.h. */
#include "downloads/pull_world_private.h"

#include "base/log.h"
#include "base/str.h"
#include "registry/download.h"

#include <stdlib.h>
#include <string.h>

qn_err qn_pull_spot(const struct qn_download_file *f, struct qn_store_spot *out, struct qn_error *e)
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

bool qn_pull_is_local(const struct qn_download_file *f)
{
    return qn_hub_kind_parse(f->hub) == QN_HUB_LOCAL;
}

static int64_t have(void *ctx, const struct qn_download_file *file)
{
    (void)ctx;
    return qn_pull_is_local(file) ? 0 : qn_fetch_have(file->partial, file->size_bytes);
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

/* A model that was imported from the cache refers to the blob itself, to which the link leads. */
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
        if (qn_pull_is_local(&files[i]))
            continue;
        qn_fetch_discard(files[i].partial);
        if (qn_pull_spot(&files[i], &spot, &e) == QN_OK &&
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
                                  .resolve = qn_pull_world_resolve,
                                  .fetch = qn_pull_world_fetch,
                                  .finish = qn_pull_world_finish,
                                  .have = have,
                                  .discard = discard};
}
