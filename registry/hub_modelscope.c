/* ModelScope's API: https://modelscope.cn/docs.
 *
 *   GET /api/v1/models/OWNER/NAME/repo/files?Revision=REV&Recursive=True   files, sizes, checksums
 *   GET /api/v1/models/OWNER/NAME/repo?Revision=REV&FilePath=PATH          a file
 *   GET /openapi/v1/models?search=WORDS                                    a search
 *
 * Replies hold {"Code":200,"Data":{...},"Message":"","Success":true}; errors also come with HTTP
 * 200. The API gives no commit of the whole repository, so one is computed from its files. */
#include "registry/listing.h"

#include "base/str.h"
#include "digest/sha256.h"

#include <stdio.h>
#include <string.h>

static const char hub_name[] = "ModelScope";

/* Looks a member up by either spelling: they differ between parts of the API. */
static struct qn_jref get(const struct qn_jref *object, const char *a, const char *b)
{
    struct qn_jref v = qn_json_get(object, a);
    return qn_json_type(&v) == QN_JSON_ABSENT ? qn_json_get(object, b) : v;
}

static const char *text(const struct qn_jref *object, const char *a, const char *b)
{
    struct qn_jref v = get(object, a, b);
    return qn_json_raw_str(&v);
}

/* The error that the reply's own code and message describe, if any. */
static qn_err check(const struct qn_jref *root, const char *what, struct qn_error *e)
{
    struct qn_jref code = get(root, "Code", "code"), success = get(root, "Success", "success");
    int64_t number = 200;
    qn_json_i64_opt(&code, 0, INT32_MAX, &number, NULL);
    bool failed = (number != 200 && number != 0) ||
                  (qn_json_type(&success) == QN_JSON_BOOL && !qn_json_raw_bool(&success));
    if (!failed)
        return QN_OK;
    char words[QN_HUB_WORDS_MAX + 1];
    qn_hub_words(text(root, "Message", "message"), words);
    if (number == 429 || (number >= 500 && number < 600))
        return qn_hub_refused(hub_name, (int)number, what, e);
    /* ModelScope's codes for "no such repository" and "no permission" begin with 1001. */
    return qn_fail_param(e, QN_ENOTFOUND, "checkpoint",
                         "%.200s is not on ModelScope, or is not public (it says: %.200s)", what,
                         *words ? words : "nothing");
}

static qn_err add_file(const struct qn_hubs *hubs, struct qn_listing *l, const struct qn_jref *it,
                       struct qn_error *e)
{
    struct qn_repo_file *file;
    const char *type = text(it, "Type", "type"), *path = text(it, "Path", "path");
    if (qn_str_eq(type, "tree") || qn_str_eq(type, "dir") || qn_str_eq(type, "directory"))
        return QN_OK;
    qn_err err = qn_listing_add(l, path, &file, e);
    if (err || !file)
        return err;
    struct qn_jref v = get(it, "Size", "size");
    struct qn_buf url;
    file->size_bytes = qn_hub_number(&v);
    qn_listing_sum(file->sha256, 64, text(it, "Sha256", "sha256"));
    qn_buf_init(&url, QN_HUB_URL_MAX);
    qn_buf_fmt(&url, "%s/api/v1/models/%s/repo?Revision=", hubs->modelscope_endpoint, l->repo->id);
    qn_url_add(&url, l->repo->revision, false);
    qn_buf_str(&url, "&FilePath=");
    qn_url_add(&url, path, false);
    if (url.overflow)
        err = qn_fail(e, QN_EFORMAT, "%.200s has a file whose name is too long to be requested",
                      l->repo->id);
    else
        file->url = qn_arena_strdup(l->repo->arena, qn_buf_cstr(&url));
    qn_buf_deinit(&url);
    return err;
}

/* Sets the commit: 40 digits of the SHA-256 over every file's path, size and checksum. It changes
 * when any of these does. */
static void make_commit(struct qn_repo *repo)
{
    struct qn_sha256 h;
    char number[32], hex[QN_SHA256_HEX + 1];
    qn_sha256_init(&h);
    for (size_t i = 0; i < repo->n; i++) {
        const struct qn_repo_file *f = &repo->files[i];
        int n = snprintf(number, sizeof number, "%lld", (long long)f->size_bytes);
        qn_sha256_add(&h, f->path, strlen(f->path) + 1);
        qn_sha256_add(&h, number, (size_t)n + 1);
        qn_sha256_add(&h, f->sha256, strlen(f->sha256) + 1);
    }
    qn_sha256_hex(&h, hex);
    memcpy(repo->commit, hex, 40);
}

qn_err qn_modelscope_read_repo(const struct qn_hubs *hubs, const struct qn_ref *ref,
                               const struct qn_jref *root, struct qn_repo **out, struct qn_error *e)
{
    struct qn_listing l;
    struct qn_jref data = get(root, "Data", "data"), files = get(&data, "Files", "files"), it;
    *out = NULL;
    qn_err err = check(root, ref->repo, e);
    if (err)
        return err;
    qn_listing_begin(&l, QN_HUB_MODELSCOPE, ref->repo, *ref->revision ? ref->revision : "master");
    l.repo->token = hubs->modelscope_token;
    if (qn_json_type(&files) != QN_JSON_ARRAY)
        err = qn_fail(e, QN_EFORMAT, "ModelScope's answer about %.200s holds no list of files",
                      ref->repo);
    for (bool more = !err && qn_json_first(&files, &it); more && !err; more = qn_json_next(&it))
        err = add_file(hubs, &l, &it, e);
    err = qn_listing_end(&l, err, out);
    if (!err)
        make_commit(*out);
    return err;
}

/* The list in a search's reply is at one of several paths: Data.Models, data.models,
 * Data.Model.Models. */
static struct qn_jref found_list(const struct qn_jref *root, struct qn_jref keep[static 3])
{
    keep[0] = get(root, "Data", "data");
    keep[1] = get(&keep[0], "Model", "model");
    if (qn_json_type(&keep[1]) != QN_JSON_OBJECT)
        keep[1] = keep[0];
    keep[2] = get(&keep[1], "Models", "models");
    return keep[2];
}

qn_err qn_modelscope_read_search(const struct qn_jref *root, int limit, struct qn_search **out,
                                 struct qn_error *e)
{
    struct qn_jref keep[3], it;
    *out = NULL;
    qn_err err = check(root, "the search", e);
    if (err)
        return err;
    struct qn_jref list = found_list(root, keep), v;
    if (qn_json_type(&list) != QN_JSON_ARRAY)
        return qn_fail(e, QN_EFORMAT, "ModelScope's answer to the search holds no list");
    struct qn_search *s = qn_search_begin();
    v = get(&keep[1], "TotalCount", "total_count");
    s->total = qn_hub_number(&v);
    for (bool more = qn_json_first(&list, &it); more; more = qn_json_next(&it)) {
        char id[QN_REF_REPO_MAX + 1];
        const char *whole = text(&it, "id", "Id"), *owner = text(&it, "Path", "owner"),
                   *name = text(&it, "Name", "name");
        int n = strchr(whole, '/')   ? snprintf(id, sizeof id, "%s", whole)
                : strchr(owner, '/') ? snprintf(id, sizeof id, "%s", owner)
                                     : snprintf(id, sizeof id, "%s/%s", owner, name);
        struct qn_found_repo *found = n > 0 && (size_t)n < sizeof id && qn_ref_repo_ok(id)
                                          ? qn_search_add(s, id, limit)
                                          : NULL;
        if (!found)
            continue;
        v = get(&it, "downloads", "Downloads");
        found->downloads = qn_hub_number(&v);
        v = get(&it, "likes", "Stars");
        found->likes = qn_hub_number(&v);
        found->updated = qn_hub_date(s->arena, text(&it, "last_modified", "updated_at"));
        found->gguf = strcasestr(id, "gguf") != NULL;
    }
    *out = s;
    return QN_OK;
}

/* Sends the request; *doc is the reply's document if it is valid. */
static qn_err ask(const struct qn_hubs *hubs, const struct qn_web *web, const struct qn_buf *url,
                  const char *what, struct qn_json **doc, struct qn_error *e)
{
    struct qn_web few = qn_hub_web(web);
    struct qn_web_reply reply;
    qn_err err = qn_web_ask(&few,
                            &(struct qn_web_ask){.url = url->data,
                                                 .token = hubs->modelscope_token,
                                                 .accept = "application/json"},
                            &reply, e);
    if (!err && (reply.status == 401 || reply.status == 403 || reply.status == 404))
        err = qn_fail_param(e, QN_ENOTFOUND, "checkpoint",
                            "%.200s is not on ModelScope, or is not public", what);
    else if (!err && reply.status != 200)
        err = qn_hub_refused(hub_name, reply.status, what, e);
    if (!err)
        err = qn_hub_json(hub_name, &reply, doc, e);
    qn_web_reply_deinit(&reply);
    return err;
}

qn_err qn_modelscope_repo(const struct qn_hubs *hubs, const struct qn_web *web,
                          const struct qn_ref *ref, struct qn_repo **out, struct qn_error *e)
{
    struct qn_buf url;
    struct qn_json *doc = NULL;
    qn_buf_init(&url, QN_HUB_URL_MAX);
    qn_buf_fmt(&url,
               "%s/api/v1/models/%s/repo/files?Recursive=True&Revision=", hubs->modelscope_endpoint,
               ref->repo);
    qn_url_add(&url, *ref->revision ? ref->revision : "master", false);
    qn_err err = ask(hubs, web, &url, ref->repo, &doc, e);
    if (!err) {
        struct qn_jref root = qn_json_root(doc);
        err = qn_modelscope_read_repo(hubs, ref, &root, out, e);
    }
    qn_json_free(doc);
    qn_buf_deinit(&url);
    return err;
}

qn_err qn_modelscope_search(const struct qn_hubs *hubs, const struct qn_web *web, const char *query,
                            int limit, bool gguf, struct qn_search **out, struct qn_error *e)
{
    struct qn_buf url;
    struct qn_json *doc = NULL;
    qn_buf_init(&url, QN_HUB_URL_MAX);
    qn_buf_fmt(&url, "%s/openapi/v1/models?sort=downloads&page_number=1&page_size=%d%s&search=",
               hubs->modelscope_endpoint, limit, gguf ? "&filter.library=gguf" : "");
    qn_url_add(&url, query, false);
    qn_err err = url.overflow ? qn_fail_param(e, QN_EINVAL, "query", "the search text is too long")
                              : ask(hubs, web, &url, "the search", &doc, e);
    if (!err) {
        struct qn_jref root = qn_json_root(doc);
        err = qn_modelscope_read_search(&root, limit, out, e);
    }
    qn_json_free(doc);
    qn_buf_deinit(&url);
    return err;
}
