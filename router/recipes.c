/* See recipes.h: one row per recipe and engine. */
#include "router/recipes.h"

#include "base/path.h"
#include "base/str.h"
#include "contract/backend_types.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* An engine of a recipe. type: the backend type whose program it is, NULL: none of quince's. why:
 * what keeps it from being used, where that is so on every machine. */
struct engine {
    const char *recipe, *backend, *type, *why;
};

#define NEEDS_NPU                                                                                  \
    "Needs an AMD NPU and its own runtime, which is not made for Linux desktops; use a GGUF "      \
    "model "                                                                                       \
    "with the recipe llamacpp"

/* Rows of one recipe stand together. */
static const struct engine engines[] = {
    {"llamacpp", "cpu", "llm", NULL},
    {"llamacpp", "vulkan", NULL, "quince's own engine computes on the processor"},
    {"llamacpp", "rocm", NULL, "quince's own engine computes on the processor"},
    {"whispercpp", "default", "asr", NULL},
    {"sd-cpp", "default", "image", NULL},
    {"kokoro", "default", "tts", NULL},
    {"flm", "default", NULL, NEEDS_NPU},
    {"ryzenai-llm", "default", NULL, NEEDS_NPU},
};

enum { ENGINES = sizeof engines / sizeof *engines };

static const char no_engine[] = "This version of quince has no engine for it";

/* NULL: it can be used; else why not. */
static const char *what_lacks(const struct engine *en, const char *backend_dir, char *room,
                              size_t size)
{
    const struct qn_backend_type *type = en->type ? qn_backend_type_find(en->type) : NULL;
    if (en->why)
        return en->why;
    if (!type)
        return no_engine;
    char *path = qn_path_join(backend_dir, type->binary);
    bool here = access(path, X_OK) == 0;
    free(path);
    if (here)
        return NULL;
    if (type->optional) /* it has a place in quince, and no program yet */
        return no_engine;
    snprintf(room, size, "%s is not installed beside quinced: install quince anew", type->binary);
    return room;
}

static void write_engine(struct qn_jw *w, const struct engine *en, const char *why)
{
    qn_jw_key(w, en->backend);
    qn_jw_obj(w);
    qn_jw_key(w, "devices");
    qn_jw_arr(w);
    if (!why)
        qn_jw_str(w, "cpu");
    qn_jw_arr_end(w);
    qn_jw_kstr(w, "state", why ? "unsupported" : "installed");
    qn_jw_kstr(w, "message", why ? why : "");
    qn_jw_kstr(w, "action", "");
    if (!why)
        qn_jw_kstr(w, "version", QN_VERSION);
    qn_jw_obj_end(w);
}

void qn_recipes_write(struct qn_jw *w, const char *backend_dir)
{
    const char *why[ENGINES];
    char room[ENGINES][128];
    qn_jw_key(w, "recipes");
    qn_jw_obj(w);
    for (size_t i = 0, end; i < ENGINES; i = end) {
        const char *best = NULL;
        for (end = i; end < ENGINES && qn_str_eq(engines[end].recipe, engines[i].recipe); end++) {
            why[end] = what_lacks(&engines[end], backend_dir, room[end], sizeof room[end]);
            if (!why[end] && !best)
                best = engines[end].backend;
        }
        qn_jw_key(w, engines[i].recipe);
        qn_jw_obj(w);
        if (best)
            qn_jw_kstr(w, "default_backend", best);
        qn_jw_key(w, "backends");
        qn_jw_obj(w);
        for (size_t k = i; k < end; k++)
            write_engine(w, &engines[k], why[k]);
        qn_jw_obj_end(w);
        qn_jw_obj_end(w);
    }
    qn_jw_obj_end(w);
}
