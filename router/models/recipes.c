/* See recipes.h. The table has a row for each engine that quince itself knows; packs.json has the
 * others. */
#include "models/recipes.h"

#include "base/path.h"
#include "base/str.h"
#include "contract/backend_types.h"

#include <gnu/libc-version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An engine of a recipe. type: the backend type whose program it is, NULL: none of quince's.
 * instead: the backend of packs.json that is used where quince has no program of its own. why: the
 * reason why it is unusable on every machine, NULL: none. */
struct row {
    const char *recipe, *backend, *type, *instead, *why;
};

#define NEEDS_NPU                                                                                  \
    "Needs an AMD NPU and its own runtime, which is not made for Linux desktops; use a GGUF "      \
    "model "                                                                                       \
    "with the recipe llamacpp"

/* Rows of one recipe are adjacent. Engines of packs.json come after those of quince. */
static const struct row rows[] = {
    {"llamacpp", "cpu", "llm", NULL, NULL},
    {"llamacpp", "vulkan", NULL, NULL, NULL},
    {"llamacpp", "rocm", NULL, NULL,
     "AMD's graphics processors are used through Vulkan: llamacpp:vulkan"},
    {"llamacpp", "metal", NULL, NULL, "Requires macOS"},
    {"whispercpp", "default", "asr", "whisper-server", NULL},
    {"sd-cpp", "default", "image", "sd-server", NULL},
    {"kokoro", "default", "tts", NULL, NULL},
    {"flm", "default", NULL, NULL, NEEDS_NPU},
    {"ryzenai-llm", "default", NULL, NULL, NEEDS_NPU},
};

enum { ROWS = sizeof rows / sizeof *rows };

static const char no_engine[] = "This version of quince has no engine for it";

const char *qn_engine_state_name(enum qn_engine_state state)
{
    static const char *const names[] = {[QN_ENGINE_UNSUPPORTED] = "unsupported",
                                        [QN_ENGINE_INSTALLABLE] = "installable",
                                        [QN_ENGINE_UPDATE_REQUIRED] = "update_required",
                                        [QN_ENGINE_INSTALLED] = "installed"};
    return names[state];
}

/* ---- the machine's devices ---- */

static const struct {
    const char *vendor, *integrated, *other;
} kinds[] = {
    {"amd", "amd_igpu", "amd_dgpu"},
    {"nvidia", "nvidia_dgpu", "nvidia_dgpu"},
    {"intel", "intel_igpu", "intel_dgpu"},
};

const char *qn_device_key(const struct qn_jref *gpu)
{
    struct qn_jref vendor = qn_json_get(gpu, "vendor"), integrated = qn_json_get(gpu, "integrated");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (qn_str_eq(qn_json_raw_str(&vendor), kinds[i].vendor))
            return qn_json_raw_bool(&integrated) ? kinds[i].integrated : kinds[i].other;
    return "other_gpu";
}

/* Adds graphics processors with a Vulkan driver other than a software renderer. */
static void add_vulkan_devices(const struct qn_recipes *r, struct qn_engine *out)
{
    if (!r->devices)
        return;
    struct qn_jref root = qn_json_root(r->devices), gpus = qn_json_get(&root, "gpus"), it;
    for (bool more = qn_json_first(&gpus, &it); more; more = qn_json_next(&it)) {
        struct qn_jref vulkan = qn_json_get(&it, "vulkan"), software = qn_json_get(&it, "software");
        const char *key = qn_device_key(&it);
        bool known = qn_json_type(&vulkan) != QN_JSON_OBJECT || qn_json_raw_bool(&software);
        for (size_t i = 0; i < out->n_devices && !known; i++)
            known = qn_str_eq(out->devices[i], key);
        if (!known && out->n_devices < QN_ENGINE_DEVICES_MAX)
            out->devices[out->n_devices++] = key;
    }
}

/* True when this system's C library has at least this version, as "2.35". */
static bool has_glibc(const char *wanted)
{
    int major, minor, own_major, own_minor;
    if (sscanf(wanted, "%d.%d", &major, &minor) != 2 ||
        sscanf(gnu_get_libc_version(), "%d.%d", &own_major, &own_minor) != 2)
        return true; /* unknown versions are accepted */
    return own_major > major || (own_major == major && own_minor >= minor);
}

/* ---- one engine ---- */

static void say(struct qn_engine *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void say(struct qn_engine *out, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(out->message, sizeof out->message, fmt, ap);
    va_end(ap);
}

/* Quince's own engine: false when its program is not installed, with the reason in the message. */
static bool look_at_own(const struct qn_recipes *r, const char *name, struct qn_engine *out)
{
    const struct qn_backend_type *type = qn_backend_type_find(name);
    say(out, "%s", no_engine);
    if (!type)
        return false;
    char *path = qn_path_join(r->backend_dir, type->binary);
    bool here = access(path, X_OK) == 0;
    free(path);
    if (here) {
        out->own = true;
        out->state = QN_ENGINE_INSTALLED;
        out->message[0] = '\0';
        out->devices[out->n_devices++] = "cpu";
        snprintf(out->version, sizeof out->version, "%s", QN_VERSION);
    } else if (!type->optional) { /* an optional type may have no program in this version */
        say(out, "%s is not installed beside quinced: reinstall quince", type->binary);
    }
    return here;
}

/* True, with the reason in the message, when this machine cannot run the pack. */
static bool is_unfit(const struct qn_pack *pack, struct qn_engine *out)
{
    if (!pack->url) {
        say(out, "There is no build of it for this kind of processor");
    } else if (!out->n_devices) {
        say(out, "No graphics processor with a Vulkan driver was found");
        out->hardware = true;
    } else if (!has_glibc(pack->glibc)) {
        say(out, "Needs glibc %s; this system has %s", pack->glibc, gnu_get_libc_version());
        out->hardware = true;
    } else {
        return false;
    }
    return true;
}

static void look_at_pack(const struct qn_recipes *r, const struct qn_pack *pack,
                         struct qn_engine *out)
{
    struct qn_pack_program program;
    out->pack = pack;
    if (*pack->needs)
        add_vulkan_devices(r, out);
    else
        out->devices[out->n_devices++] = "cpu";
    bool here = !qn_packs_program(r->packs, pack->recipe, pack->backend, &program, NULL);
    out->system = program.system;
    memcpy(out->version, program.version, sizeof program.version);
    out->message[0] = '\0';
    if (here && !program.outdated) {
        out->state = QN_ENGINE_INSTALLED;
    } else if (is_unfit(pack, out) && !here) {
        out->n_devices = 0;
    } else if (r->no_fetch && !here) {
        say(out,
            "Not installed, and the setting no-fetch-executables forbids downloading "
            "programs%s%s%s",
            *pack->needs ? "" : "; a ", *pack->needs ? "" : pack->program,
            *pack->needs ? "" : " on the path would be used");
    } else {
        out->state = here ? QN_ENGINE_UPDATE_REQUIRED : QN_ENGINE_INSTALLABLE;
        if (here)
            say(out, "Version %s is installed, %s is wanted: an update is required",
                program.version, pack->version);
        else
            say(out, "Backend is supported but not installed.");
        snprintf(out->action, sizeof out->action, "quince backends install %s:%s", out->recipe,
                 out->backend);
    }
    qn_pack_program_deinit(&program);
}

/* The engine of a row, or of an entry of packs.json without a row. */
static void look(const struct qn_recipes *r, const struct row *row, const struct qn_pack *pack,
                 struct qn_engine *out)
{
    *out = (struct qn_engine){.recipe = row ? row->recipe : pack->recipe,
                              .backend = row ? row->backend : pack->backend};
    if (row && row->type && look_at_own(r, row->type, out))
        return;
    if (row && !pack)
        pack = qn_packs_find(r->packs, row->recipe, row->instead ? row->instead : row->backend);
    if (pack)
        look_at_pack(r, pack, out);
    else if (row->why)
        say(out, "%s", row->why);
    else if (!out->message[0])
        say(out, "%s", no_engine);
}

/* ---- all engines ---- */

static const struct row *row_find(const char *recipe, const char *backend)
{
    for (size_t i = 0; i < ROWS; i++)
        if (qn_str_eq(rows[i].recipe, recipe) && qn_str_eq(rows[i].backend, backend))
            return &rows[i];
    return NULL;
}

typedef void (*engine_fn)(void *ctx, const struct qn_engine *en);

/* Calls fn for each engine of a recipe: the rows of quince, then the engines that only packs.json
 * has. */
static size_t each_engine(const struct qn_recipes *r, const char *recipe, engine_fn fn, void *ctx)
{
    struct qn_engine en;
    size_t n = 0;
    for (size_t i = 0; i < ROWS; i++) {
        if (!qn_str_eq(rows[i].recipe, recipe))
            continue;
        look(r, &rows[i], NULL, &en);
        fn(ctx, &en);
        n++;
    }
    for (size_t i = 0; i < qn_packs_count(r->packs); i++) {
        const struct qn_pack *pack = qn_packs_at(r->packs, i);
        if (!qn_str_eq(pack->recipe, recipe) || row_find(recipe, pack->backend))
            continue;
        look(r, NULL, pack, &en);
        fn(ctx, &en);
        n++;
    }
    return n;
}

/* The i-th of all recipes; NULL: there are fewer. */
static const char *recipe_at(const struct qn_recipes *r, size_t i)
{
    const char *seen[ROWS + QN_PACKS_MAX];
    size_t n = 0;
    for (size_t k = 0; k < ROWS + qn_packs_count(r->packs); k++) {
        const char *name = k < ROWS ? rows[k].recipe : qn_packs_at(r->packs, k - ROWS)->recipe;
        bool known = false;
        for (size_t m = 0; m < n && !known; m++)
            known = qn_str_eq(seen[m], name);
        if (known)
            continue;
        if (n == i)
            return name;
        seen[n++] = name;
    }
    return NULL;
}

static void add_name(void *ctx, const struct qn_engine *en)
{
    struct qn_buf *names = ctx;
    qn_buf_fmt(names, "%s%s", names->len ? ", " : "", en->backend);
}

qn_err qn_recipes_find(const struct qn_recipes *r, const char *recipe, const char *backend,
                       struct qn_engine *out, struct qn_error *e)
{
    const struct row *row = row_find(recipe, backend);
    const struct qn_pack *pack = qn_packs_find(r->packs, recipe, backend);
    struct qn_buf names;
    if (row || pack) {
        look(r, row, pack, out);
        return QN_OK;
    }
    qn_buf_init(&names, QN_ERROR_MESSAGE_MAX);
    if (each_engine(r, recipe, add_name, &names)) {
        qn_fail_param(e, QN_ENOTFOUND, "backend", "recipe %s has no backend '%.60s'; it has %s",
                      recipe, backend, qn_buf_cstr(&names));
    } else {
        const char *name;
        for (size_t i = 0; (name = recipe_at(r, i)); i++)
            qn_buf_fmt(&names, "%s%s", names.len ? ", " : "", name);
        qn_fail_param(e, QN_ENOTFOUND, "recipe", "there is no recipe '%.60s'; there are %s", recipe,
                      qn_buf_cstr(&names));
    }
    qn_buf_deinit(&names);
    return QN_ENOTFOUND;
}

static void write_engine(void *ctx, const struct qn_engine *en)
{
    struct qn_jw *w = ctx;
    qn_jw_key(w, en->backend);
    qn_jw_obj(w);
    qn_jw_key(w, "devices");
    qn_jw_arr(w);
    for (size_t i = 0; i < en->n_devices; i++)
        qn_jw_str(w, en->devices[i]);
    qn_jw_arr_end(w);
    qn_jw_kstr(w, "state", qn_engine_state_name(en->state));
    qn_jw_kstr(w, "message", en->message);
    qn_jw_kstr(w, "action", en->action);
    if (*en->version)
        qn_jw_kstr(w, "version", en->version);
    if (en->state == QN_ENGINE_INSTALLED || en->state == QN_ENGINE_UPDATE_REQUIRED)
        qn_jw_kstr(w, "source", en->own ? "quince" : en->system ? "system" : "release");
    if (en->pack && en->pack->url) {
        qn_jw_kstr(w, "release_url", en->pack->url);
        qn_jw_kstr(w, "download_filename", qn_path_base(en->pack->url));
    }
    qn_jw_obj_end(w);
}

/* The default engine: quince's own before other projects', installed before installable. */
struct best {
    const char *backend;
    enum qn_engine_state state;
};

static void take_better(void *ctx, const struct qn_engine *en)
{
    struct best *best = ctx;
    if (en->state > best->state)
        *best = (struct best){en->backend, en->state};
}

void qn_recipes_write(struct qn_jw *w, const struct qn_recipes *r)
{
    const char *name, *none[ROWS + QN_PACKS_MAX];
    size_t n_none = 0;
    qn_jw_key(w, "recipes");
    qn_jw_obj(w);
    for (size_t i = 0; (name = recipe_at(r, i)); i++) {
        struct best best = {NULL, QN_ENGINE_UNSUPPORTED};
        each_engine(r, name, take_better, &best);
        qn_jw_key(w, name);
        qn_jw_obj(w);
        if (best.backend)
            qn_jw_kstr(w, "default_backend", best.backend);
        else
            none[n_none++] = name;
        qn_jw_key(w, "backends");
        qn_jw_obj(w);
        each_engine(r, name, write_engine, w);
        qn_jw_obj_end(w);
        qn_jw_obj_end(w);
    }
    qn_jw_obj_end(w);
    qn_jw_key(w, "unavailable_recipes");
    qn_jw_arr(w);
    for (size_t i = 0; i < n_none; i++)
        qn_jw_str(w, none[i]);
    qn_jw_arr_end(w);
}
