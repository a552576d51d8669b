/* The part of Ollama's API that needs no model to run: GET / and version, tags; and the description
 * of a model in all of this API. */
#include "api/ollama.h"

#include "answers/answer.h"
#include "base/clock.h"
#include "base/str.h"
#include "dialects/ollama/ollama.h"
#include "digest/sha256.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* The version of Ollama's API that is implemented; programs ask for it to find out which features
 * exist. */
static const char api_version[] = "0.16.1";

void qn_api_ollama_root(const struct qn_ollama_api *api, struct qn_http *h, const char *id)
{
    static const char running[] = "Ollama is running";
    const char *accept = qn_http_header(h, "Accept");
    (void)api;
    if (accept && strstr(accept, "text/html")) /* the client is a browser */
        qn_api_page(h, id);
    else
        qn_http_reply(h, 200, "text/plain; charset=utf-8", running, sizeof running - 1);
}

/* Says that Ollama's servers are not used. */
void qn_api_ollama_status(const struct qn_ollama_api *api, struct qn_http *h, const char *id)
{
    static const char body[] = "{\"cloud\":{\"disabled\":true,\"source\":\"quince\"}}";
    (void)api;
    (void)id;
    qn_http_reply(h, 200, "application/json", body, sizeof body - 1);
}

/* Refuses the query for the user's account at Ollama: there are no accounts. */
void qn_api_ollama_me(const struct qn_ollama_api *api, struct qn_http *h, const char *id)
{
    (void)api;
    (void)id;
    qn_answer_plain(h, 401, "unauthorized", "unauthorized: quince has no accounts");
}

void qn_api_ollama_version(const struct qn_ollama_api *api, struct qn_http *h, const char *id)
{
    struct qn_buf body;
    (void)api;
    (void)id;
    qn_buf_init(&body, QN_API_REPLY_MAX);
    struct qn_jw w = qn_jw_to(&body);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "version", api_version);
    qn_jw_kstr(&w, "quince", QN_VERSION);
    qn_jw_obj_end(&w);
    qn_answer_json(h, 200, &body);
    qn_buf_deinit(&body);
}

const char *qn_ollama_name(struct qn_arena *arena, const char *name)
{
    const char *last = strrchr(name, '/');
    if (strchr(last ? last : name, ':'))
        return name;
    return qn_arena_fmt(arena, "%s:latest", name);
}

bool qn_ollama_digest(const struct qn_model_row *row, char out[static QN_OLLAMA_DIGEST_MAX])
{
    bool known = *row->digest && strlen(row->digest) == QN_SHA256_HEX;
    bool preset = !qn_str_eq(row->preset, "{}");
    if (known && !preset) {
        memcpy(out, row->digest, QN_SHA256_HEX + 1);
        return true;
    }
    struct qn_sha256 sum;
    char size[32];
    qn_sha256_init(&sum);
    if (known) {
        qn_sha256_add(&sum, row->digest, QN_SHA256_HEX);
    } else {
        for (size_t i = 0; i < row->n_files; i++)
            qn_sha256_add(&sum, row->files[i], strlen(row->files[i]) + 1);
        int n = snprintf(size, sizeof size, "%lld", (long long)row->size_bytes);
        qn_sha256_add(&sum, size, (size_t)n);
    }
    if (preset)
        qn_sha256_add(&sum, row->preset, strlen(row->preset));
    qn_sha256_hex(&sum, out);
    return known;
}

/* Writes "7.6B", "135M", as in model cards. */
static void size_text(int64_t n, char out[static 32])
{
    static const struct {
        double unit;
        const char *letter;
        int digits;
    } scales[] = {{1e9, "B", 1}, {1e6, "M", 2}, {1e3, "K", 0}};
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++)
        if ((double)n >= scales[i].unit) {
            double v = (double)n / scales[i].unit;
            bool whole = v == (double)(int64_t)v;
            snprintf(out, 32, "%.*f%s", whole ? 0 : scales[i].digits, v, scales[i].letter);
            return;
        }
    snprintf(out, 32, "%lld", (long long)n);
}

void qn_ollama_details(struct qn_jw *w, const struct qn_model_row *row)
{
    struct qn_json *doc = NULL;
    struct qn_jref root = {0};
    if (qn_json_parse(row->details, strlen(row->details), &doc, NULL) == QN_OK)
        root = qn_json_root(doc);
    struct qn_jref v = qn_json_get(&root, "architecture");
    const char *family = qn_json_raw_str(&v);
    char size[32];
    v = qn_json_get(&root, "parameters");
    size_text((int64_t)qn_json_raw_f64(&v), size);
    qn_jw_key(w, "details");
    qn_jw_obj(w);
    qn_jw_kstr(w, "parent_model", row->base);
    qn_jw_kstr(w, "format", "gguf");
    qn_jw_kstr(w, "family", family);
    qn_jw_key(w, "families");
    qn_jw_arr(w);
    qn_jw_str(w, family);
    qn_jw_arr_end(w);
    qn_jw_kstr(w, "parameter_size", size);
    v = qn_json_get(&root, "quantization");
    qn_jw_kstr(w, "quantization_level", qn_json_raw_str(&v));
    v = qn_json_get(&root, "context_length");
    if (qn_json_raw_f64(&v) > 0)
        qn_jw_ki64(w, "context_length", (int64_t)qn_json_raw_f64(&v));
    qn_jw_obj_end(w);
    qn_json_free(doc);
}

int64_t qn_ollama_modified_ms(const struct qn_model_row *row)
{
    return (row->modified_s > 0 ? row->modified_s : row->created_s) * 1000;
}

qn_err qn_ollama_model_of(const struct qn_jref *root, const char **name, struct qn_error *e)
{
    struct qn_jref model = qn_json_get(root, "model"), old = qn_json_get(root, "name");
    *name = NULL;
    qn_err err = qn_json_str_opt(&model, name, e);
    if (!err && (!*name || !**name))
        err = qn_json_str_opt(&old, name, e);
    if (!err && (!*name || !**name))
        err = qn_fail_param(e, QN_EINVAL, "model", "model is required");
    return err;
}

static void write_tag(struct qn_jw *w, struct qn_arena *arena, const struct qn_model_row *row)
{
    const char *name = qn_ollama_name(arena, row->name);
    char digest[QN_OLLAMA_DIGEST_MAX];
    bool known = qn_ollama_digest(row, digest);
    qn_jw_obj(w);
    qn_jw_kstr(w, "name", name);
    qn_jw_kstr(w, "model", name);
    qn_ollama_time(w, "modified_at", qn_ollama_modified_ms(row));
    qn_jw_ki64(w, "size", row->size_bytes);
    qn_jw_kstr(w, "digest", digest);
    if (!known)
        qn_jw_kbool(w, "digest_pending", true);
    qn_ollama_details(w, row);
    qn_jw_obj_end(w);
}

void qn_api_ollama_tags(const struct qn_ollama_api *api, struct qn_http *h, const char *id)
{
    struct qn_snapshot *snap = qn_catalog_snapshot(api->models->catalog);
    struct qn_buf body;
    (void)id;
    qn_buf_init(&body, QN_API_REPLY_MAX);
    struct qn_jw w = qn_jw_to(&body);
    qn_jw_obj(&w);
    qn_jw_key(&w, "models");
    qn_jw_arr(&w);
    for (size_t i = 0; i < qn_snapshot_count(snap); i++)
        write_tag(&w, qn_http_arena(h), qn_snapshot_at(snap, i));
    qn_jw_arr_end(&w);
    qn_jw_obj_end(&w);
    qn_answer_json(h, 200, &body);
    qn_buf_deinit(&body);
    qn_snapshot_unref(snap);
}
