/* See listing.h. */
#include "registry/listing.h"

#include "base/log.h"
#include "base/str.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void qn_listing_begin(struct qn_listing *l, enum qn_hub_kind hub, const char *id,
                      const char *revision)
{
    struct qn_arena *arena = qn_arena_new(QN_LISTING_ARENA_MAX);
    *l = (struct qn_listing){.repo = qn_arena_alloc(arena, sizeof *l->repo)};
    l->repo->arena = arena;
    l->repo->hub = hub;
    l->repo->id = qn_arena_strdup(arena, id);
    l->repo->revision = qn_arena_strdup(arena, revision);
}

qn_err qn_listing_add(struct qn_listing *l, const char *path, struct qn_repo_file **out,
                      struct qn_error *e)
{
    *out = NULL;
    if (!qn_ref_path_ok(path)) {
        qn_debug("hub", "repo=%s ignored=\"%.200s\" reason=\"not a valid path\"", l->repo->id,
                 path);
        return QN_OK;
    }
    if (l->n == QN_REPO_FILES_MAX || qn_arena_used(l->repo->arena) > QN_LISTING_ARENA_MAX / 2)
        return qn_fail(e, QN_ELIMIT, "%.200s has more files than the limit of %d", l->repo->id,
                       QN_REPO_FILES_MAX);
    if (l->n == l->cap) {
        l->cap = l->cap ? 2 * l->cap : 64;
        l->files = qn_xrealloc(l->files, l->cap * sizeof *l->files);
    }
    *out = &l->files[l->n++];
    **out = (struct qn_repo_file){.path = qn_arena_strdup(l->repo->arena, path), .size_bytes = -1};
    return QN_OK;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct qn_repo_file *)a)->path, ((const struct qn_repo_file *)b)->path);
}

qn_err qn_listing_end(struct qn_listing *l, qn_err err, struct qn_repo **out)
{
    struct qn_repo *repo = l->repo;
    *out = NULL;
    if (err) {
        free(l->files);
        qn_repo_free(repo);
        return err;
    }
    if (l->n)
        qsort(l->files, l->n, sizeof *l->files, by_path);
    struct qn_repo_file *files = qn_arena_alloc(repo->arena, (l->n + 1) * sizeof *files);
    for (size_t i = 0; i < l->n; i++)
        if (!repo->n || !qn_str_eq(files[repo->n - 1].path, l->files[i].path))
            files[repo->n++] = l->files[i];
    repo->files = files;
    free(l->files);
    *out = repo;
    return QN_OK;
}

void qn_repo_free(struct qn_repo *repo)
{
    if (repo)
        qn_arena_free(repo->arena);
}

void qn_listing_sum(char *out, size_t digits, const char *sum)
{
    bool ok = strlen(sum) == digits;
    for (size_t i = 0; ok && i < digits; i++) {
        ok = isxdigit((unsigned char)sum[i]);
        out[i] = (char)tolower((unsigned char)sum[i]);
    }
    out[ok ? digits : 0] = '\0';
}

void qn_url_add(struct qn_buf *out, const char *s, bool slashes)
{
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if ((c < 0x80 && isalnum(c)) || strchr("._-~", c) || (slashes && c == '/'))
            qn_buf_char(out, (char)c);
        else
            qn_buf_fmt(out, "%%%02X", c);
    }
}

qn_err qn_hub_json(const char *hub, const struct qn_web_reply *reply, struct qn_json **doc,
                   struct qn_error *e)
{
    struct qn_error why = {0};
    qn_err err =
        qn_json_parse(reply->body.data ? reply->body.data : "", reply->body.len, doc, &why);
    return err ? qn_fail(e, QN_EFORMAT, "%s's answer is not what it should be: %s", hub,
                         why.message)
               : QN_OK;
}

int64_t qn_hub_number(const struct qn_jref *v)
{
    int64_t out = -1;
    return qn_json_i64_opt(v, 0, QN_HUB_SIZE_MAX, &out, NULL) ? -1 : out;
}

const char *qn_hub_text(const struct qn_jref *object, const char *key)
{
    struct qn_jref v = qn_json_get(object, key);
    return qn_json_raw_str(&v);
}

void qn_hub_words(const char *text, char out[static QN_HUB_WORDS_MAX + 1])
{
    size_t n = strnlen(text, QN_HUB_WORDS_MAX);
    for (size_t i = 0; i < n; i++)
        out[i] = (char)(text[i] > ' ' && text[i] < 0x7f ? text[i] : ' ');
    out[n] = '\0';
}

const char *qn_hub_date(struct qn_arena *arena, const char *text)
{
    enum { DATE_MAX = 40 };
    size_t n = strspn(text, "0123456789-:.+TZ ");
    return text[n] || n > DATE_MAX ? "" : qn_arena_strdup(arena, text);
}

struct qn_search *qn_search_begin(void)
{
    struct qn_arena *arena = qn_arena_new(QN_LISTING_ARENA_MAX);
    struct qn_search *s = qn_arena_alloc(arena, sizeof *s);
    s->arena = arena;
    s->total = -1;
    s->v = qn_arena_alloc(arena, QN_SEARCH_MAX * sizeof *s->v);
    return s;
}

struct qn_found_repo *qn_search_add(struct qn_search *s, const char *id, int limit)
{
    if (s->n >= (size_t)limit || s->n >= QN_SEARCH_MAX)
        return NULL;
    struct qn_found_repo *found = (struct qn_found_repo *)&s->v[s->n++];
    found->id = qn_arena_strdup(s->arena, id);
    found->updated = "";
    return found;
}

void qn_search_free(struct qn_search *s)
{
    if (s)
        qn_arena_free(s->arena);
}
