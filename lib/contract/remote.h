/* What a model that other machines compute is: the file that stands for it in the catalog, and that
 * only its owner may read, for it may hold a key.
 *
 *   {"quince_remote": 1, "model": "Qwen/Qwen3-32B", "api_key": "…", "key_env": "BIG_API_KEY",
 * "ca_file": "/etc/ours.pem", "flavour": "vllm", "context": 32768, "slots": 16, "timeout_s": 600,
 *    "upstreams": [{"url": "https://a.example/v1", "weight": 3, "model": "qwen", "api_key": "…"}]}
 *
 * Only upstreams and their urls are needed. key_env names a variable of the router's environment,
 * for a key that is not to be on disk; the router hands it to the child. It cannot begin with
 * QUINCE_: such variables are the server's settings and its own keys, and one that is neither would
 * be taken for a misspelt setting. */
#ifndef QN_CONTRACT_REMOTE_H
#define QN_CONTRACT_REMOTE_H

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QN_REMOTE_ENV_OWN "QUINCE_" /* what no key_env begins with */

enum {
    QN_REMOTE_UPSTREAMS_MAX = 16,
    QN_REMOTE_WEIGHT_MAX = 1000,
    QN_REMOTE_ENV_MAX = 128,
    QN_REMOTE_FILE_MAX = 256 * 1024,
    QN_REMOTE_URL_MAX = 1024,
    QN_REMOTE_KEY_MAX = 4096,
    QN_REMOTE_SLOTS = 16,
    QN_REMOTE_SLOTS_MAX = 256,
    QN_REMOTE_TIMEOUT_S = 600, /* without a byte */
    QN_REMOTE_TIMEOUT_MAX_S = 86400
};

/* Which members beside OpenAI's own a server knows. */
enum qn_flavour {
    QN_FLAVOUR_AUTO, /* as its list of models says */
    QN_FLAVOUR_OPENAI,
    QN_FLAVOUR_LLAMA, /* llama-server, and quince */
    QN_FLAVOUR_VLLM,  /* vLLM, SGLang */
    QN_FLAVOURS
};

struct qn_remote_upstream {
    const char *url;   /* without a / at its end: ".../v1" */
    const char *model; /* what it calls the model; NULL: the only one that it has */
    const char *key;   /* NULL: none */
    int64_t weight;
};

struct qn_remote {
    struct qn_remote_upstream v[QN_REMOTE_UPSTREAMS_MAX];
    size_t n;
    const char *ca_file; /* NULL: the system's certificates */
    const char *key_env; /* NULL: none */
    enum qn_flavour flavour;
    int64_t context; /* 0: ask */
    int64_t slots, timeout_s;
};

/* key: what takes the place of api_key where that is not given; NULL: none. Strings are the
 * arena's. Errors name the member at fault, never a key. */
qn_err qn_remote_read(const struct qn_jref *root, const char *key, struct qn_arena *arena,
                      struct qn_remote *out, struct qn_error *e);

/* An http or https address without a user, a question or a fragment. Pure. */
bool qn_remote_url_ok(const char *url);

enum qn_flavour qn_flavour_parse(const char *name); /* QN_FLAVOURS: unknown */
const char *qn_flavour_name(enum qn_flavour f);
/* By what lists of models say of their owner; QN_FLAVOUR_OPENAI for one that is not known. */
enum qn_flavour qn_flavour_of_owner(const char *owned_by);

#endif
