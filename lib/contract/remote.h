/* The definition of a model that other machines compute: a JSON file that the catalog lists as the
 * model's file. Only its owner may read it, as it may have a key.
 *
 *    {"quince_remote": 1, "model": "Qwen/Qwen3-32B", "api_key": "…", "key_env": "BIG_API_KEY",
 *     "ca_file": "/etc/ours.pem", "flavour": "vllm", "context": 32768, "slots": 16, "timeout_s":
 * 600, "upstreams": [{"url": "https://a.example/v1", "weight": 3, "model": "qwen", "api_key":
 * "…"}]}
 *
 * Only upstreams and their urls are required. key_env names an environment variable of the router
 * that has the key, for keys that must not be on disk; the router passes its value to the child.
 * The name cannot begin with QUINCE_: such variables are the server's settings and its own keys,
 * and an unknown one is refused as a misspelt setting. */
#ifndef QN_CONTRACT_REMOTE_H
#define QN_CONTRACT_REMOTE_H

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QN_REMOTE_ENV_OWN "QUINCE_" /* prefix that key_env must not have */

enum {
    QN_REMOTE_UPSTREAMS_MAX = 16,
    QN_REMOTE_WEIGHT_MAX = 1000,
    QN_REMOTE_ENV_MAX = 128,
    QN_REMOTE_FILE_MAX = 256 * 1024,
    QN_REMOTE_URL_MAX = 1024,
    QN_REMOTE_KEY_MAX = 4096,
    QN_REMOTE_SLOTS = 16,
    QN_REMOTE_SLOTS_MAX = 256,
    QN_REMOTE_TIMEOUT_S = 600, /* the longest time without a byte from the upstream */
    QN_REMOTE_TIMEOUT_MAX_S = 86400
};

/* The API extensions that a server accepts in addition to OpenAI's API. */
enum qn_flavour {
    QN_FLAVOUR_AUTO, /* detected from the server's list of models */
    QN_FLAVOUR_OPENAI,
    QN_FLAVOUR_LLAMA, /* llama-server, and quince */
    QN_FLAVOUR_VLLM,  /* vLLM, SGLang */
    QN_FLAVOURS
};

struct qn_remote_upstream {
    const char *url;   /* without a trailing slash: ".../v1" */
    const char *model; /* the name that the upstream has for the model; NULL: the only model in its
                          list */
    const char *key;   /* NULL: none */
    int64_t weight;
};

struct qn_remote {
    struct qn_remote_upstream v[QN_REMOTE_UPSTREAMS_MAX];
    size_t n;
    const char *ca_file; /* NULL: the system's certificates */
    const char *key_env; /* NULL: none */
    enum qn_flavour flavour;
    int64_t context; /* 0: ask the upstream */
    int64_t slots, timeout_s;
};

/* Reads a definition. key: used if the file has no api_key; NULL: none. Strings belong to the
 * arena. Error messages contain the path of the faulty member, and never a key. */
qn_err qn_remote_read(const struct qn_jref *root, const char *key, struct qn_arena *arena,
                      struct qn_remote *out, struct qn_error *e);

/* Whether url is an http or https URL without user name, query or fragment. Pure. */
bool qn_remote_url_ok(const char *url);

enum qn_flavour qn_flavour_parse(const char *name); /* QN_FLAVOURS: unknown */
const char *qn_flavour_name(enum qn_flavour f);
/* From the owned_by member of lists of models; QN_FLAVOUR_OPENAI if the value is unknown. */
enum qn_flavour qn_flavour_of_owner(const char *owned_by);

#endif
