/* Hugging Face's API, and mirrors that implement it (HF_ENDPOINT):
 * https://huggingface.co/docs/hub/api.
 *
 *   GET /api/models/OWNER/NAME[/revision/REVISION]?blobs=true    files with sizes and checksums
 *   GET /api/models?search=WORDS&sort=downloads&filter=gguf      a search
 *   GET /OWNER/NAME/resolve/COMMIT/PATH                          a file
 *
 * For a repository that does not exist, a request without a token gets 401, so that the names of
 * private repositories cannot be probed; the header X-Error-Code tells the two cases apart. */
#include "registry/listing.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>

static void file_url(const struct qn_hubs *hubs, const struct qn_repo *repo, const char *path,
                     struct qn_buf *out)
{
    qn_buf_fmt(out, "%s/%s/resolve/", hubs->hf_endpoint, repo->id);
    qn_url_add(out, *repo->commit ? repo->commit : repo->revision, true);
    qn_buf_char(out, '/');
    qn_url_add(out, path, true);
}

static qn_err read_file(const struct qn_hubs *hubs, struct qn_listing *l, const struct qn_jref *it,
                        struct qn_error *e)
{
    struct qn_repo_file *file;
    const char *path;
    struct qn_jref v = qn_json_get(it, "rfilename"), lfs = qn_json_get(it, "lfs");
    qn_err err = qn_json_str(&v, &path, e);
    if (!err)
        err = qn_listing_add(l, path, &file, e);
    if (err || !file)
        return err;
    v = qn_json_get(it, "size");
    file->size_bytes = qn_hub_number(&v);
    if (qn_json_type(&lfs) == QN_JSON_OBJECT) {
        const char *sum = qn_hub_text(&lfs, "sha256");
        qn_listing_sum(file->sha256, 64, *sum ? sum : qn_hub_text(&lfs, "oid"));
        v = qn_json_get(&lfs, "size");
        if (qn_json_type(&v) == QN_JSON_NUMBER)
            file->size_bytes = qn_hub_number(&v);
    } else {
        qn_listing_sum(file->git_sha1, 40, qn_hub_text(it, "blobId"));
    }
    struct qn_buf url;
    qn_buf_init(&url, QN_HUB_URL_MAX);
    file_url(hubs, l->repo, path, &url);
    if (url.overflow)
        err = qn_fail(e, QN_EFORMAT, "%.200s has a file whose name is too long to be requested",
                      l->repo->id);
    else
        file->url = qn_arena_strdup(l->repo->arena, qn_buf_cstr(&url));
    qn_buf_deinit(&url);
    return err;
}

/* A word for display, such as a licence's name; NULL for an empty one. */
static const char *word(struct qn_arena *arena, const char *text)
{
    char shown[QN_HUB_WORDS_MAX + 1];
    qn_hub_words(text, shown);
    return *shown ? qn_arena_strdup(arena, shown) : NULL;
}

/* The licence, which is one of the tags: "license:apache-2.0". */
static const char *license_of(struct qn_arena *arena, const struct qn_jref *object)
{
    static const char mark[] = "license:";
    struct qn_jref tags = qn_json_get(object, "tags"), tag;
    for (bool more = qn_json_first(&tags, &tag); more; more = qn_json_next(&tag))
        if (qn_str_starts(qn_json_raw_str(&tag), mark))
            return word(arena, qn_json_raw_str(&tag) + strlen(mark));
    return NULL;
}

qn_err qn_hf_read_repo(const struct qn_hubs *hubs, const struct qn_ref *ref,
                       const struct qn_jref *root, struct qn_repo **out, struct qn_error *e)
{
    struct qn_listing l;
    struct qn_jref v, it, siblings = qn_json_get(root, "siblings");
    const char *id = qn_hub_text(root, "id"), *pipeline = qn_hub_text(root, "pipeline_tag");
    qn_err err = QN_OK;
    *out = NULL;
    /* For a renamed repository the reply has the new name, under which its files are stored. */
    qn_listing_begin(&l, QN_HUB_HF, qn_ref_repo_ok(id) ? id : ref->repo,
                     *ref->revision ? ref->revision : "main");
    qn_listing_sum(l.repo->commit, 40, qn_hub_text(root, "sha"));
    v = qn_json_get(root, "gated");
    /* false, "auto" or "manual" */
    l.repo->gated = qn_json_type(&v) == QN_JSON_STRING || qn_json_raw_bool(&v);
    l.repo->token = hubs->hf_token;
    l.repo->pipeline =
        *pipeline ? qn_arena_strndup(l.repo->arena, pipeline, strnlen(pipeline, 64)) : NULL;
    struct qn_jref gguf = qn_json_get(root, "gguf");
    v = qn_json_get(&gguf, "context_length");
    l.repo->context_length = qn_hub_number(&v) > 0 ? qn_hub_number(&v) : 0;
    l.repo->architecture = word(l.repo->arena, qn_hub_text(&gguf, "architecture"));
    l.repo->license = license_of(l.repo->arena, root);
    if (!*l.repo->commit)
        err =
            qn_fail(e, QN_EFORMAT, "Hugging Face's answer about %.200s names no commit", ref->repo);
    else if (qn_json_type(&siblings) != QN_JSON_ARRAY)
        err = qn_fail(e, QN_EFORMAT, "Hugging Face's answer about %.200s holds no list of files",
                      ref->repo);
    for (bool more = !err && qn_json_first(&siblings, &it); more && !err; more = qn_json_next(&it))
        err = read_file(hubs, &l, &it, e);
    if (err == QN_EINVAL)
        err = qn_fail(e, QN_EFORMAT, "Hugging Face's answer about %.200s has a file without a name",
                      ref->repo);
    return qn_listing_end(&l, err, out);
}

qn_err qn_hf_read_search(const struct qn_jref *root, int limit, struct qn_search **out,
                         struct qn_error *e)
{
    struct qn_jref it;
    *out = NULL;
    if (qn_json_type(root) != QN_JSON_ARRAY)
        return qn_fail(e, QN_EFORMAT, "Hugging Face's answer to the search is not a list");
    struct qn_search *s = qn_search_begin();
    for (bool more = qn_json_first(root, &it); more; more = qn_json_next(&it)) {
        const char *id = qn_hub_text(&it, "id"), *updated = qn_hub_text(&it, "lastModified");
        struct qn_found_repo *found = qn_ref_repo_ok(id) ? qn_search_add(s, id, limit) : NULL;
        if (!found)
            continue;
        struct qn_jref v = qn_json_get(&it, "downloads"), tags = qn_json_get(&it, "tags"), tag;
        found->downloads = qn_hub_number(&v);
        v = qn_json_get(&it, "likes");
        found->likes = qn_hub_number(&v);
        v = qn_json_get(&it, "gated");
        found->gated = qn_json_type(&v) == QN_JSON_STRING || qn_json_raw_bool(&v);
        if (!*updated)
            updated = qn_hub_text(&it, "createdAt");
        found->updated = qn_hub_date(s->arena, updated);
        found->license = license_of(s->arena, &it);
        for (bool t = qn_json_first(&tags, &tag); t; t = qn_json_next(&tag))
            found->gguf = found->gguf || qn_str_eq(qn_json_raw_str(&tag), "gguf");
    }
    *out = s;
    return QN_OK;
}

static qn_err ask(const struct qn_hubs *hubs, const struct qn_web *web, const struct qn_buf *url,
                  struct qn_web_reply *reply, struct qn_error *e)
{
    struct qn_web few = qn_hub_web(web);
    return qn_web_ask(&few,
                      &(struct qn_web_ask){
                          .url = url->data, .token = hubs->hf_token, .accept = "application/json"},
                      reply, e);
}

qn_err qn_hf_search(const struct qn_hubs *hubs, const struct qn_web *web, const char *query,
                    int limit, bool gguf, struct qn_search **out, struct qn_error *e)
{
    struct qn_buf url;
    struct qn_web_reply reply;
    struct qn_json *doc = NULL;
    qn_buf_init(&url, QN_HUB_URL_MAX);
    qn_buf_fmt(&url,
               "%s/api/models?sort=downloads&direction=-1&limit=%d%s&search=", hubs->hf_endpoint,
               limit, gguf ? "&filter=gguf" : "");
    qn_url_add(&url, query, false);
    *out = NULL;
    qn_err err =
        url.overflow ? qn_fail_param(e, QN_EINVAL, "query", "the search text is too long") : QN_OK;
    if (!err) {
        err = ask(hubs, web, &url, &reply, e);
        if (!err && reply.status != 200)
            err = qn_hub_refused("Hugging Face", reply.status, "the search", e);
        if (!err)
            err = qn_hub_json("Hugging Face", &reply, &doc, e);
        if (!err) {
            struct qn_jref root = qn_json_root(doc);
            err = qn_hf_read_search(&root, limit, out, e);
        }
        qn_json_free(doc);
        qn_web_reply_deinit(&reply);
    }
    qn_buf_deinit(&url);
    return err;
}

/* Appends similar names to one that does not exist. If they cannot be fetched, the message goes
 * without them. */
static void near_names(const struct qn_hubs *hubs, const struct qn_web *web, const char *repo,
                       struct qn_buf *out)
{
    struct qn_search *found;
    const char *name = strchr(repo, '/') + 1;
    if (qn_hf_search(hubs, web, name, 4, false, &found, NULL))
        return;
    for (size_t i = 0; i < found->n; i++)
        qn_buf_fmt(out, "%s%s", i ? ", " : "; did you mean ", found->v[i].id);
    if (found->n)
        qn_buf_char(out, '?');
    qn_search_free(found);
}

static qn_err not_found(const struct qn_hubs *hubs, const struct qn_web *web,
                        const struct qn_ref *ref, struct qn_error *e)
{
    struct qn_buf names;
    qn_buf_init(&names, QN_ERROR_MESSAGE_MAX);
    near_names(hubs, web, ref->repo, &names);
    qn_err err =
        qn_fail_param(e, QN_ENOTFOUND, "checkpoint", "%.200s is not on Hugging Face%s%s", ref->repo,
                      hubs->hf_token ? "" : " (or is private: set HF_TOKEN)", qn_buf_cstr(&names));
    qn_buf_deinit(&names);
    return err;
}

/* What a reply other than 200 means. */
static qn_err refused(const struct qn_hubs *hubs, const struct qn_web *web,
                      const struct qn_ref *ref, const struct qn_web_reply *reply,
                      struct qn_error *e)
{
    char *code = qn_web_header(reply, "X-Error-Code");
    qn_err err;
    if (qn_str_eq(code, "GatedRepo"))
        err = qn_hub_gated(ref->repo, hubs->hf_token != NULL, e);
    else if (qn_str_eq(code, "RevisionNotFound"))
        err = qn_fail_param(e, QN_ENOTFOUND, "revision", "%.200s has no revision '%.100s'",
                            ref->repo, ref->revision);
    else if (reply->status == 401 && hubs->hf_token && !qn_str_eq(code, "RepoNotFound"))
        err = qn_fail_param(e, QN_EUNSUPPORTED, "checkpoint",
                            "Hugging Face does not accept the token: make a new one at "
                            "%s/settings/tokens and put it "
                            "into HF_TOKEN",
                            hubs->hf_endpoint);
    else if (reply->status == 404 || reply->status == 401 || reply->status == 403)
        err = not_found(hubs, web, ref, e);
    else
        err = qn_hub_refused("Hugging Face", reply->status, ref->repo, e);
    free(code);
    return err;
}

qn_err qn_hf_repo(const struct qn_hubs *hubs, const struct qn_web *web, const struct qn_ref *ref,
                  struct qn_repo **out, struct qn_error *e)
{
    struct qn_buf url;
    struct qn_web_reply reply;
    struct qn_json *doc = NULL;
    qn_buf_init(&url, QN_HUB_URL_MAX);
    qn_buf_fmt(&url, "%s/api/models/%s", hubs->hf_endpoint, ref->repo);
    if (*ref->revision) {
        /* "refs/pr/7" is one path component there, so its slashes are escaped. */
        qn_buf_str(&url, "/revision/");
        qn_url_add(&url, ref->revision, false);
    }
    qn_buf_str(&url, "?blobs=true");
    qn_err err = ask(hubs, web, &url, &reply, e);
    if (!err && reply.status != 200)
        err = refused(hubs, web, ref, &reply, e);
    if (!err)
        err = qn_hub_json("Hugging Face", &reply, &doc, e);
    if (!err) {
        struct qn_jref root = qn_json_root(doc);
        err = qn_hf_read_repo(hubs, ref, &root, out, e);
    }
    qn_json_free(doc);
    qn_web_reply_deinit(&reply);
    qn_buf_deinit(&url);
    return err;
}
