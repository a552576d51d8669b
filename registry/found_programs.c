/* The folders in which other programs of this machine keep their models. See found.h. */
#include "registry/found_private.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/log.h"
#include "base/path.h"
#include "base/str.h"
#include "registry/store_private.h"
#include "registry/variant.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SMALL_MAX = 1024 * 1024 }; /* bytes of a description: manifests, parameters */

/* Reads a small text file of the place; logs a file that exists but cannot be read. */
static qn_err read_text(struct qn_finding *f, const char *path, struct qn_buf *out)
{
    struct qn_error e = {0};
    qn_err err = qn_foreign_read(&f->place, path, out, &e);
    if (err && err != QN_ENOTFOUND)
        qn_info("found", "not_read=1 message=\"%s\"", e.message);
    if (err == QN_EIO)
        qn_finding_unseen(f, path);
    return err;
}

/* Reads a small JSON file; NULL: it is missing or not JSON. */
static struct qn_json *read_json(struct qn_finding *f, const char *path)
{
    struct qn_buf text;
    struct qn_json *doc = NULL;
    qn_buf_init(&text, SMALL_MAX);
    if (!read_text(f, path, &text))
        (void)qn_json_parse(qn_buf_cstr(&text), text.len, &doc, NULL);
    qn_buf_deinit(&text);
    return doc;
}

/* ---- Ollama ---- */

/* The path blobs/sha256-HEX, or sha256:HEX of old versions; malloc'ed. NULL: not a digest. */
static char *blob_path(const char *models, const char *digest)
{
    if (strlen(digest) != 7 + 64 || strncmp(digest, "sha256", 6) != 0 ||
        !qn_store_blob_ok(digest + 7))
        return NULL;
    struct qn_buf path;
    qn_buf_init(&path, PATH_MAX * 2);
    for (const char *sign = "-:"; *sign; sign++) {
        qn_buf_clear(&path);
        qn_buf_fmt(&path, "%s/blobs/sha256%c%s", models, *sign, digest + 7);
        if (qn_file_exists(qn_buf_cstr(&path)))
            break;
    }
    return qn_buf_take(&path);
}

/* The layers of a manifest. */
struct layers {
    char *files[2]; /* the model, its projector */
    const char *digest;
    char *system, *params; /* paths */
    bool other;            /* the model needs more than these files: adapters, tensors */
};

static void take_layer(const char *models, const struct qn_jref *layer, struct layers *out)
{
    struct qn_jref type = qn_json_get(layer, "mediaType"), digest = qn_json_get(layer, "digest");
    const char *what = qn_json_raw_str(&type), *sum = qn_json_raw_str(&digest);
    static const char prefix[] = "application/vnd.ollama.image.";
    char *path = qn_str_starts(what, prefix) ? blob_path(models, sum) : NULL, **to = NULL;
    what = path ? what + strlen(prefix) : "";
    if (qn_str_eq(what, "model"))
        to = &out->files[0];
    else if (qn_str_eq(what, "projector"))
        to = &out->files[1];
    else if (qn_str_eq(what, "system"))
        to = &out->system;
    else if (qn_str_eq(what, "params"))
        to = &out->params;
    else if (qn_str_eq(what, "adapter") || qn_str_starts(what, "tensor"))
        out->other = true;
    if (to == &out->files[0] && !*to)
        out->digest = sum + 7;
    if (to && !*to)
        *to = path;
    else
        free(path);
}

/* Writes what Ollama stores with a model besides its files (system text, parameters) in the form of
 * a preset. */
static void write_preset(struct qn_finding *f, const struct layers *l, struct qn_buf *out)
{
    struct qn_buf text;
    struct qn_json *params = l->params ? read_json(f, l->params) : NULL;
    struct qn_jw w = qn_jw_to(out);
    qn_buf_init(&text, SMALL_MAX);
    qn_jw_obj(&w);
    if (l->system && !read_text(f, l->system, &text) && text.len &&
        qn_utf8_valid(text.data, text.len))
        qn_jw_kstr(&w, "system", qn_buf_cstr(&text));
    struct qn_jref root = params ? qn_json_root(params) : (struct qn_jref){0};
    if (params && qn_json_type(&root) == QN_JSON_OBJECT && qn_json_count(&root)) {
        qn_buf_clear(&text);
        if (!qn_json_print(&root, &text)) {
            qn_jw_key(&w, "parameters");
            qn_jw_raw(&w, qn_buf_cstr(&text), text.len);
        }
    }
    qn_jw_obj_end(&w);
    qn_json_free(params);
    qn_buf_deinit(&text);
}

/* Adds the model of a manifest. name: "llama3.2:1b" as Ollama shows it. */
static void add_manifest(struct qn_finding *f, const char *models, const char *path,
                         const char *name)
{
    struct qn_json *doc = read_json(f, path);
    struct layers l = {{NULL}, NULL, NULL, NULL, false};
    struct qn_buf preset;
    if (!doc) {
        qn_warn("found", "file=\"%s\" not_read=1 message=\"no manifest\"", path);
        return;
    }
    qn_buf_init(&preset, QN_FOUND_PRESET_MAX);
    struct qn_jref root = qn_json_root(doc), all = qn_json_get(&root, "layers"), it;
    for (bool more = qn_json_first(&all, &it); more; more = qn_json_next(&it))
        take_layer(models, &it, &l);
    bool usable = l.files[0] && !l.other && qn_file_exists(l.files[0]);
    if (usable)
        write_preset(f, &l, &preset);
    if (preset.overflow) {
        qn_info("found",
                "model=%s program=ollama not_listed=1 message=\"its system message and "
                "parameters have more than %d bytes\"",
                name, QN_FOUND_PRESET_MAX);
    } else if (usable) {
        static const char *const roles[] = {"main", "mmproj"};
        struct qn_finding_of of = {.program = "ollama",
                                   .hub = "ollama",
                                   .checkpoint = name,
                                   .digest = l.digest,
                                   .preset = qn_buf_cstr(&preset),
                                   .names = {name, NULL, NULL}};
        qn_finding_add(f, &of, (const char *const *)l.files, roles, l.files[1] ? 2 : 1);
    } else {
        qn_info("found", "model=%s program=ollama not_listed=1 message=\"%s\"", name,
                l.other ? "only Ollama can run what it consists of" : "its GGUF file is not there");
    }
    free(l.files[0]);
    free(l.files[1]);
    free(l.system);
    free(l.params);
    qn_buf_deinit(&preset);
    qn_json_free(doc);
}

/* Walks manifests/REGISTRY/NAMESPACE/MODEL/TAG; rel is the path walked so far. */
static void walk_manifests(struct qn_finding *f, const char *models, const char *path,
                           const char *rel, int depth)
{
    struct qn_finding_entry *list;
    size_t n = qn_finding_list(f, path, &list);
    for (size_t i = 0; i < n && !qn_finding_stopped(f); i++) {
        char *below = qn_path_join(path, list[i].name);
        struct qn_buf name;
        qn_buf_init(&name, PATH_MAX);
        bool usual = (depth == 0 && qn_str_eq(list[i].name, "registry.ollama.ai")) ||
                     (depth == 1 && !*rel && qn_str_eq(list[i].name, "library"));
        if (!usual)
            qn_buf_fmt(&name, "%s%s%s", rel, *rel ? depth == 3 ? ":" : "/" : "", list[i].name);
        if (list[i].folder && depth < 3)
            walk_manifests(f, models, below, qn_buf_cstr(&name), depth + 1);
        else if (!list[i].folder && depth == 3)
            add_manifest(f, models, below, qn_buf_cstr(&name));
        qn_buf_deinit(&name);
        free(below);
    }
    qn_finding_unlist(list, n);
}

static void look_ollama(struct qn_finding *f, const char *models)
{
    char *manifests = qn_path_join(models, "manifests");
    char *blobs = qn_path_join(models, "blobs");
    f->scattered = true; /* manifests are in one folder, the files they name in another */
    if (qn_finding_bare(f, blobs))
        qn_finding_unseen(f, blobs);
    free(blobs);
    walk_manifests(f, models, manifests, "", 0);
    free(manifests);
}

/* ---- llama.cpp's older cache ---- */

/* The flat name "OWNER_REPO_DIR_FILE.gguf" for a file of a repository. */
static char *flat_path(const char *cache, const char *repo, const char *file)
{
    struct qn_buf path;
    qn_buf_init(&path, PATH_MAX * 2);
    qn_buf_fmt(&path, "%s/", cache);
    size_t at = path.len;
    qn_buf_fmt(&path, "%s_%s", repo, file);
    for (char *p = path.len > at ? path.data + at : NULL; p && *p; p++)
        if (*p == '/')
            *p = '_';
    return qn_buf_take(&path);
}

/* Adds a model from all files of a flat name's series. False: a part is missing. */
static bool add_flat(struct qn_finding *f, const char *first, const char *mmproj,
                     const struct qn_finding_of *of)
{
    struct qn_shard shard;
    size_t n = 1, parts = qn_shard_of(first, &shard) ? (size_t)shard.count : 1;
    char **files = qn_xcalloc(parts + 1, sizeof *files);
    const char **roles = qn_xcalloc(parts + 1, sizeof *roles);
    files[0] = qn_xstrdup(first);
    roles[0] = "main";
    bool whole = qn_file_exists(first);
    for (; whole && n < parts; n++) {
        struct qn_buf path;
        qn_buf_init(&path, PATH_MAX * 2);
        qn_buf_fmt(&path, "%.*s-%05zu-of-%05d.gguf", (int)shard.stem_len, first, n + 1,
                   shard.count);
        files[n] = qn_buf_take(&path);
        roles[n] = "shard";
        whole = qn_file_exists(files[n]);
    }
    if (whole && mmproj && qn_file_exists(mmproj)) {
        files[n] = qn_xstrdup(mmproj);
        roles[n++] = "mmproj";
    }
    if (whole)
        qn_finding_add(f, of, (const char *const *)files, roles, n);
    for (size_t i = 0; i <= parts; i++)
        free(files[i]);
    free(files);
    free(roles);
    return whole;
}

/* The file's name without folders, ending and its number in a series. */
static char *plain_stem(const char *file)
{
    const char *base = qn_path_base(file);
    struct qn_shard shard;
    size_t n = qn_shard_of(base, &shard) ? shard.stem_len : strlen(base) - strlen(".gguf");
    return qn_xstrndup(base, n);
}

static void add_flat_repo(struct qn_finding *f, const char *cache, const char *repo,
                          const char *file, const char *mmproj)
{
    char *first = flat_path(cache, repo, file), *stem = plain_stem(file);
    char *projector = *mmproj ? flat_path(cache, repo, mmproj) : NULL;
    struct qn_buf checkpoint, whole;
    qn_buf_init(&checkpoint, PATH_MAX);
    qn_buf_init(&whole, PATH_MAX);
    qn_buf_fmt(&checkpoint, "%s:%s", repo, file);
    qn_buf_fmt(&whole, "%s/%s", repo, stem);
    struct qn_finding_of of = {.program = "llama.cpp",
                               .hub = "huggingface",
                               .checkpoint = qn_buf_cstr(&checkpoint),
                               .names = {stem, qn_buf_cstr(&whole), NULL}};
    add_flat(f, first, projector, &of);
    qn_buf_deinit(&checkpoint);
    qn_buf_deinit(&whole);
    free(projector);
    free(stem);
    free(first);
}

/* Adds the models of manifest=OWNER=REPO=TAG.json, a hub's reply that names the files. */
static void add_manifest_of(struct qn_finding *f, const char *cache, const char *name)
{
    char *path = qn_path_join(cache, name);
    struct qn_json *doc = read_json(f, path);
    const char *owner = name + strlen("manifest="), *repo = strchr(owner, '=');
    const char *tag = repo ? strchr(repo + 1, '=') : NULL;
    if (doc && tag) {
        struct qn_jref root = qn_json_root(doc), main = qn_json_get(&root, "ggufFile");
        struct qn_jref projector = qn_json_get(&root, "mmprojFile");
        struct qn_jref file = qn_json_get(&main, "rfilename");
        struct qn_jref mmproj = qn_json_get(&projector, "rfilename");
        char id[QN_REF_REPO_MAX + 1];
        snprintf(id, sizeof id, "%.*s/%.*s", (int)(repo - owner), owner, (int)(tag - repo - 1),
                 repo + 1);
        if (qn_ref_repo_ok(id) && qn_file_kind_of(qn_json_raw_str(&file)) == QN_FILE_GGUF &&
            qn_ref_path_ok(qn_json_raw_str(&file)))
            add_flat_repo(f, cache, id, qn_json_raw_str(&file), qn_json_raw_str(&mmproj));
    }
    qn_json_free(doc);
    free(path);
}

/* Parses https://HOST/OWNER/REPO/resolve/REVISION/FILE, the address in FILE.gguf.json. */
static bool read_address(const char *url, char repo[static QN_REF_REPO_MAX + 1], const char **file)
{
    const char *host = strstr(url, "://"), *mark = strstr(url, "/resolve/");
    const char *path = host ? strchr(host + 3, '/') : NULL;
    if (!path || !mark || mark < path)
        return false;
    const char *revision = mark + strlen("/resolve/"), *slash = strchr(revision, '/');
    snprintf(repo, QN_REF_REPO_MAX + 1, "%.*s", (int)(mark - path - 1), path + 1);
    *file = slash ? slash + 1 : "";
    return slash && qn_ref_repo_ok(repo) && qn_ref_path_ok(*file);
}

/* Adds a file that no manifest names. */
static void add_flat_file(struct qn_finding *f, const char *cache, const char *name)
{
    char *path = qn_path_join(cache, name), repo[QN_REF_REPO_MAX + 1];
    const char *file = "";
    struct qn_buf beside;
    qn_buf_init(&beside, PATH_MAX * 2);
    qn_buf_fmt(&beside, "%s.json", path);
    struct qn_json *doc = read_json(f, qn_buf_cstr(&beside));
    struct qn_jref root = doc ? qn_json_root(doc) : (struct qn_jref){0};
    struct qn_jref url = qn_json_get(&root, "url");
    bool known = doc && read_address(qn_json_raw_str(&url), repo, &file) &&
                 qn_file_kind_of(file) == QN_FILE_GGUF;
    char *flat = known ? flat_path(cache, repo, file) : NULL;
    if (known && qn_str_eq(flat, path)) {
        add_flat_repo(f, cache, repo, file, "");
    } else {
        char *stem = plain_stem(name);
        struct qn_finding_of of = {
            .program = "llama.cpp", .checkpoint = path, .names = {stem, NULL, NULL}};
        add_flat(f, path, NULL, &of);
        free(stem);
    }
    free(flat);
    qn_json_free(doc);
    qn_buf_deinit(&beside);
    free(path);
}

static void look_llama_cpp(struct qn_finding *f, const char *cache)
{
    struct qn_finding_entry *list;
    size_t n = qn_finding_list(f, cache, &list);
    for (size_t i = 0; i < n && !qn_finding_stopped(f); i++)
        if (!list[i].folder && qn_str_starts(list[i].name, "manifest=") &&
            qn_str_ends(list[i].name, ".json"))
            add_manifest_of(f, cache, list[i].name);
    for (size_t i = 0; i < n && !qn_finding_stopped(f); i++) {
        struct qn_shard shard;
        if (!list[i].folder && qn_file_kind_of(list[i].name) == QN_FILE_GGUF &&
            (!qn_shard_of(list[i].name, &shard) || shard.number == 1))
            add_flat_file(f, cache, list[i].name);
    }
    qn_finding_unlist(list, n);
}

/* ---- all programs ---- */

static void look_lm_studio(struct qn_finding *f, const char *models)
{
    qn_finding_folder(f, models, "lm-studio", true);
}

/* A cache in Hugging Face's layout other than the store's own. */
static void look_other_cache(struct qn_finding *f, const char *path)
{
    struct qn_store *store = qn_store_new(path, path);
    qn_finding_store(f, store, QN_HUB_HF);
    qn_store_free(store);
}

static void place_other_cache(const struct qn_found_places *places, struct qn_finding_places *out,
                              const char *path)
{
    if (!qn_str_eq(path, qn_store_root(places->store, QN_HUB_HF)))
        qn_finding_place(out, path, look_other_cache);
}

/* Adds a place below the home folder. */
static void place_at_home(const struct qn_found_places *places, struct qn_finding_places *out,
                          const char *below, void (*look)(struct qn_finding *f, const char *path))
{
    char *path = qn_finding_home(places, below);
    qn_finding_place(out, path, look);
    free(path);
}

/* LM Studio's folder can be moved; a pointer file in the home folder gives its path. */
static void place_lm_studio(const struct qn_found_places *places, struct qn_finding_places *out)
{
    char *pointer = qn_finding_home(places, ".lmstudio-home-pointer");
    struct qn_buf home;
    qn_buf_init(&home, PATH_MAX);
    if (pointer && !qn_file_read(pointer, &home, NULL)) {
        qn_buf_cstr(&home)[strcspn(qn_buf_cstr(&home), "\r\n")] = '\0';
        if (*qn_buf_cstr(&home) == '/') {
            char *models = qn_path_join(qn_buf_cstr(&home), "models");
            qn_finding_place(out, models, look_lm_studio);
            free(models);
        }
    }
    place_at_home(places, out, ".lmstudio/models", look_lm_studio);
    place_at_home(places, out, ".cache/lm-studio/models", look_lm_studio);
    qn_buf_deinit(&home);
    free(pointer);
}

void qn_finding_programs(const struct qn_found_places *places, struct qn_finding_places *out)
{
    static const char *const ollama[] = {"/usr/share/ollama/.ollama/models", "/var/lib/ollama",
                                         "/var/lib/ollama/models",
                                         "/var/snap/ollama/common/models"};
    qn_finding_place(out, qn_finding_env(places, "OLLAMA_MODELS"), look_ollama);
    place_at_home(places, out, ".ollama/models", look_ollama);
    for (size_t i = 0; i < sizeof ollama / sizeof *ollama; i++)
        qn_finding_place(out, ollama[i], look_ollama);

    const char *llama = qn_finding_env(places, "LLAMA_CACHE"),
               *xdg = qn_finding_env(places, "XDG_CACHE_HOME");
    if (llama) {
        qn_finding_place(out, llama, look_llama_cpp);
        place_other_cache(places, out, llama);
    }
    char *cache =
        xdg ? qn_path_join(xdg, "llama.cpp") : qn_finding_home(places, ".cache/llama.cpp");
    qn_finding_place(out, cache, look_llama_cpp);
    free(cache);

    char *hub = qn_store_hf_cache(places->env);
    place_other_cache(places, out, hub);
    free(hub);
    place_lm_studio(places, out);
}
