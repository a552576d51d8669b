/* Turns a hub's reply into a struct qn_repo; every file is checked when it is added. Private to the
 * files hub_*.c. */
#ifndef QN_REGISTRY_LISTING_H
#define QN_REGISTRY_LISTING_H

#include "base/arena.h"
#include "base/json.h"
#include "registry/hub.h"
#include "registry/web.h"

enum { QN_LISTING_ARENA_MAX = 64 * 1024 * 1024, QN_HUB_URL_MAX = 4096 };
#define QN_HUB_SIZE_MAX ((int64_t)1 << 43) /* 8 TiB, of one file */

struct qn_listing {
    struct qn_repo *repo;
    struct qn_repo_file *files;
    size_t n, cap;
};

/* id and revision are copied. */
void qn_listing_begin(struct qn_listing *l, enum qn_hub_kind hub, const char *id,
                      const char *revision);

/* Adds a file with this path and an unknown size; all other members are zero. *out is NULL (with a
 * line in the debug log) when the path is not safe to append to a folder. QN_ELIMIT: more than
 * QN_REPO_FILES_MAX files. */
qn_err qn_listing_add(struct qn_listing *l, const char *path, struct qn_repo_file **out,
                      struct qn_error *e);

/* Sorts the files, drops duplicate paths and gives the repository to the caller. If err is not
 * QN_OK, frees the repository instead and returns err. */
qn_err qn_listing_end(struct qn_listing *l, qn_err err, struct qn_repo **out);

/* Copies a checksum of exactly `digits` hexadecimal digits in lower case; anything else leaves "".
 */
void qn_listing_sum(char *out, size_t digits, const char *sum);

/* Appends s percent-encoded: everything but letters, digits and . _ - ~ (and '/', if slashes is
 * set) becomes %XX. */
void qn_url_add(struct qn_buf *out, const char *s, bool slashes);

/* Parses a reply; a document that is not JSON is QN_EFORMAT with the hub's name. */
qn_err qn_hub_json(const char *hub, const struct qn_web_reply *reply, struct qn_json **doc,
                   struct qn_error *e);

/* Whole numbers as hubs write them, 0 to QN_HUB_SIZE_MAX; -1 for anything else. */
int64_t qn_hub_number(const struct qn_jref *v);
/* Copies at most QN_HUB_WORDS_MAX bytes of a hub's text for display: everything but printable ASCII
 * becomes a space. */
enum { QN_HUB_WORDS_MAX = 200 };
void qn_hub_words(const char *text, char out[static QN_HUB_WORDS_MAX + 1]);

/* A date of the form 2025-04-28T10:00:00.000Z, copied to the arena, or "". */
const char *qn_hub_date(struct qn_arena *arena, const char *text);

/* The member if it is a string, else "". */
const char *qn_hub_text(const struct qn_jref *object, const char *key);

/* A copy of web with few retries, for requests that an interactive user waits for. */
struct qn_web qn_hub_web(const struct qn_web *web);

/* The error for an unexpected HTTP status: QN_EBUSY for 429, else QN_EIO. */
qn_err qn_hub_refused(const char *hub, int status, const char *what, struct qn_error *e);

/* QN_EUNSUPPORTED: on Hugging Face the user has to accept the repository's conditions first. */
qn_err qn_hub_gated(const char *repo, bool has_token, struct qn_error *e);

/* The functions of each hub's file; the qn_*_read_* functions are pure parsers, for tests and
 * fuzzing. */
qn_err qn_hf_repo(const struct qn_hubs *hubs, const struct qn_web *web, const struct qn_ref *ref,
                  struct qn_repo **out, struct qn_error *e);
qn_err qn_hf_read_repo(const struct qn_hubs *hubs, const struct qn_ref *ref,
                       const struct qn_jref *root, struct qn_repo **out, struct qn_error *e);
qn_err qn_hf_search(const struct qn_hubs *hubs, const struct qn_web *web, const char *query,
                    int limit, bool gguf, struct qn_search **out, struct qn_error *e);
qn_err qn_hf_read_search(const struct qn_jref *root, int limit, struct qn_search **out,
                         struct qn_error *e);
qn_err qn_modelscope_repo(const struct qn_hubs *hubs, const struct qn_web *web,
                          const struct qn_ref *ref, struct qn_repo **out, struct qn_error *e);
qn_err qn_modelscope_read_repo(const struct qn_hubs *hubs, const struct qn_ref *ref,
                               const struct qn_jref *root, struct qn_repo **out,
                               struct qn_error *e);
qn_err qn_modelscope_search(const struct qn_hubs *hubs, const struct qn_web *web, const char *query,
                            int limit, bool gguf, struct qn_search **out, struct qn_error *e);
qn_err qn_modelscope_read_search(const struct qn_jref *root, int limit, struct qn_search **out,
                                 struct qn_error *e);
qn_err qn_ollama_repo(const struct qn_hubs *hubs, const struct qn_web *web,
                      const struct qn_ref *ref, struct qn_repo **out, struct qn_error *e);
qn_err qn_ollama_read_manifest(const struct qn_hubs *hubs, const struct qn_ref *ref,
                               const char *text, size_t n, struct qn_repo **out,
                               struct qn_error *e);

/* Search results: qn_search_begin makes an empty list, qn_search_add appends to it. */
struct qn_search *qn_search_begin(void);
/* NULL: the list is full. */
struct qn_found_repo *qn_search_add(struct qn_search *s, const char *id, int limit);

#endif
