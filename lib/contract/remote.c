/* See remote.h. */
#include "contract/remote.h"

#include "base/str.h"

#include <string.h>

enum { CONTEXT_MAX = 1 << 30, MODEL_BYTES_MAX = 512, PATH_BYTES_MAX = 4096 };

static const char *const flavours[QN_FLAVOURS] = {"auto", "openai", "llamacpp", "vllm"};

enum qn_flavour qn_flavour_parse(const char *name)
{
    enum qn_flavour f = QN_FLAVOUR_AUTO;
    while (f < QN_FLAVOURS && !qn_str_eq(name, flavours[f]))
        f++;
    return f;
}

const char *qn_flavour_name(enum qn_flavour f)
{
    return flavours[f];
}

enum qn_flavour qn_flavour_of_owner(const char *owned_by)
{
    static const struct {
        const char *owner;
        enum qn_flavour flavour;
    } owners[] = {
        {"llamacpp", QN_FLAVOUR_LLAMA},
        {"lemonade", QN_FLAVOUR_LLAMA},
        {"vllm", QN_FLAVOUR_VLLM},
        {"sglang", QN_FLAVOUR_VLLM},
    };
    for (size_t i = 0; i < sizeof owners / sizeof *owners; i++)
        if (qn_str_eq(owned_by, owners[i].owner))
            return owners[i].flavour;
    return QN_FLAVOUR_OPENAI;
}

bool qn_remote_url_ok(const char *url)
{
    const char *host = qn_str_starts(url, "https://")  ? url + strlen("https://")
                       : qn_str_starts(url, "http://") ? url + strlen("http://")
                                                       : NULL;
    size_t n = strlen(url);
    if (!host || !*host || *host == '/' || *host == ':' || n > QN_REMOTE_URL_MAX)
        return false;
    for (const char *s = url; *s; s++)
        if ((unsigned char)*s <= ' ' || (unsigned char)*s >= 127 || strchr("@?#\\\"<>", *s))
            return false;
    return true;
}

/* Reads a key. As it becomes the value of a header, blanks and control characters are refused. */
static qn_err read_key(const struct qn_jref *v, struct qn_arena *arena, const char **out,
                       struct qn_error *e)
{
    const char *text = NULL;
    qn_err err = qn_json_str_opt(v, &text, e);
    if (err || !text || !*text)
        return err;
    if (strlen(text) > QN_REMOTE_KEY_MAX)
        return qn_json_fail(v, e, "a key has at most %d characters", QN_REMOTE_KEY_MAX);
    for (const char *s = text; *s; s++)
        if ((unsigned char)*s <= ' ' || (unsigned char)*s >= 127)
            return qn_json_fail(v, e, "a key has neither blanks nor control characters");
    *out = qn_arena_strdup(arena, text);
    return QN_OK;
}

static qn_err read_text(const struct qn_jref *v, size_t limit, struct qn_arena *arena,
                        const char **out, struct qn_error *e)
{
    const char *text = NULL;
    qn_err err = qn_json_str_opt(v, &text, e);
    if (err || !text || !*text)
        return err;
    if (strlen(text) > limit)
        return qn_json_fail(v, e, "has more than %zu bytes", limit);
    *out = qn_arena_strdup(arena, text);
    return QN_OK;
}

static qn_err read_upstream(const struct qn_jref *v, struct qn_arena *arena,
                            struct qn_remote_upstream *out, struct qn_error *e)
{
    struct qn_jref url = qn_json_get(v, "url"), weight = qn_json_get(v, "weight"),
                   model = qn_json_get(v, "model"), key = qn_json_get(v, "api_key");
    const char *text;
    qn_err err = qn_json_str(&url, &text, e);
    if (!err && !qn_remote_url_ok(text))
        err = qn_json_fail(&url, e,
                           "expected an address like https://host/v1, without a user name or a "
                           "question mark");
    if (err)
        return err;
    char *copy = qn_arena_strdup(arena, text);
    for (size_t n = strlen(copy); n && copy[n - 1] == '/'; n--)
        copy[n - 1] = '\0';
    out->url = copy;
    err = qn_json_i64_opt(&weight, 1, QN_REMOTE_WEIGHT_MAX, &out->weight, e);
    if (!err)
        err = read_text(&model, MODEL_BYTES_MAX, arena, &out->model, e);
    return err ? err : read_key(&key, arena, &out->key, e);
}

static qn_err read_upstreams(const struct qn_jref *root, struct qn_arena *arena,
                             struct qn_remote *out, struct qn_error *e)
{
    const struct qn_remote_upstream common = out->v[0];
    struct qn_jref list = qn_json_get(root, "upstreams"), it;
    qn_err err = QN_OK;
    if (qn_json_type(&list) != QN_JSON_ARRAY || qn_json_count(&list) < 1 ||
        qn_json_count(&list) > QN_REMOTE_UPSTREAMS_MAX)
        return qn_json_fail(&list, e, "expected an array of 1 to %d objects with a url",
                            QN_REMOTE_UPSTREAMS_MAX);
    for (bool more = qn_json_first(&list, &it); more && !err; more = qn_json_next(&it)) {
        out->v[out->n] = common;
        err = read_upstream(&it, arena, &out->v[out->n++], e);
    }
    return err;
}

qn_err qn_remote_read(const struct qn_jref *root, const char *key, struct qn_arena *arena,
                      struct qn_remote *out, struct qn_error *e)
{
    *out = (struct qn_remote){.slots = QN_REMOTE_SLOTS, .timeout_s = QN_REMOTE_TIMEOUT_S};
    const char *flavour = "auto";
    struct qn_jref v = qn_json_get(root, "quince_remote");
    int64_t version;
    qn_err err = qn_json_i64(&v, 1, 1, &version, e);
    out->v[0].weight = 1;
    out->v[0].key = key;
    v = qn_json_get(root, "api_key");
    if (!err)
        err = read_key(&v, arena, &out->v[0].key, e);
    v = qn_json_get(root, "key_env");
    if (!err)
        err = read_text(&v, QN_REMOTE_ENV_MAX, arena, &out->key_env, e);
    if (!err && out->key_env &&
        out->key_env[strspn(out->key_env, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")])
        err = qn_json_fail(&v, e, "expected the name of a variable: capitals, digits and _");
    if (!err && out->key_env && qn_str_starts(out->key_env, QN_REMOTE_ENV_OWN))
        err = qn_json_fail(&v, e,
                           "variables that begin with " QN_REMOTE_ENV_OWN
                           " are the server's own: choose another name (FAR_API_KEY, for example), "
                           "here and in the server's environment");
    v = qn_json_get(root, "model");
    if (!err)
        err = read_text(&v, MODEL_BYTES_MAX, arena, &out->v[0].model, e);
    v = qn_json_get(root, "ca_file");
    if (!err)
        err = read_text(&v, PATH_BYTES_MAX, arena, &out->ca_file, e);
    if (!err && out->ca_file && out->ca_file[0] != '/')
        err = qn_json_fail(&v, e, "expected an absolute path");
    v = qn_json_get(root, "context");
    if (!err)
        err = qn_json_i64_opt(&v, 0, CONTEXT_MAX, &out->context, e);
    v = qn_json_get(root, "slots");
    if (!err)
        err = qn_json_i64_opt(&v, 1, QN_REMOTE_SLOTS_MAX, &out->slots, e);
    v = qn_json_get(root, "timeout_s");
    if (!err)
        err = qn_json_i64_opt(&v, 1, QN_REMOTE_TIMEOUT_MAX_S, &out->timeout_s, e);
    v = qn_json_get(root, "flavour");
    if (!err)
        err = qn_json_str_opt(&v, &flavour, e);
    if (!err && (out->flavour = qn_flavour_parse(flavour)) == QN_FLAVOURS)
        err = qn_json_fail(&v, e, "expected auto, openai, llamacpp or vllm");
    return err ? err : read_upstreams(root, arena, out, e);
}
