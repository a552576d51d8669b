/* Recipes as Lemonade's API names them and the engines that can run each: quince's own and those of
 * others (registry/packs.h), what is here, what could be, what cannot and why. Looks at the disk
 * with a few system calls; loop thread. */
#ifndef QN_MODELS_RECIPES_H
#define QN_MODELS_RECIPES_H

#include "base/error.h"
#include "base/json.h"
#include "registry/packs.h"

#include <stdbool.h>

/* What it depends on; lent for each call. */
struct qn_recipes {
    const char *backend_dir; /* where quince's own engines lie */
    const struct qn_packs *packs;
    const struct qn_json *devices; /* what quince-probe says; NULL: nothing */
    bool no_fetch;                 /* programs may not be downloaded */
};

enum qn_engine_state {
    QN_ENGINE_UNSUPPORTED,
    QN_ENGINE_INSTALLABLE,
    QN_ENGINE_UPDATE_REQUIRED,
    QN_ENGINE_INSTALLED
};

enum { QN_ENGINE_MESSAGE_MAX = 512, QN_ENGINE_DEVICES_MAX = 8 };

/* One engine of a recipe, as it is now. */
struct qn_engine {
    const char *recipe, *backend;
    enum qn_engine_state state;
    const struct qn_pack *pack; /* what installing it installs; NULL: it is quince's own, or none */
    char message[QN_ENGINE_MESSAGE_MAX];    /* "": it is installed */
    char action[2 * QN_PACK_WORD_MAX + 64]; /* what to do, or "" */
    char version[QN_PACK_WORD_MAX + 1];     /* of what is installed; "": not known, or nothing */
    bool own;                               /* came with quince */
    bool system;                            /* of the path, not installed by quince */
    bool hardware; /* it is unsupported for what this machine is, so force may install it */
    const char *devices[QN_ENGINE_DEVICES_MAX]; /* of system-info, that it computes on */
    size_t n_devices;
};

const char *qn_engine_state_name(enum qn_engine_state state);

/* QN_ENOTFOUND (param "recipe" or "backend") names those there are. */
qn_err qn_recipes_find(const struct qn_recipes *r, const char *recipe, const char *backend,
                       struct qn_engine *out, struct qn_error *e);

/* Writes "recipes" of an open object, and "unavailable_recipes": those without any engine here. */
void qn_recipes_write(struct qn_jw *w, const struct qn_recipes *r);

/* The member of system-info's "devices" that a graphics processor of quince-probe belongs to. */
const char *qn_device_key(const struct qn_jref *gpu);

#endif
