/* The step of a download that fetches its files; see pull_world.h. */
#include "downloads/pull_world_private.h"

#include "base/buf.h"
#include "registry/download.h"

#include <stdio.h>
#include <stdlib.h>

struct fetching {
    const struct qn_pull_world *w;
    struct qn_pull_part **parts; /* of `files` */
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
    qn_err err = qn_pull_spot(f->parts[i]->file, &spot, e);
    if (!err)
        err = qn_store_publish(f->w->store, &spot, f->files[i].sum, NULL, e);
    if (!err)
        part_done(f->parts[i], f->files[i].etag, f->files[i].size_bytes);
    return err;
}

/* Completes a part without the network: its file, or a blob with its bytes, is in the store
 * already. */
static qn_err take_if_here(const struct qn_pull_world *w, struct qn_pull_part *part, bool *here,
                           struct qn_error *e)
{
    struct qn_store_spot spot;
    char *path = NULL;
    int64_t size = -1;
    const int64_t wanted = part->file->size_bytes;
    qn_err err = qn_pull_spot(part->file, &spot, e);
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
        /* The server may have been killed between the rename of a complete file and this call. */
        qn_fetch_forget(part->file->partial);
        part_done(part, part->file->etag, size);
    }
    free(path);
    return err;
}

/* The token is sent to no other host than the URL's own. */
static const char *token_of(const struct qn_pull_world *w, const struct qn_download_file *file)
{
    enum qn_hub_kind hub = qn_hub_kind_parse(file->hub);
    return hub == QN_HUB_HF           ? w->hubs->hf_token
           : hub == QN_HUB_MODELSCOPE ? w->hubs->modelscope_token
                                      : NULL;
}

/* Explains a hub's refusal of a file; for a plain URL the download's own error stays. */
static qn_err explain(const struct qn_pull_world *w, const struct qn_download_file *file,
                      int status, struct qn_error *e)
{
    struct qn_repo repo = {
        .hub = qn_hub_kind_parse(file->hub), .id = file->repo, .token = token_of(w, file)};
    return repo.hub == QN_HUB_URL ? e->code : qn_repo_refused(&repo, status, e);
}

qn_err qn_pull_world_fetch(void *ctx, struct qn_pull_part *parts, size_t n, const atomic_bool *stop,
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
