/* What users write down for later: servers elsewhere, options of loads, arguments of servers,
 * presets, keys of the environment. The first byte says which; the rest is the text. What is
 * accepted keeps what the header promises of it. */
#include "access/keys.h"
#include "base/str.h"
#include "contract/message_codec.h"
#include "contract/remote.h"
#include "contract/server_args.h"
#include "library/preset.h"
#include "llm/options.h"
#include "models/load_options.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ARENA_MAX = 64 * 1024 * 1024, OPTIONS_MAX = 1024 * 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check(bool ok)
{
    if (!ok)
        abort();
}

/* What becomes a line of a header has no character that would end it. */
static bool is_token(const char *s)
{
    for (; s && *s; s++)
        if ((unsigned char)*s <= ' ' || (unsigned char)*s >= 127)
            return false;
    return true;
}

static void try_remote(const struct qn_jref *root, struct qn_arena *a)
{
    struct qn_remote r;
    struct qn_error e = {0};
    if (qn_remote_read(root, NULL, a, &r, &e)) {
        check(*e.message);
        return;
    }
    check(r.n >= 1 && r.n <= QN_REMOTE_UPSTREAMS_MAX && r.slots >= 1 && r.timeout_s >= 1);
    check(!r.key_env || !qn_str_starts(r.key_env, QN_REMOTE_ENV_OWN));
    for (size_t i = 0; i < r.n; i++) {
        check(qn_remote_url_ok(r.v[i].url) && !qn_str_ends(r.v[i].url, "/"));
        check(is_token(r.v[i].key) && r.v[i].weight >= 1);
    }
}

static void try_args(const char *text, struct qn_arena *a)
{
    for (size_t k = 0; k < qn_server_kinds(); k++) {
        const struct qn_server_kind *kind = qn_server_kind_at(k);
        struct qn_strings words;
        struct qn_error e = {0};
        if (qn_server_args_read(kind, text, a, &words, &e)) {
            check(*e.message && qn_str_eq(e.param, kind->args_option));
            continue;
        }
        for (size_t i = 0; i < words.n; i++)
            for (const char *const *r = kind->reserved; *r; r++)
                check(strncmp(words.v[i], *r, strlen(*r)) != 0 ||
                      (words.v[i][strlen(*r)] && words.v[i][strlen(*r)] != '='));
    }
}

static qn_err model_file(void *ctx, const char *name, struct qn_buf *path, struct qn_error *e)
{
    (void)ctx;
    if (!*name)
        return qn_fail(e, QN_ENOTFOUND, "no name");
    qn_buf_str(path, "/models/a.gguf");
    return QN_OK;
}

/* Options as a request saves them, then as a load merges them, then as the child reads them. */
static void try_options(const char *text, const struct qn_jref *root)
{
    static const char *const types[] = {"llamacpp", "whispercpp", "sd-cpp"};
    const struct qn_load_places places = {
        .model_file = model_file, .data_dir = "/data", .name = "m"};
    const char *const layers[] = {text, "{\"slots\":2,\"cache_type\":null}"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const struct qn_backend_type *type = qn_backend_type_of(types[i], 0);
        struct qn_buf merged;
        struct qn_json *doc;
        struct qn_error e = {0};
        check(type);
        if (qn_load_options_check(type, root, &e)) {
            check(*e.message);
            continue;
        }
        qn_buf_init(&merged, OPTIONS_MAX);
        if (qn_load_options_merge(type, layers, 2, &places, &merged, &e) == QN_OK) {
            check(qn_json_parse(merged.data, merged.len, &doc, &e) == QN_OK);
            struct qn_jref object = qn_json_root(doc);
            struct qn_llm_options child;
            check(i || qn_llm_options_read(&object, &child, &e) == QN_OK || *e.message);
            qn_json_free(doc);
        }
        qn_buf_deinit(&merged);
    }
}

/* A preset's messages and the request's own form a job that the child takes. */
static void try_preset(const char *text, struct qn_arena *a)
{
    struct qn_message_part says[] = {
        {.kind = QN_PART_TEXT, .attachment = QN_UNSET, .text = "s"},
        {.kind = QN_PART_TEXT, .attachment = QN_UNSET, .text = "q"},
    };
    struct qn_message messages[] = {
        {.role = QN_ROLE_SYSTEM, .parts = {&says[0], 1}},
        {.role = QN_ROLE_USER, .parts = {&says[1], 1}},
    };
    struct qn_job job;
    struct qn_error e = {0};
    qn_job_init(&job);
    job.task = QN_TASK_CHAT;
    job.id = "r1";
    job.chat.messages = (struct qn_messages){messages, 2};
    struct qn_request rq = {.arena = a, .jobs = &job, .n_jobs = 1, .context = QN_UNSET};
    if (qn_preset_apply(text, &rq, &e))
        check(*e.message);
    else
        check(job.chat.messages.n >= 2 && qn_messages_check(&job, &e) == QN_OK);
}

static void try_keys(char *text)
{
    const char *env[8] = {NULL};
    size_t n = 0;
    struct qn_error e = {0};
    char *save = NULL;
    for (char *s = strtok_r(text, "\n", &save); s && n < 7; s = strtok_r(NULL, "\n", &save))
        env[n++] = s;
    struct qn_keys *k = qn_keys_new();
    if (qn_keys_from_env(k, env, &e) == QN_OK)
        for (size_t i = 0; i < qn_keys_count(k); i++)
            check(qn_key_name_ok(qn_keys_at(k, i)->name));
    else
        check(*e.message);
    qn_keys_free(k);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct qn_json *doc = NULL;
    if (n < 1)
        return 0;
    char *text = qn_xstrndup((const char *)data + 1, n - 1);
    struct qn_arena *a = qn_arena_new(ARENA_MAX);
    bool json = qn_json_parse(text, strlen(text), &doc, NULL) == QN_OK;
    struct qn_jref root = json ? qn_json_root(doc) : (struct qn_jref){0};
    if (data[0] % 5 == 0)
        try_args(text, a);
    else if (data[0] % 5 == 1)
        try_preset(text, a);
    else if (data[0] % 5 == 2)
        try_keys(text);
    else if (json && data[0] % 5 == 3)
        try_remote(&root, a);
    else if (json && qn_json_type(&root) == QN_JSON_OBJECT)
        try_options(text, &root);
    qn_json_free(doc);
    qn_arena_free(a);
    free(text);
    return 0;
}
