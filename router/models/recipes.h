/* Recipes as named by Lemonade's API and the engines that can run each: quince's own and those of
 * other projects (registry/packs.h), with their state: installed, installable, or unsupported and
 * why. Makes a few system calls on files; loop thread. */
#ifndef QN_MODELS_RECIPES_H
#define QN_MODELS_RECIPES_H

#include "base/error.h"
#include "base/json.h"
#include "registry/packs.h"

#include <stdbool.h>

/* Its inputs; lent for each call. */
struct qn_recipes {
    const char *backend_dir; /* folder of quince's own engines */
    const struct qn_packs *packs;
    const struct qn_json *devices; /* output of quince-probe; NULL: unknown */
    bool no_fetch;                 /* programs may not be downloaded */
};

enum qn_engine_state {
    QN_ENGINE_UNSUPPORTED,
    QN_ENGINE_INSTALLABLE,
    QN_ENGINE_UPDATE_REQUIRED,
    QN_ENGINE_INSTALLED
};

enum { QN_ENGINE_MESSAGE_MAX = 512, QN_ENGINE_DEVICES_MAX = 8 };

/* The current state of one engine of a recipe. */
struct qn_engine {
    const char *recipe, *backend;
    enum qn_engine_state state;
    const struct qn_pack *pack; /* what installing the engine installs; NULL: it is quince's own, or
                                   there is no pack */
    char message[QN_ENGINE_MESSAGE_MAX];    /* why it is not installed; "": it is */
    char action[2 * QN_PACK_WORD_MAX + 64]; /* advice, or "" */
    char version[QN_PACK_WORD_MAX + 1]; /* of the installed one; "": unknown, or not installed */
    bool own;                           /* part of quince */
    bool system;                        /* found on the path, not installed by quince */
    bool hardware; /* unsupported by this machine's hardware, so that `force` may install it anyway
                    */
    /* keys of system-info's devices that it computes on */
    const char *devices[QN_ENGINE_DEVICES_MAX];
    size_t n_devices;
};

const char *qn_engine_state_name(enum qn_engine_state state);

/* QN_ENOTFOUND (param "recipe" or "backend"); the message lists the valid ones. */
qn_err qn_recipes_find(const struct qn_recipes *r, const char *recipe, const char *backend,
                       struct qn_engine *out, struct qn_error *e);

/* Writes the members "recipes" of an open object and "unavailable_recipes": those without any
 * engine for this machine. */
void qn_recipes_write(struct qn_jw *w, const struct qn_recipes *r);

/* The member of system-info's "devices" under which a graphics processor of quince-probe is
 * listed. */
const char *qn_device_key(const struct qn_jref *gpu);

#endif
