/* See hub.h: choosing the hub, plain addresses, and the token. */
#include "registry/hub.h"

#include "base/path.h"
#include "base/str.h"
#include "registry/listing.h"
#include "registry/variant.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The first word of a small file's text, or NULL. A token is printable ASCII. */
static char *token_of(const char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    size_t n = 0;
    while (text[n] > ' ' && text[n] < 0x7f)
        n++;
    return n ? qn_xstrndup(text, n) : NULL;
}

static char *token_in(const char *path)
{
    struct qn_buf text;
    char *token = NULL;
    qn_buf_init(&text, 4096);
    if (qn_file_read(path, &text, NULL) == QN_OK)
        token = token_of(qn_buf_cstr(&text));
    qn_buf_deinit(&text);
    return token;
}

char *qn_hub_token(const char *const *env)
{
    const char *value = qn_env_get(env, "HF_TOKEN"), *path = qn_env_get(env, "HF_TOKEN_PATH"),
               *home = qn_env_get(env, "HF_HOME");
    const char *cache = qn_env_get(env, "XDG_CACHE_HOME"), *user = qn_env_get(env, "HOME");
    if (!value)
        value = qn_env_get(env, "HUGGING_FACE_HUB_TOKEN");
    if (value)
        return token_of(value);
    if (path)
        return token_in(path);
    char *file = home    ? qn_path_join(home, "token")
                 : cache ? qn_path_join(cache, "huggingface/token")
                         : NULL;
    if (!file && user)
        file = qn_path_join(user, ".cache/huggingface/token");
    char *token = file ? token_in(file) : NULL;
    free(file);
    return token;
}

/* The decoded file name in an address; "model" if there is none that can be a file name. */
static void name_of_address(const char *url, char *out, size_t size)
{
    const char *path = strstr(url, "://");
    path = path ? path + 3 : url;
    size_t len = strcspn(path, "?#"), n = 0;
    const char *from = path;
    for (size_t i = 0; i < len; i++)
        if (path[i] == '/')
            from = path + i + 1;
    bool host_only = from == path;
    bool fits = true;
    for (const char *s = from; s < path + len && fits; s++) {
        fits = n + 1 < size - 1;
        char hex[3] = {0};
        if (*s == '%' && s + 2 < path + len && isxdigit((unsigned char)s[1]) &&
            isxdigit((unsigned char)s[2])) {
            memcpy(hex, s + 1, 2);
            out[n++] = (char)strtol(hex, NULL, 16);
            s += 2;
        } else {
            out[n++] = *s;
        }
    }
    out[n] = '\0';
    if (host_only || !fits || strlen(out) != n || strchr(out, '/') || !qn_ref_path_ok(out))
        memcpy(out, "model", sizeof "model");
}

/* "-00001-of-00003.gguf" */
enum { SHARD_TAIL = 20, SHARD_DIGITS = 5 };

/* Appends text for part i of a series: text with the first number before `end` in its tail
 * replaced. */
static void add_part(struct qn_buf *out, const char *text, size_t end, int i)
{
    size_t at = end - SHARD_TAIL + 1;
    qn_buf_add(out, text, at);
    qn_buf_fmt(out, "%05d", i);
    qn_buf_str(out, text + at + SHARD_DIGITS);
}

static qn_err url_repo(const struct qn_ref *ref, struct qn_repo **out, struct qn_error *e)
{
    char name[256];
    struct qn_listing l;
    struct qn_shard shard;
    qn_err err = QN_OK;
    name_of_address(ref->url, name, sizeof name);
    qn_listing_begin(&l, QN_HUB_URL, name, "");
    /* The other parts' addresses can be derived if the address contains the name literally. */
    size_t end = strcspn(ref->url, "?#"), len = strlen(name);
    bool series = qn_shard_of(name, &shard) && end > SHARD_TAIL &&
                  !memcmp(ref->url + end - SHARD_TAIL, name + len - SHARD_TAIL, SHARD_TAIL);
    for (int i = 1; i <= (series ? shard.count : 1) && !err; i++) {
        struct qn_repo_file *file;
        struct qn_buf url, path;
        qn_buf_init(&url, QN_HUB_URL_MAX);
        qn_buf_init(&path, QN_HUB_URL_MAX);
        if (series) {
            add_part(&url, ref->url, end, i);
            add_part(&path, name, len, i);
        } else {
            qn_buf_str(&url, ref->url);
            qn_buf_str(&path, name);
        }
        err = qn_listing_add(&l, qn_buf_cstr(&path), &file, e);
        if (!err && file)
            file->url = qn_arena_strdup(l.repo->arena, qn_buf_cstr(&url));
        qn_buf_deinit(&url);
        qn_buf_deinit(&path);
    }
    return qn_listing_end(&l, err, out);
}

struct qn_web qn_hub_web(const struct qn_web *web)
{
    enum { TRIES = 2, STALL_S = 20 };
    struct qn_web few = *web;
    if (few.retries == 0 || few.retries > TRIES)
        few.retries = TRIES;
    if (few.stall_s == 0)
        few.stall_s = STALL_S;
    return few;
}

qn_err qn_hub_refused(const char *hub, int status, const char *what, struct qn_error *e)
{
    if (status == 429)
        return qn_fail(e, QN_EBUSY, "%s limits the rate of requests: try again in a few minutes",
                       hub);
    return qn_fail(e, QN_EIO, "%s answered with status %d to %.200s", hub, status, what);
}

qn_err qn_hub_gated(const char *repo, bool has_token, struct qn_error *e)
{
    if (has_token)
        return qn_fail_param(
            e, QN_EUNSUPPORTED, "checkpoint",
            "%.200s is gated, and the account of your token may not read it yet: open "
            "https://huggingface.co/%.200s in a browser and agree to its conditions",
            repo, repo);
    return qn_fail_param(e, QN_EUNSUPPORTED, "checkpoint",
                         "%.200s is gated: open https://huggingface.co/%.200s in a browser and "
                         "agree to its conditions, "
                         "make a token at https://huggingface.co/settings/tokens, put it into "
                         "HF_TOKEN (or run `hf auth "
                         "login`) and start quinced again",
                         repo, repo);
}

qn_err qn_repo_may_fetch(const struct qn_repo *repo, struct qn_error *e)
{
    return repo->gated && !repo->token ? qn_hub_gated(repo->id, false, e) : QN_OK;
}

qn_err qn_repo_refused(const struct qn_repo *repo, int status, struct qn_error *e)
{
    if (repo->hub == QN_HUB_HF && (status == 401 || status == 403))
        return qn_hub_gated(repo->id, repo->token != NULL, e);
    if (status == 401 || status == 403)
        return qn_fail(e, QN_EUNSUPPORTED, "the server refuses access to %.200s (status %d)",
                       repo->id, status);
    if (status == 404 || status == 410)
        return qn_fail(e, QN_ENOTFOUND,
                       "a file of %.200s is gone: pull it again, or with another revision",
                       repo->id);
    return qn_hub_refused(qn_hub_kind_name(repo->hub), status, repo->id, e);
}

qn_err qn_hub_repo(const struct qn_hubs *hubs, const struct qn_web *web, const struct qn_ref *ref,
                   struct qn_repo **out, struct qn_error *e)
{
    *out = NULL;
    qn_err err = ref->hub == QN_HUB_LOCAL ? QN_OK : qn_web_online(web, "asking a hub", e);
    if (err)
        return err;
    switch (ref->hub) {
    case QN_HUB_HF:
        return qn_hf_repo(hubs, web, ref, out, e);
    case QN_HUB_MODELSCOPE:
        return qn_modelscope_repo(hubs, web, ref, out, e);
    case QN_HUB_OLLAMA:
        return qn_ollama_repo(hubs, web, ref, out, e);
    case QN_HUB_URL:
        return url_repo(ref, out, e);
    default:
        return qn_fail_param(e, QN_EUNSUPPORTED, "model",
                             "'%.200s' is a path of this machine: use `quince import`", ref->url);
    }
}

qn_err qn_hub_search(const struct qn_hubs *hubs, const struct qn_web *web, enum qn_hub_kind hub,
                     const char *query, int limit, bool gguf, struct qn_search **out,
                     struct qn_error *e)
{
    *out = NULL;
    qn_err err = qn_web_online(web, "searching", e);
    if (err)
        return err;
    if (hub == QN_HUB_HF)
        return qn_hf_search(hubs, web, query, limit, gguf, out, e);
    if (hub == QN_HUB_MODELSCOPE)
        return qn_modelscope_search(hubs, web, query, limit, gguf, out, e);
    return qn_fail_param(e, QN_EUNSUPPORTED, "source",
                         "%s cannot be searched: huggingface and modelscope can",
                         qn_hub_kind_name(hub));
}
