/* See variant.h and, for qn_variants, resolve.h. */
#include "registry/variant.h"

#include "base/buf.h"
#include "base/str.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool qn_has_ending(const char *path, const char *ending)
{
    size_t n = strlen(path), k = strlen(ending);
    return n > k && qn_str_ieq(path + n - k, ending);
}

bool qn_is_model_file(const char *path)
{
    static const char *const endings[] = {".gguf", ".bin", ".safetensors", ".onnx", ".pth"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (qn_has_ending(path, endings[i]))
            return true;
    return false;
}

enum qn_file_kind qn_file_kind_of(const char *path)
{
    const char *base = base_of(path);
    if (!qn_has_ending(path, ".gguf"))
        return QN_FILE_OTHER;
    if (strcasestr(path, "mmproj"))
        return QN_FILE_MMPROJ;
    if (!strncasecmp(base, "mtp-", 4) || !strncasecmp(base, "dflash-", 7) ||
        qn_str_ieq(base, "dflash.gguf"))
        return QN_FILE_DRAFT;
    return QN_FILE_GGUF;
}

static bool five_digits(const char *s, int *out)
{
    *out = 0;
    for (int i = 0; i < 5; i++) {
        if (s[i] < '0' || s[i] > '9')
            return false;
        *out = *out * 10 + (s[i] - '0');
    }
    return true;
}

bool qn_shard_of(const char *path, struct qn_shard *out)
{
    /* "-00001-of-00003.gguf" */
    enum { TAIL = 20 };
    size_t n = strlen(path);
    if (n <= TAIL || !qn_has_ending(path, ".gguf"))
        return false;
    const char *s = path + n - TAIL;
    out->stem_len = n - TAIL;
    return (*s == '-' || *s == '.' || *s == '_') && s[-1] != '/' &&
           five_digits(s + 1, &out->number) && !strncasecmp(s + 6, "-of-", 4) &&
           five_digits(s + 10, &out->count) && out->number >= 1 && out->number <= out->count &&
           out->count <= QN_SHARDS_MAX;
}

/* Matches one of the words at s, the longest first; returns its length or 0. */
static size_t word(const char *s, const char *const *words)
{
    for (; *words; words++)
        if (!strncasecmp(s, *words, strlen(*words)))
            return strlen(*words);
    return 0;
}

static size_t digits(const char *s)
{
    return strspn(s, "0123456789");
}

static bool at_border(char c)
{
    return !c || c == '-' || c == '.' || c == '_' || c == '/';
}

/* The length of the quantisation's name at s, which must end at a word boundary; 0: none. Every
 * suffix of the name is optional, so shorter matches are tried when the longest does not end at a
 * boundary. */
static size_t quantization_len(const char *s)
{
    static const char *const dynamic[] = {"UD-", "UD_", NULL};
    static const char *const fixed[] = {"BF16", "F16", "F32", NULL};
    static const char *const sizes[] = {"_XXL", "_XL", "_S", "_M", "_L", NULL};
    static const char *const i_sizes[] = {"_XXS", "_XS", "_NL", "_KSS", "_KS", "_KT",
                                          "_KL",  "_K",  "_S",  "_M",   "_L",  NULL};
    static const char *const moe[] = {"_MOE", NULL};
    static const char *const k[] = {"_K", NULL};
    size_t marks[5], n_marks = 0, n = word(s, dynamic), w;
    if ((w = word(s + n, fixed))) {
        marks[n_marks++] = n + w;
    } else if (!strncasecmp(s + n, "MXFP", 4) || !strncasecmp(s + n, "NVFP", 4)) {
        if (!(w = digits(s + n + 4)))
            return 0;
        marks[n_marks++] = n += 4 + w;
        if ((w = word(s + n, moe)))
            marks[n_marks++] = n + w;
    } else if (!strncasecmp(s + n, "IQ", 2)) {
        if (!(w = digits(s + n + 2)))
            return 0;
        marks[n_marks++] = n += 2 + w;
        if ((w = word(s + n, i_sizes)))
            marks[n_marks++] = n + w;
    } else {
        size_t letters = strncasecmp(s + n, "TQ", 2) == 0      ? 2
                         : tolower((unsigned char)s[n]) == 'q' ? 1
                                                               : 0;
        if (!letters || !(w = digits(s + n + letters)))
            return 0;
        marks[n_marks++] = n += letters + w;
        if (s[n] == '_' && isdigit((unsigned char)s[n + 1]))
            marks[n_marks++] = n += 2;
        if ((w = word(s + n, k)))
            marks[n_marks++] = n += w;
        if ((w = word(s + n, sizes)))
            marks[n_marks++] = n + w;
    }
    while (n_marks > 0)
        if (at_border(s[marks[--n_marks]]))
            return marks[n_marks];
    return 0;
}

bool qn_quantization_of(const char *name, char out[static 32])
{
    for (const char *s = name; *s; s++) {
        if (s != name && !at_border(s[-1]))
            continue;
        size_t n = quantization_len(s);
        if (n == 0 || n >= 32)
            continue;
        for (size_t i = 0; i < n; i++)
            out[i] = (char)toupper((unsigned char)s[i]);
        out[n] = '\0';
        return true;
    }
    return false;
}

/* Files that form one model: a series of shards, a folder, or one file. In a sorted list all files
 * of a folder are adjacent, and so are all series with the same stem. */
struct group {
    size_t first;          /* index of its first file in the repository */
    size_t n;              /* files */
    bool folder;           /* a whole folder at the top level */
    char quantization[32]; /* "": none in the name */
    bool shared;           /* another group has the same quantisation */
    char stem[QN_REF_VARIANT_MAX + 1];
};

struct grouping {
    const struct qn_repo *repo;
    size_t *group_of; /* [repo->n]: the group of each file, or SIZE_MAX */
    struct group *groups;
    size_t n;
};

/* The quantisation in the file's own name, not in its folder's. */
static bool own_quantization(const char *path, char out[static 32])
{
    return qn_quantization_of(base_of(path), out);
}

/* Length of the top-level folder's name; 0: none. */
static size_t folder_len(const char *path)
{
    size_t n = strcspn(path, "/");
    return path[n] ? n : 0;
}

/* Returns the index after the last of the files, starting at `from`, that are in the same top-level
 * folder. *one: there is such a folder, and all quantisations in its GGUF files' names are the
 * same, so that the files are one variant. */
static size_t folder_end(const struct qn_repo *repo, size_t from, bool *one)
{
    size_t len = folder_len(repo->files[from].path), i = from;
    char first[32] = "", other[32];
    *one = len > 0;
    for (; i < repo->n; i++) {
        const char *path = repo->files[i].path;
        if (folder_len(path) != len || strncmp(path, repo->files[from].path, len) != 0)
            break;
        if (qn_file_kind_of(path) != QN_FILE_GGUF || !own_quantization(path, other))
            continue;
        if (!*first)
            memcpy(first, other, sizeof first);
        else if (!qn_str_eq(first, other))
            *one = false;
    }
    return i;
}

static void set_text(char *out, size_t size, const char *s, size_t n)
{
    if (n >= size)
        n = size - 1;
    memcpy(out, s, n);
    out[n] = '\0';
}

static void new_group(struct grouping *g, size_t file, bool folder)
{
    const char *path = g->repo->files[file].path;
    struct group *x = &g->groups[g->n++];
    struct qn_shard shard;
    x->first = file;
    x->folder = folder;
    if (folder) {
        /* The folder's name gives the quantisation, or else its files' names. */
        set_text(x->stem, sizeof x->stem, path, folder_len(path));
        if (!qn_quantization_of(x->stem, x->quantization))
            own_quantization(path, x->quantization);
    } else {
        size_t len = qn_shard_of(path, &shard) ? shard.stem_len : strlen(path) - strlen(".gguf");
        set_text(x->stem, sizeof x->stem, path, len);
        own_quantization(path, x->quantization);
    }
}

/* The group of the series that a file belongs to, or g->n. Groups with the same stem are adjacent.
 */
static size_t series_group(const struct grouping *g, const char *path)
{
    struct qn_shard shard, other;
    if (!qn_shard_of(path, &shard))
        return g->n;
    for (size_t k = g->n; k-- > 0 && !g->groups[k].folder;) {
        const char *p = g->repo->files[g->groups[k].first].path;
        if (!qn_shard_of(p, &other) || other.stem_len != shard.stem_len ||
            strncmp(p, path, shard.stem_len) != 0)
            return g->n;
        if (other.count == shard.count)
            return k;
    }
    return g->n;
}

static void find_groups(struct grouping *g)
{
    const struct qn_repo *repo = g->repo;
    for (size_t i = 0; i < repo->n;) {
        bool one;
        size_t end = folder_end(repo, i, &one), folder = SIZE_MAX;
        for (; i < end; i++) {
            g->group_of[i] = SIZE_MAX;
            if (qn_file_kind_of(repo->files[i].path) != QN_FILE_GGUF)
                continue;
            size_t k = one ? folder : series_group(g, repo->files[i].path);
            if (k == SIZE_MAX || k == g->n) {
                k = g->n;
                new_group(g, i, one);
                folder = k;
            }
            g->groups[k].n++;
            g->group_of[i] = k;
        }
    }
}

static int by_quantization(const void *pa, const void *pb)
{
    const struct group *const *a = pa, *const *b = pb;
    return strcmp((*a)->quantization, (*b)->quantization);
}

static void mark_shared(struct grouping *g)
{
    struct group **sorted = qn_xcalloc(g->n + 1, sizeof(void *));
    for (size_t k = 0; k < g->n; k++)
        sorted[k] = &g->groups[k];
    qsort(sorted, g->n, sizeof(void *), by_quantization);
    for (size_t k = 1; k < g->n; k++)
        if (*sorted[k]->quantization &&
            qn_str_eq(sorted[k]->quantization, sorted[k - 1]->quantization))
            sorted[k]->shared = sorted[k - 1]->shared = true;
    free(sorted);
}

/* The rank of a quantisation, the most common first; those not listed come later, by name. */
static int rank_of(const char *quantization)
{
    static const char *const usual[] = {"Q4_K_M", "UD-Q4_K_XL", "Q8_0", "Q4_0"};
    enum { USUAL = sizeof usual / sizeof *usual };
    int rank = 0;
    while (rank < USUAL && !qn_str_eq(usual[rank], quantization))
        rank++;
    return rank;
}

static int by_rank(const void *pa, const void *pb)
{
    const struct qn_variant *a = pa, *b = pb;
    char qa[32] = "", qb[32] = "";
    qn_quantization_of(a->name, qa);
    qn_quantization_of(b->name, qb);
    int d = rank_of(qa) - rank_of(qb);
    return d ? d : strcmp(a->name, b->name);
}

static struct qn_variant *add_variant(struct qn_variants *out, size_t n, const char *name)
{
    struct qn_variant *v = &out->v[out->n++];
    set_text(v->name, sizeof v->name, name, strlen(name));
    v->files = qn_xcalloc(n, sizeof(void *));
    v->sharded = n > 1;
    return v;
}

static void add_file(struct qn_variant *v, const struct qn_repo_file *file)
{
    v->files[v->n++] = file;
    v->size_bytes =
        v->size_bytes < 0 || file->size_bytes < 0 ? -1 : v->size_bytes + file->size_bytes;
}

/* Files without a quantisation in their names (lists of experts, tokenizers) are used only if there
 * are no others. */
static void add_gguf(const struct qn_repo *repo, struct qn_variants *out)
{
    struct grouping g = {.repo = repo};
    g.group_of = qn_xcalloc(repo->n + 1, sizeof *g.group_of);
    g.groups = qn_xcalloc(repo->n + 1, sizeof *g.groups);
    size_t *variant_of = qn_xcalloc(repo->n + 1, sizeof *variant_of);
    bool any = false;
    find_groups(&g);
    mark_shared(&g);
    for (size_t k = 0; k < g.n; k++)
        any = any || *g.groups[k].quantization || g.groups[k].folder;
    for (size_t k = 0; k < g.n; k++) {
        const struct group *x = &g.groups[k];
        variant_of[k] = out->n;
        if (!any || *x->quantization || x->folder)
            add_variant(out, x->n, *x->quantization && !x->shared ? x->quantization : x->stem);
        else
            variant_of[k] = SIZE_MAX;
    }
    for (size_t i = 0; i < repo->n; i++)
        if (g.group_of[i] != SIZE_MAX && variant_of[g.group_of[i]] != SIZE_MAX)
            add_file(&out->v[variant_of[g.group_of[i]]], &repo->files[i]);
    free(variant_of);
    free(g.groups);
    free(g.group_of);
}

static void add_files(const struct qn_repo *repo, struct qn_variants *out,
                      bool (*wanted)(const char *path))
{
    for (size_t i = 0; i < repo->n; i++)
        if (wanted(repo->files[i].path))
            add_file(add_variant(out, 1, repo->files[i].path), &repo->files[i]);
}

static bool is_whisper(const char *path)
{
    return qn_has_ending(path, ".bin") && !strncmp(path, "ggml-", 5) && !strstr(path, "-encoder");
}

static bool is_image_model(const char *path)
{
    return qn_has_ending(path, ".safetensors") && !strchr(path, '/');
}

static bool is_image_pipeline(const char *pipeline)
{
    return qn_str_eq(pipeline, "text-to-image") || qn_str_eq(pipeline, "image-to-image");
}

static bool has_file(const struct qn_repo *repo, const char *base, const char *ending)
{
    for (size_t i = 0; i < repo->n; i++)
        if ((base && qn_str_eq(base_of(repo->files[i].path), base)) ||
            (ending && qn_has_ending(repo->files[i].path, ending)))
            return true;
    return false;
}

static int by_base(const void *pa, const void *pb)
{
    const struct qn_repo_file *const *a = pa, *const *b = pb;
    return strcmp(base_of((*a)->path), base_of((*b)->path));
}

static size_t companions(const struct qn_repo *repo, enum qn_file_kind kind,
                         const struct qn_repo_file ***out)
{
    size_t n = 0;
    *out = qn_xcalloc(repo->n + 1, sizeof(void *));
    for (size_t i = 0; i < repo->n; i++)
        if (qn_file_kind_of(repo->files[i].path) == kind)
            (*out)[n++] = &repo->files[i];
    qsort(*out, n, sizeof(void *), by_base);
    return n;
}

/* Decides the kind of model by the repository's files and the hub's description. */
static void find_kind(const struct qn_repo *repo, struct qn_variants *out)
{
    bool image = is_image_pipeline(repo->pipeline);
    out->kind = "unknown";
    out->recipe = "llamacpp";
    add_gguf(repo, out);
    if (out->n) {
        out->kind = "gguf";
        out->recipe = image ? "sd-cpp" : "llamacpp";
        return;
    }
    add_files(repo, out, is_whisper);
    if (out->n) {
        out->kind = "whisper";
        out->recipe = "whispercpp";
    } else if (has_file(repo, "genai_config.json", NULL) && has_file(repo, NULL, ".onnx")) {
        out->kind = "onnx-ryzenai";
        out->recipe = "ryzenai-llm";
    } else if (image) {
        add_files(repo, out, is_image_model);
        out->kind = "diffusion";
        out->recipe = "sd-cpp";
    }
}

static void find_labels(const struct qn_repo *repo, struct qn_variants *out)
{
    if (out->n_mmproj)
        out->labels[out->n_labels++] = "vision";
    if (strcasestr(repo->id, "embed") || qn_str_eq(repo->pipeline, "feature-extraction") ||
        qn_str_eq(repo->pipeline, "sentence-similarity"))
        out->labels[out->n_labels++] = "embeddings";
    if (strcasestr(repo->id, "rerank") || qn_str_eq(repo->pipeline, "text-ranking"))
        out->labels[out->n_labels++] = "reranking";
    if (qn_str_eq(out->recipe, "sd-cpp"))
        out->labels[out->n_labels++] = "image";
    else if (qn_str_eq(out->recipe, "whispercpp"))
        out->labels[out->n_labels++] = "transcription";
}

void qn_variants(const struct qn_repo *repo, struct qn_variants **out)
{
    struct qn_variants *v = qn_xcalloc(1, sizeof *v);
    v->v = qn_xcalloc(repo->n + 1, sizeof *v->v);
    v->n_mmproj = companions(repo, QN_FILE_MMPROJ, &v->mmproj);
    v->n_drafts = companions(repo, QN_FILE_DRAFT, &v->drafts);
    find_kind(repo, v);
    find_labels(repo, v);
    qsort(v->v, v->n, sizeof *v->v, by_rank);
    const char *name = base_of(repo->id);
    size_t len = strlen(name);
    memcpy(v->suggested_name, name,
           len < sizeof v->suggested_name ? len : sizeof v->suggested_name - 1);
    *out = v;
}

void qn_variants_free(struct qn_variants *v)
{
    if (!v)
        return;
    for (size_t i = 0; i < v->n; i++)
        free(v->v[i].files);
    free(v->v);
    free(v->mmproj);
    free(v->drafts);
    free(v);
}
