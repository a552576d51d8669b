/* Groups of models, as config.json's "groups" has them: who may be in memory beside whom. Pure.
 *
 *   {"coding": {"members": ["qwen3-8b", "user.big"], "swap": true, "exclusive": true},
 *    "always": {"members": ["embedder"], "swap": false, "exclusive": false, "persistent": true}}
 *
 * - swap (default true): one member at a time; false: any number beside each other.
 * - exclusive (default true): a member and a model that is not of the group are never loaded at
 *   once, unless the other's group is persistent.
 * - persistent (default false): what is not of the group never makes a member leave.
 *
 * A group's members obey it instead of the limit of their kind. */
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

/* text: the JSON object, or "" for none. QN_EINVAL names the member that is wrong; a model may be
 * in one group only. Freed by the caller, also after an error. */
qn_err qn_groups_parse(const char *text, struct qn_groups *out, struct qn_error *e);
void qn_groups_free(struct qn_groups *g);

/* The group of a catalog row's name, or NULL. A member may leave out "user." or "extra.", and case
 * does not matter. */
const struct qn_group *qn_groups_of(const struct qn_groups *g, const char *model);

/* May a model of group a be in memory beside one of group b? NULL: of none. */
bool qn_groups_coexist(const struct qn_group *a, const struct qn_group *b);

#endif
