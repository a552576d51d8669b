/* Asks a hub for a repository: its files at one commit, with sizes and checksums. Three hubs have
 * this interface: Hugging Face (hub_hf.c), ModelScope (hub_modelscope.c) and Ollama's registry
 * (hub_ollama.c). Blocking, for worker threads. Replies are untrusted and are checked before they
 * get into these structs: paths are safe to append to a folder (qn_ref_path_ok). */
#ifndef QN_REGISTRY_HUB_H
#define QN_REGISTRY_HUB_H

#include "base/error.h"
#include "registry/ref.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct qn_arena;
struct qn_web; /* registry/web.h */

enum { QN_REPO_FILES_MAX = 20000, QN_SEARCH_MAX = 50 };

/* The addresses of the hubs. Fixed for the life of the program; the strings are lent. */
struct qn_hubs {
    const char *hf_endpoint;         /* "https://huggingface.co", no slash at the end */
    const char *modelscope_endpoint; /* "https://modelscope.cn" */
    const char *ollama_registry;     /* "https://registry.ollama.ai" */
    const char *hf_token;            /* NULL: none */
    const char *modelscope_token;    /* NULL: none */
};

/* Reads a token from HF_TOKEN, else from the file HF_TOKEN_PATH, else $HF_HOME/token, else
 * ~/.cache/huggingface/token. malloc'ed; NULL: there is none. */
char *qn_hub_token(const char *const *env);

struct qn_repo_file {
    const char *path;   /* in the repository, '/' between folders */
    int64_t size_bytes; /* < 0: unknown */
    char sha256[65];    /* of the contents, lower-case hexadecimal; "": the hub does not give it */
    char git_sha1[41];  /* git's blob id (only for files that are not in LFS); "": unknown */
    const char *url;    /* address of its contents */
    const char *role;   /* the role given by the hub: "main", "mmproj", "template", "params",
                           "license", "system", "messages", "adapter"; NULL: qn_resolve decides */
};

/* One repository at one commit. Immutable; one arena holds everything. */
struct qn_repo {
    enum qn_hub_kind hub;
    const char *id;       /* "owner/name" as the hub spells it; URL: the file's name */
    const char *revision; /* as requested: "main", "master", a tag */
    char commit[65]; /* 40 hexadecimal digits of git, 64 of an Ollama manifest's SHA-256; URL: "" */
    const struct qn_repo_file *files; /* sorted by path, no path twice */
    size_t n;
    bool partial;         /* read from a cache of which some files could not be examined */
    bool gated;           /* the hub requires a token for its files */
    const char *token;    /* sent with requests for the files; lent from qn_hubs; NULL: none */
    const char *pipeline; /* the task that the hub gives for it ("text-generation"); NULL: none */
    const char *license;  /* as the hub names it ("apache-2.0"); NULL: none */
    /* of its GGUF files, as the hub has read them */
    const char *architecture; /* "qwen3"; NULL: unknown */
    int64_t context_length;   /* tokens; 0: unknown */
    struct qn_arena *arena;
};

/* Fetches the description of a repository. A plain URL gives a repository of one file (or of all
 * shards, if the name says that there are more) without any request. QN_ENOTFOUND (repository or
 * revision), QN_EUNSUPPORTED (gated, with what to do; offline; a local path), QN_EBUSY
 * (rate-limited), QN_EFORMAT, QN_EIO, QN_ETIMEOUT, QN_ECANCELLED. */
qn_err qn_hub_repo(const struct qn_hubs *hubs, const struct qn_web *web, const struct qn_ref *ref,
                   struct qn_repo **out, struct qn_error *e);
void qn_repo_free(struct qn_repo *repo); /* NULL allowed */

/* QN_EUNSUPPORTED, with what to do, when the files need a token and none is configured. To be
 * called before anything is fetched. */
qn_err qn_repo_may_fetch(const struct qn_repo *repo, struct qn_error *e);

/* The error for a file that the server refused with this HTTP status. Never returns QN_OK. */
qn_err qn_repo_refused(const struct qn_repo *repo, int status, struct qn_error *e);

/* Results of a search, best first. */
struct qn_found_repo {
    const char *id;
    int64_t downloads, likes;
    const char *updated; /* ISO 8601, or "" */
    const char *license; /* "apache-2.0"; NULL: none */
    bool gguf, gated;
};
struct qn_search {
    const struct qn_found_repo *v;
    size_t n;
    int64_t total; /* < 0: the hub does not give it */
    struct qn_arena *arena;
};

/* hub: HF or MODELSCOPE (Ollama has no search). limit: 1 to QN_SEARCH_MAX. gguf: only repositories
 * with GGUF files. */
qn_err qn_hub_search(const struct qn_hubs *hubs, const struct qn_web *web, enum qn_hub_kind hub,
                     const char *query, int limit, bool gguf, struct qn_search **out,
                     struct qn_error *e);
void qn_search_free(struct qn_search *s); /* NULL allowed */

#endif
