/* Ollama's registry, which is a container registry (OCI distribution) with media types of its own:
 *
 *   GET /v2/OWNER/NAME/manifests/TAG     {"layers":[{"mediaType","digest":"sha256:...","size"}]}
 *   GET /v2/OWNER/NAME/blobs/DIGEST      a layer's bytes
 *
 * The manifest's own SHA-256 is the commit. */
#include "registry/listing.h"

#include "base/str.h"
#include "digest/sha256.h"

#include <stdio.h>
#include <string.h>

static const char hub_name[] = "Ollama's registry";

/* The role of a layer by its media type, and the name of its file here. */
static const struct layer {
    const char *type, *role, *name, *ending;
} layers[] = {
    {"application/vnd.ollama.image.model", "main", "model", ".gguf"},
    {"application/vnd.ollama.image.projector", "mmproj", "mmproj", ".gguf"},
    {"application/vnd.ollama.image.adapter", "adapter", "adapter", ".gguf"},
    {"application/vnd.ollama.image.template", "template", "template", ""},
    {"application/vnd.ollama.image.prompt", "template", "template", ""},
    {"application/vnd.ollama.image.system", "system", "system", ""},
    {"application/vnd.ollama.image.params", "params", "params", ".json"},
    {"application/vnd.ollama.image.messages", "messages", "messages", ".json"},
    {"application/vnd.ollama.image.license", "license", "license", ""},
};
enum { LAYERS = sizeof layers / sizeof *layers };

static qn_err read_layer(const struct qn_hubs *hubs, struct qn_listing *l, const struct qn_jref *it,
                         int seen[LAYERS], struct qn_error *e)
{
    const char *type = qn_hub_text(it, "mediaType"), *digest = qn_hub_text(it, "digest");
    char sum[65], path[64];
    struct qn_repo_file *file;
    size_t k = 0;
    while (k < LAYERS && !qn_str_eq(layers[k].type, type))
        k++;
    if (k == LAYERS) /* e.g. tensors of models that only Ollama runs; "main" is missing then */
        return QN_OK;
    qn_listing_sum(sum, 64, qn_str_starts(digest, "sha256:") ? digest + strlen("sha256:") : "");
    if (!*sum)
        return qn_fail(e, QN_EFORMAT, "%s: a part of %.200s has no SHA-256", hub_name, l->repo->id);
    if (seen[k]++)
        snprintf(path, sizeof path, "%s-%d%s", layers[k].name, seen[k], layers[k].ending);
    else
        snprintf(path, sizeof path, "%s%s", layers[k].name, layers[k].ending);
    qn_err err = qn_listing_add(l, path, &file, e);
    if (err || !file)
        return err;
    struct qn_jref v = qn_json_get(it, "size");
    file->size_bytes = qn_hub_number(&v);
    memcpy(file->sha256, sum, sizeof sum);
    file->role = layers[k].role;
    file->url = qn_arena_fmt(l->repo->arena, "%s/v2/%s/blobs/sha256:%s", hubs->ollama_registry,
                             l->repo->id, sum);
    return QN_OK;
}

qn_err qn_ollama_read_manifest(const struct qn_hubs *hubs, const struct qn_ref *ref,
                               const char *text, size_t n, struct qn_repo **out, struct qn_error *e)
{
    struct qn_json *doc = NULL;
    struct qn_error why = {0};
    int seen[LAYERS] = {0};
    *out = NULL;
    qn_err err = qn_json_parse(text, n, &doc, &why);
    if (err)
        return qn_fail(e, QN_EFORMAT, "%s's answer is not what it should be: %s", hub_name,
                       why.message);
    struct qn_jref root = qn_json_root(doc), list = qn_json_get(&root, "layers"), it;
    struct qn_listing l;
    struct qn_sha256 h;
    qn_listing_begin(&l, QN_HUB_OLLAMA, ref->repo, ref->variant);
    qn_sha256_init(&h);
    qn_sha256_add(&h, text, n);
    qn_sha256_hex(&h, l.repo->commit);
    if (qn_json_type(&list) != QN_JSON_ARRAY)
        err =
            qn_fail(e, QN_EFORMAT, "%s's answer about %.200s holds no layers", hub_name, ref->repo);
    for (bool more = !err && qn_json_first(&list, &it); more && !err; more = qn_json_next(&it))
        err = read_layer(hubs, &l, &it, seen, e);
    qn_json_free(doc);
    return qn_listing_end(&l, err, out);
}

qn_err qn_ollama_repo(const struct qn_hubs *hubs, const struct qn_web *web,
                      const struct qn_ref *ref, struct qn_repo **out, struct qn_error *e)
{
    struct qn_web few = qn_hub_web(web);
    struct qn_web_reply reply;
    struct qn_buf url;
    qn_buf_init(&url, QN_HUB_URL_MAX);
    qn_buf_fmt(&url, "%s/v2/%s/manifests/%s", hubs->ollama_registry, ref->repo, ref->variant);
    qn_err err = qn_web_ask(
        &few,
        &(struct qn_web_ask){.url = url.data,
                             .accept = "application/vnd.docker.distribution.manifest.v2+json",
                             .limit = 4 * 1024 * 1024},
        &reply, e);
    if (!err && (reply.status == 404 || reply.status == 401 || reply.status == 403))
        err = qn_fail_param(
            e, QN_ENOTFOUND, "checkpoint",
            "%.200s:%.100s is not in Ollama's library: https://ollama.com/search shows its names, "
            "`quince search` those of Hugging Face",
            qn_str_starts(ref->repo, "library/") ? ref->repo + strlen("library/") : ref->repo,
            ref->variant);
    else if (!err && reply.status != 200)
        err = qn_hub_refused(hub_name, reply.status, ref->repo, e);
    if (!err)
        err = qn_ollama_read_manifest(hubs, ref, reply.body.data ? reply.body.data : "",
                                      reply.body.len, out, e);
    qn_web_reply_deinit(&reply);
    qn_buf_deinit(&url);
    return err;
}
