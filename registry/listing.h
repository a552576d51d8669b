/* How a hub's answer becomes a struct qn_repo: every file is checked on its way in. Private to the
 * files hub_*.c. */
#ifndef QN_REGISTRY_LISTING_H
#define QN_REGISTRY_LISTING_H

#include "base/arena.h"
#include "base/json.h"
#include "registry/hub.h"
#include "registry/web.h"

enum { QN_LISTING_ARENA_MAX = 64 * 1024 * 1024, QN_HUB_URL_MAX = 4096 };
#define QN_HUB_SIZE_MAX ((int64_t)1 << 43) /* 8 TiB: of one file */

struct qn_listing {
    struct qn_repo *repo;
    struct qn_repo_file *files;
    size_t n, cap;
};

/* id and revision are copied. */
void qn_listing_begin(struct qn_listing *l, enum qn_hub_kind hub, const char *id,
                      const char *revision);

/* A new file, zeroed but for its path and an unknown size; NULL (and a line in the debug log) when
 * the path is not one that may be appended to a folder. QN_ELIMIT past QN_REPO_FILES_MAX. */
qn_err qn_listing_add(struct qn_listing *l, const char *path, struct qn_repo_file **out,
                      struct qn_error *e);

/* Sorts, drops what is named twice, and gives the repository to the caller; or frees it when err is
 * not QN_OK, which is passed on. */
qn_err qn_listing_end(struct qn_listing *l, qn_err err, struct qn_repo **out);

/* Copies a sum of exactly `digits` hexadecimal digits in lower case; anything else leaves "". */
void qn_listing_sum(char *out, size_t digits, const char *sum);

/* Appends s with everything but letters, digits and . _ - ~ (and '/', where slashes says so) as
 * %XX. */
void qn_url_add(struct qn_buf *out, const char *s, bool slashes);

/* Parses a reply; a document that is not JSON is QN_EFORMAT with the hub's name. */
qn_err qn_hub_json(const char *hub, const struct qn_web_reply *reply, struct qn_json **doc,
                   struct qn_error *e);

/* Whole numbers as hubs write them, 0 to QN_HUB_SIZE_MAX; anything else is -1. */
int64_t qn_hub_number(const struct qn_jref *v);
/* A copy of at most QN_HUB_WORDS_MAX bytes in which everything but printable ASCII is a space: text
 * of a hub's that people will see. */
enum { QN_HUB_WORDS_MAX = 200 };
void qn_hub_words(const char *text, char out[static QN_HUB_WORDS_MAX + 1]);

/* A date of the form 2025-04-28T10:00:00.000Z, the arena's, or "". */
const char *qn_hub_date(struct qn_arena *arena, const char *text);

/* A string, or "". */
const char *qn_hub_text(const struct qn_jref *object, const char *key);

/* The same rules for a person who waits: few tries. */
struct qn_web qn_hub_web(const struct qn_web *web);

/* What a status that nobody expects means: QN_EBUSY for 429, else QN_EIO. */
qn_err qn_hub_refused(const char *hub, int status, const char *what, struct qn_error *e);

/* QN_EUNSUPPORTED: Hugging Face wants somebody to agree to something first. */
qn_err qn_hub_gated(const char *repo, bool has_token, struct qn_error *e);

/* What each hub's file answers; pure parsers for tests and fuzzing. */
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

/* Searches: a list that grows, then the search. */
struct qn_search *qn_search_begin(void);
/* NULL: the list is full. */
struct qn_found_repo *qn_search_add(struct qn_search *s, const char *id, int limit);

#endif
