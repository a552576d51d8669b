/* GET pull/variants: the variants in a hub's repository, for users to choose from. */
#include "api/api.h"

#include "access/client_id.h"
#include "answers/answer.h"
#include "base/str.h"
#include "library/inquiry.h"
#include "models/inventory.h"
#include "models/model_capabilities.h"
#include "models/no_engine.h"
#include "registry/hub.h"
#include "registry/resolve.h"

#include <stdlib.h>
#include <string.h>

enum { VARIANTS_SHOWN = 5, VARIANTS_MAX = 1000, LABELS_MAX = 1024 };
#define ROOM_BESIDE ((int64_t)512 << 20) /* for a context and the program itself */

struct asker {
    const struct qn_hubs_api *api;
    struct qn_http *http; /* NULL: the client has disconnected */
    struct qn_inquiry *inquiry;
    struct qn_ref ref;
    char *checkpoint; /* as the client wrote it */
    int64_t limit;
    struct qn_repo *repo; /* the result */
};

static void gone(void *ctx)
{
    struct asker *a = ctx;
    a->http = NULL;
    qn_inquiry_stop(a->inquiry);
}

/* Runs on a worker. */
static qn_err ask(void *ctx, const struct qn_web *web, struct qn_error *e)
{
    struct asker *a = ctx;
    return qn_hub_repo(a->api->hubs, web, &a->ref, &a->repo, e);
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void write_names(struct qn_jw *w, const char *key, const struct qn_repo_file *const *files,
                        size_t n)
{
    qn_jw_key(w, key);
    qn_jw_arr(w);
    for (size_t i = 0; i < n; i++)
        qn_jw_str(w, base_of(files[i]->path));
    qn_jw_arr_end(w);
}

static void write_size(struct qn_jw *w, const char *key, int64_t size_bytes)
{
    if (size_bytes < 0)
        qn_jw_knull(w, key);
    else
        qn_jw_ki64(w, key, size_bytes);
}

/* Writes whether a model of this size can be loaded within the memory that this machine may use for
 * models. */
static void write_fits(struct qn_jw *w, const struct qn_hubs_api *api, int64_t size_bytes)
{
    int64_t room = qn_inventory_config(api->puller->models->inventory)->memory_bytes;
    if (size_bytes < 0)
        qn_jw_knull(w, "fits");
    else
        qn_jw_kbool(w, "fits", room <= 0 || size_bytes <= room - ROOM_BESIDE);
}

static void write_variant(struct qn_jw *w, const struct qn_hubs_api *api,
                          const struct qn_variant *v)
{
    qn_jw_obj(w);
    qn_jw_kstr(w, "name", v->name);
    qn_jw_kstr(w, "primary_file", v->files[0]->path);
    qn_jw_key(w, "files");
    qn_jw_arr(w);
    for (size_t i = 0; i < v->n; i++)
        qn_jw_str(w, v->files[i]->path);
    qn_jw_arr_end(w);
    qn_jw_kbool(w, "sharded", v->sharded);
    write_size(w, "size_bytes", v->size_bytes);
    write_fits(w, api, v->size_bytes);
    qn_jw_obj_end(w);
}

/* Hubs that describe each file themselves have one model per tag. */
static void write_tag(struct qn_jw *w, const struct asker *a, const struct qn_choice *c)
{
    qn_jw_obj(w);
    qn_jw_kstr(w, "name", a->ref.variant);
    qn_jw_kstr(w, "primary_file", c->files[0].file->path);
    qn_jw_key(w, "files");
    qn_jw_arr(w);
    for (size_t i = 0; i < c->n; i++)
        qn_jw_str(w, c->files[i].file->path);
    qn_jw_arr_end(w);
    qn_jw_kbool(w, "sharded", false);
    write_size(w, "size_bytes", c->size_bytes);
    write_fits(w, a->api, c->size_bytes);
    qn_jw_obj_end(w);
}

/* The reason why this version cannot run models of the repository, as far as the hub describes
 * them; NULL: none. */
static const char *why_not(const struct asker *a, const struct qn_variants *v)
{
    struct qn_buf labels;
    qn_buf_init(&labels, LABELS_MAX);
    struct qn_jw w = qn_jw_to(&labels);
    qn_jw_arr(&w);
    for (size_t i = 0; i < v->n_labels; i++)
        qn_jw_str(&w, v->labels[i]);
    qn_jw_arr_end(&w);
    const char *why =
        qn_no_engine(v->recipe, qn_labelled_capabilities(v->recipe, qn_buf_cstr(&labels)).has);
    if (!why && a->repo->architecture)
        why = qn_no_engine_for_architecture(v->recipe, a->repo->architecture);
    qn_buf_deinit(&labels);
    return why;
}

static void write_head(struct qn_jw *w, const struct asker *a, const struct qn_variants *v)
{
    qn_jw_ksource(w, "checkpoint", a->checkpoint);
    qn_jw_kstr(w, "source", qn_hub_kind_name(a->repo->hub));
    qn_jw_kstr(w, "recipe", v->recipe);
    qn_jw_kstr(w, "repo_kind", v->kind);
    qn_jw_kstr(w, "commit", a->repo->commit);
    qn_jw_kbool(w, "gated", a->repo->gated);
    qn_jw_kstr(w, "license", a->repo->license);
    qn_jw_kstr(w, "architecture", a->repo->architecture);
    if (a->repo->context_length > 0)
        qn_jw_ki64(w, "context_length", a->repo->context_length);
    else
        qn_jw_knull(w, "context_length");
    qn_jw_kstr(w, "unsupported", why_not(a, v));
    qn_jw_kstr(w, "suggested_name", v->suggested_name);
    qn_jw_key(w, "suggested_labels");
    qn_jw_arr(w);
    for (size_t i = 0; i < v->n_labels; i++)
        qn_jw_str(w, v->labels[i]);
    qn_jw_arr_end(w);
    write_names(w, "mmproj_files", v->mmproj, v->n_mmproj);
    write_names(w, "draft_files", v->drafts, v->n_drafts);
}

static qn_err write_reply(const struct asker *a, struct qn_buf *body, struct qn_error *e)
{
    struct qn_variants *v;
    struct qn_choice *tag = NULL;
    struct qn_jw w = qn_jw_to(body);
    qn_err err = QN_OK;
    qn_variants(a->repo, &v);
    if (a->repo->hub == QN_HUB_OLLAMA)
        err = qn_resolve(a->repo, a->ref.variant, NULL, &tag, e);
    else if (!v->n && !qn_str_eq(v->kind, "onnx-ryzenai"))
        err = qn_fail_param(
            e, QN_EFORMAT, "checkpoint",
            "%.200s has no model files in a format that quince supports (such as GGUF)",
            a->repo->id);
    if (!err) {
        size_t n = tag ? 1 : v->n;
        qn_jw_obj(&w);
        write_head(&w, a, v);
        qn_jw_ki64(&w, "variants_total", (int64_t)n);
        qn_jw_key(&w, "variants");
        qn_jw_arr(&w);
        if (tag)
            write_tag(&w, a, tag);
        for (size_t i = 0; !tag && i < v->n && (int64_t)i < a->limit; i++)
            write_variant(&w, a->api, &v->v[i]);
        qn_jw_arr_end(&w);
        qn_jw_obj_end(&w);
    }
    qn_choice_free(tag);
    qn_variants_free(v);
    return err;
}

static void answer(struct asker *a)
{
    struct qn_buf body;
    struct qn_error e = {0};
    qn_buf_init(&body, QN_API_REPLY_MAX);
    if (write_reply(a, &body, &e))
        qn_api_hub_problem(a->api->puller->web, a->http, &e, 500);
    else
        qn_answer_json(a->http, 200, &body);
    qn_buf_deinit(&body);
}

static void done(void *ctx, const struct qn_error *e)
{
    struct asker *a = ctx;
    if (a->http) {
        qn_http_on_gone(a->http, NULL, NULL);
        if (e)
            qn_api_hub_problem(a->api->puller->web, a->http, e, 500);
        else
            answer(a);
    }
    qn_repo_free(a->repo);
    free(a->checkpoint);
    free(a);
}

static qn_err read_query(const struct qn_hubs_api *api, const struct qn_http *h, struct asker *a,
                         struct qn_error *e)
{
    const char *checkpoint = qn_http_query(h, "checkpoint"), *source = qn_http_query(h, "source");
    const char *limit = qn_http_query(h, "limit");
    enum qn_hub_kind plain =
        qn_hub_kind_parse(source && *source ? source : api->puller->model_source);
    if (!checkpoint || !*checkpoint)
        return qn_fail_param(e, QN_EINVAL, "checkpoint", "the query needs checkpoint=owner/repo");
    if (plain != QN_HUB_HF && plain != QN_HUB_MODELSCOPE)
        return qn_fail_param(e, QN_EINVAL, "source",
                             "source must be huggingface or modelscope, not '%.40s'", source);
    if (!strchr(checkpoint, '/'))
        return qn_fail_param(e, QN_EINVAL, "checkpoint",
                             "checkpoint must be owner/repo, not '%.100s'", checkpoint);
    qn_err err = qn_ref_parse(checkpoint, plain, &a->ref, e);
    if (!err && a->ref.hub > QN_HUB_OLLAMA)
        err = qn_fail_param(e, QN_EINVAL, "checkpoint",
                            "checkpoint must be a repository, not an address or a path");
    if (!err && limit && !qn_str_eq(limit, "all") &&
        (!qn_parse_i64(limit, &a->limit) || a->limit < 1 || a->limit > VARIANTS_MAX))
        err = qn_fail_param(e, QN_EINVAL, "limit",
                            "limit must be all or a whole number from 1 to %d", VARIANTS_MAX);
    if (!err && qn_str_eq(limit, "all"))
        a->limit = INT64_MAX;
    a->checkpoint = qn_xstrdup(checkpoint);
    return err;
}

void qn_api_variants(const struct qn_hubs_api *api, struct qn_http *h, const char *id)
{
    struct asker *a = qn_xcalloc(1, sizeof *a);
    struct qn_error e = {0};
    (void)id;
    a->api = api;
    a->http = h;
    a->limit = VARIANTS_SHOWN;
    qn_err err = read_query(api, h, a, &e);
    if (!err)
        err = qn_inquire(api->inquiries, qn_client_owner(h), ask, done, a, &a->inquiry, &e);
    if (err) { /* no hub was queried */
        qn_answer_error(h, &e);
        free(a->checkpoint);
        free(a);
        return;
    }
    qn_http_on_gone(h, gone, a);
}
