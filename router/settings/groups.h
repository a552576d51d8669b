/* Groups of models, from "groups" in config.json: which models may be in memory side by side. Pure.
 *
 *   {"coding": {"members": ["qwen3-8b", "user.big"], "swap": true, "exclusive": true},
 *    "always": {"members": ["embedder"], "swap": false, "exclusive": false, "persistent": true}}
 *
 *   - swap (default true): at most one member at a time; false: any number side by side.
 *   - exclusive (default true): a member and a model outside the group are never loaded at the
 *     same time, unless the other model's group is persistent.
 *   - persistent (default false): a model outside the group never causes a member to be unloaded.
 *
 * A model in a group is subject to these rules instead of the setting max_loaded_models, the limit
 * for each kind of model. */
#ifndef QN_SETTINGS_GROUPS_H
#define QN_SETTINGS_GROUPS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum { QN_GROUPS_MAX = 64, QN_GROUP_MEMBERS_MAX = 256, QN_GROUP_NAME_MAX = 64 };

struct qn_group {
    char *name;
    char **members;
    size_t n_members;
    bool swap, exclusive, persistent;
};

struct qn_groups {
    struct qn_group *v;
    size_t n;
};

/* text: the JSON object, or "" for no groups. QN_EINVAL: a member is invalid, or a model is in two
 * groups; the message names it. The caller frees *out, also after an error. */
qn_err qn_groups_parse(const char *text, struct qn_groups *out, struct qn_error *e);
void qn_groups_free(struct qn_groups *g);

/* Returns the group of a model with this catalog name, or NULL. Members may omit "user." or
 * "extra."; case does not matter. */
const struct qn_group *qn_groups_of(const struct qn_groups *g, const char *model);

/* Whether a model of group a may be in memory together with one of group b. NULL: no group. */
bool qn_groups_coexist(const struct qn_group *a, const struct qn_group *b);

#endif
