/* See resolve.h. A repository's files are sorted by path, so "the first" is the same for every
 * caller. */
#include "registry/resolve.h"

#include "base/buf.h"
#include "base/str.h"
#include "registry/repo_index.h"
#include "registry/variant.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Names that an error message lists at most. */
enum { NAMES_MAX = 12 };

struct choosing {
    const struct qn_repo *repo;
    const struct qn_repo_index *index;
    bool *taken; /* [repo->n]: files already in the choice; NULL: not needed, no file is added twice
                  */
    struct qn_choice *choice;
    struct qn_error *e;
};

static void add(const struct choosing *a, const struct qn_repo_file *file, const char *role)
{
    bool *taken = a->taken ? &a->taken[file - a->repo->files] : NULL;
    if (taken && *taken)
        return;
    if (taken)
        *taken = true;
    a->choice->files[a->choice->n++] = (struct qn_choice_file){file, role};
}

static void add_name(struct qn_buf *out, size_t i, const char *name)
{
    if (i < NAMES_MAX)
        qn_buf_fmt(out, "%s%s", i ? ", " : "", name);
    else if (i == NAMES_MAX)
        qn_buf_str(out, ", ...");
}

/* Appends the names that can be requested instead: "Q4_K_M, Q8_0". */
static void list_variants(const struct qn_repo *repo, struct qn_buf *out)
{
    struct qn_variants *v;
    qn_variants(repo, &v);
    for (size_t i = 0; i < v->n; i++)
        add_name(out, i, v->v[i].name);
    if (!v->n)
        for (size_t i = 0; i < repo->n; i++)
            add_name(out, i, repo->files[i].path);
    qn_variants_free(v);
}

static qn_err not_there(const struct choosing *a, const char *what, const char *variant)
{
    struct qn_buf names;
    qn_buf_init(&names, QN_ERROR_MESSAGE_MAX);
    list_variants(a->repo, &names);
    qn_err err =
        qn_fail_param(a->e, QN_ENOTFOUND, "variant", "%.200s has no %s '%.200s'; there is: %s",
                      a->repo->id, what, variant, names.len ? qn_buf_cstr(&names) : "nothing");
    qn_buf_deinit(&names);
    return err;
}

/* Adds the main file and all other shards of its series. QN_ENOTFOUND: a shard is missing. */
static qn_err add_main(const struct choosing *a, const struct qn_repo_file *file)
{
    struct qn_shard shard;
    if (!qn_shard_of(file->path, &shard)) {
        add(a, file, "main");
        return QN_OK;
    }
    for (int i = 1; i <= shard.count; i++) {
        const struct qn_repo_file *part = qn_repo_index_part(a->index, file->path, &shard, i);
        if (!part)
            return qn_fail_param(
                a->e, QN_ENOTFOUND, "variant",
                "part %d of %d of %.200s is missing in %.200s: its owner has to upload it", i,
                shard.count, file->path, a->repo->id);
        add(a, part, i == 1 ? "main" : "shard");
    }
    return QN_OK;
}

static const struct qn_repo_file *first_main(const struct qn_repo *repo)
{
    for (size_t i = 0; i < repo->n; i++)
        if (qn_file_kind_of(repo->files[i].path) == QN_FILE_GGUF)
            return &repo->files[i];
    return NULL;
}

/* True for files that are not part of the model and not worth storing with it. */
static bool is_paper(const char *path)
{
    const char *base = strrchr(path, '/');
    base = base ? base + 1 : path;
    return *base == '.' || qn_str_ieq(base, "README.md");
}

/* Chooses a repository without GGUF in which exactly one model file says which kind it is. All
 * files are taken, since such models keep voices and settings in separate files. */
static qn_err choose_whole(const struct choosing *a)
{
    const struct qn_repo_file *found = NULL;
    size_t n = 0;
    for (int pass = 0; pass < 2 && !n; pass++)
        for (size_t i = 0; i < a->repo->n; i++) {
            const char *path = a->repo->files[i].path;
            if (pass == 0 ? qn_has_ending(path, ".onnx") || qn_has_ending(path, ".safetensors") ||
                                qn_has_ending(path, ".pth")
                          : qn_has_ending(path, ".bin")) {
                found = &a->repo->files[i];
                n++;
            }
        }
    if (n != 1) {
        struct qn_buf names;
        qn_buf_init(&names, QN_ERROR_MESSAGE_MAX);
        list_variants(a->repo, &names);
        qn_err err = qn_fail_param(
            a->e, QN_EUNSUPPORTED, "variant",
            "%.200s has no GGUF file to choose by itself: name a file as %.200s:FILE, or look "
            "for a repository with GGUF in its name (quince search); there is: %s",
            a->repo->id, a->repo->id, names.len ? qn_buf_cstr(&names) : "nothing");
        qn_buf_deinit(&names);
        return err;
    }
    add(a, found, "main");
    for (size_t i = 0; i < a->repo->n; i++)
        if (!is_paper(a->repo->files[i].path))
            add(a, &a->repo->files[i], "extra");
    return QN_OK;
}

static qn_err choose_all(const struct choosing *a)
{
    const struct qn_repo_file *first = first_main(a->repo);
    if (!first)
        return choose_whole(a);
    qn_err err = add_main(a, first);
    bool projector = false;
    for (size_t i = 0; i < a->repo->n && !err; i++) {
        enum qn_file_kind kind = qn_file_kind_of(a->repo->files[i].path);
        const char *role = kind == QN_FILE_DRAFT                  ? "draft"
                           : kind == QN_FILE_MMPROJ && !projector ? "mmproj"
                                                                  : "extra";
        projector = projector || kind == QN_FILE_MMPROJ;
        if (kind != QN_FILE_OTHER)
            add(a, &a->repo->files[i], role);
    }
    return err;
}

/* Finds an exact path, or a file name that occurs in only one folder. */
static const struct qn_repo_file *find_file(const struct qn_repo *repo, const char *name,
                                            size_t *n_found)
{
    const struct qn_repo_file *found = NULL;
    *n_found = 0;
    for (size_t i = 0; i < repo->n; i++)
        if (qn_str_eq(repo->files[i].path, name)) {
            *n_found = 1;
            return &repo->files[i];
        }
    for (size_t i = 0; i < repo->n && !strchr(name, '/'); i++) {
        const char *base = strrchr(repo->files[i].path, '/');
        if (base && qn_str_eq(base + 1, name)) {
            found = &repo->files[i];
            ++*n_found;
        }
    }
    return found;
}

static qn_err ambiguous(const struct choosing *a, const char *variant, const struct qn_buf *names)
{
    return qn_fail_param(a->e, QN_EINVAL, "variant",
                         "'%.200s' means more than one file of %.200s; name one: %s", variant,
                         a->repo->id, names->data);
}

/* Chooses the one variant with this name. */
static qn_err choose_variant(const struct choosing *a, const char *variant, bool *done)
{
    struct qn_variants *all;
    qn_err err = QN_OK;
    qn_variants(a->repo, &all);
    for (size_t i = 0; i < all->n && !*done; i++) {
        const struct qn_variant *v = &all->v[i];
        if (!qn_str_ieq(v->name, variant))
            continue;
        *done = true;
        memcpy(a->choice->variant, v->name, sizeof v->name);
        err = add_main(a, v->files[0]);
        for (size_t k = 1; k < v->n && !err; k++)
            add(a, v->files[k], "shard");
    }
    qn_variants_free(all);
    return err;
}

/* Chooses files that end in VARIANT.gguf; the parts of a series count as one. A quantisation has to
 * be a whole word there, so F16 does not match BF16. */
static qn_err choose_ending(const struct choosing *a, const char *variant, bool *done)
{
    const struct qn_repo_file *found = NULL;
    struct qn_buf names;
    size_t n = 0, len = strlen(variant);
    char quantization[32];
    bool word = qn_quantization_of(variant, quantization) && strlen(quantization) == len;
    qn_buf_init(&names, QN_ERROR_MESSAGE_MAX);
    for (size_t i = 0; i < a->repo->n; i++) {
        const struct qn_repo_file *f = &a->repo->files[i];
        struct qn_shard shard;
        if (qn_file_kind_of(f->path) != QN_FILE_GGUF)
            continue;
        bool part = qn_shard_of(f->path, &shard);
        size_t stem = part ? shard.stem_len : strlen(f->path) - strlen(".gguf");
        if ((part && shard.number != 1) || stem < len ||
            strncasecmp(f->path + stem - len, variant, len) != 0)
            continue;
        if (word && stem > len && isalnum((unsigned char)f->path[stem - len - 1]))
            continue;
        add_name(&names, n++, f->path);
        found = f;
    }
    *done = n > 0;
    qn_err err = n > 1 ? ambiguous(a, variant, &names) : n ? add_main(a, found) : QN_OK;
    qn_buf_deinit(&names);
    return err;
}

/* True for a folder at the top level named VARIANT, or ending in -VARIANT or _VARIANT. */
static bool folder_fits(const char *path, const char *variant, bool whole)
{
    size_t n = strcspn(path, "/"), len = strlen(variant);
    if (path[n] != '/' || n < len || strncasecmp(path + n - len, variant, len) != 0)
        return false;
    return n == len ? whole : !whole && (path[n - len - 1] == '-' || path[n - len - 1] == '_');
}

static qn_err choose_folder(const struct choosing *a, const char *variant, bool *done)
{
    for (int whole = 1; whole >= 0; whole--) {
        const struct qn_repo_file *first = NULL;
        for (size_t i = 0; i < a->repo->n; i++) {
            const struct qn_repo_file *f = &a->repo->files[i];
            if (qn_file_kind_of(f->path) != QN_FILE_GGUF || !folder_fits(f->path, variant, whole))
                continue;
            size_t n = strcspn(f->path, "/");
            if (!first) {
                qn_err err = add_main(a, first = f);
                if (err)
                    return err;
            } else if (strcspn(first->path, "/") != n || strncmp(first->path, f->path, n) != 0) {
                struct qn_buf names;
                qn_buf_init(&names, QN_ERROR_MESSAGE_MAX);
                add_name(&names, 0, first->path);
                add_name(&names, 1, f->path);
                qn_err err = ambiguous(a, variant, &names);
                qn_buf_deinit(&names);
                return err;
            } else {
                add(a, f, "shard");
            }
        }
        if (first) {
            *done = true;
            return QN_OK;
        }
    }
    return QN_OK;
}

static qn_err choose(const struct choosing *a, const char *variant)
{
    bool done = false;
    size_t n;
    if (qn_str_eq(variant, "*"))
        return choose_all(a);
    if (!*variant) {
        const struct qn_repo_file *first = first_main(a->repo);
        return first ? add_main(a, first) : choose_whole(a);
    }
    const struct qn_repo_file *file = find_file(a->repo, variant, &n);
    if (n == 1)
        return add_main(a, file);
    if (n > 1)
        return qn_fail_param(a->e, QN_EINVAL, "variant",
                             "%.200s has more than one '%.200s': name it with its folder",
                             a->repo->id, variant);
    if (qn_is_model_file(variant))
        return not_there(a, "file", variant);
    qn_err err = choose_variant(a, variant, &done);
    if (!err && !done)
        err = choose_ending(a, variant, &done);
    if (!err && !done)
        err = choose_folder(a, variant, &done);
    return err || done ? err : not_there(a, "variant", variant);
}

static qn_err add_projector(const struct choosing *a, const char *mmproj)
{
    const struct qn_repo_file *file;
    size_t n = 1;
    if (!mmproj || !*mmproj)
        return QN_OK;
    if (qn_str_eq(mmproj, "auto")) {
        file = qn_repo_index_projector(a->index, a->choice->files[0].file->path);
    } else {
        file = find_file(a->repo, mmproj, &n);
        if (n != 1)
            return qn_fail_param(a->e, n ? QN_EINVAL : QN_ENOTFOUND, "mmproj",
                                 "%.200s has %s projector '%.200s'", a->repo->id,
                                 n ? "more than one" : "no", mmproj);
    }
    if (file)
        add(a, file, "mmproj");
    return QN_OK;
}

/* Chooses by the roles that the hub gives to each file. */
static qn_err choose_by_roles(const struct choosing *a)
{
    for (size_t i = 0; i < a->repo->n; i++)
        if (qn_str_eq(a->repo->files[i].role, "main"))
            add(a, &a->repo->files[i], a->choice->n ? "shard" : "main");
    if (!a->choice->n)
        return qn_fail_param(a->e, QN_EUNSUPPORTED, "model",
                             "%.200s holds no GGUF model (newer models of Ollama's library may be "
                             "of a kind that only "
                             "Ollama runs): look for one on Hugging Face with `quince search`",
                             a->repo->id);
    for (size_t i = 0; i < a->repo->n; i++)
        add(a, &a->repo->files[i], a->repo->files[i].role);
    return QN_OK;
}

/* Begins a choice of at most max files. QN_EINVAL: the variant's name is too long. */
static qn_err begin(struct choosing *a, const char *variant, size_t max)
{
    struct qn_choice *c = a->choice = qn_xcalloc(1, sizeof *c);
    if (strlen(variant) >= sizeof c->variant)
        return qn_fail_param(a->e, QN_EINVAL, "variant",
                             "the variant's name is longer than %zu bytes", sizeof c->variant - 1);
    memcpy(c->variant, variant, strlen(variant) + 1);
    c->files = qn_xcalloc(max, sizeof *c->files);
    return QN_OK;
}

/* Gives the choice to the caller, or frees it if err is an error; returns err. */
static qn_err end(struct choosing *a, qn_err err, struct qn_choice **out)
{
    struct qn_choice *c = a->choice;
    bool unknown = false;
    *out = NULL;
    if (err) {
        qn_choice_free(c);
        return err;
    }
    for (size_t i = 0; i < c->n; i++) {
        unknown = unknown || c->files[i].file->size_bytes < 0;
        c->size_bytes += c->files[i].file->size_bytes;
    }
    if (unknown)
        c->size_bytes = -1;
    *out = c;
    return QN_OK;
}

qn_err qn_resolve(const struct qn_repo *repo, const char *variant, const char *mmproj,
                  struct qn_choice **out, struct qn_error *e)
{
    struct choosing a = {.repo = repo, .e = e};
    struct qn_repo_index *index = qn_repo_index_new(repo);
    bool roles = false;
    a.index = index;
    a.taken = qn_xcalloc(repo->n + 1, sizeof *a.taken);
    if (!variant)
        variant = "";
    for (size_t i = 0; i < repo->n; i++)
        roles = roles || repo->files[i].role;
    qn_err err = begin(&a, variant, repo->n + 1);
    if (!err)
        err = roles ? choose_by_roles(&a) : choose(&a, variant);
    if (!err && !roles)
        err = add_projector(&a, mmproj);
    free(a.taken);
    qn_repo_index_free(index);
    return end(&a, err, out);
}

qn_err qn_resolve_file(const struct qn_repo_index *index, size_t file, bool projector,
                       struct qn_choice **out, struct qn_error *e)
{
    const struct qn_repo *repo = qn_repo_index_repo(index);
    const struct qn_repo_file *main_file = &repo->files[file];
    struct choosing a = {.repo = repo, .index = index, .e = e};
    struct qn_shard shard;
    size_t parts = qn_shard_of(main_file->path, &shard) ? (size_t)shard.count : 1;
    qn_err err = begin(&a, main_file->path, parts + 1);
    if (!err)
        err = add_main(&a, main_file);
    if (!err && projector)
        err = add_projector(&a, "auto");
    return end(&a, err, out);
}

void qn_choice_free(struct qn_choice *c)
{
    if (!c)
        return;
    free(c->files);
    free(c);
}
