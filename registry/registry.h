/* The built-in list: models that exist in the world, with what is needed to get and run them.
 * Read once at start from registry/models.json; immutable afterwards. */
#ifndef QN_REGISTRY_REGISTRY_H
#define QN_REGISTRY_REGISTRY_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum { QN_REGISTRY_FILE_MAX = 16 * 1024 * 1024, QN_REGISTRY_ENTRIES_MAX = 10000 };

struct qn_registry;

struct qn_registry_entry {
    const char *name;       /* "quince-starter" */
    const char *recipe;     /* "llamacpp" */
    const char *checkpoint; /* as in the file: a path relative to its folder, or a hub's name */
    const char *file;       /* absolute path when the checkpoint ships with quince, else NULL */
    const char *labels;     /* JSON array of strings */
    bool suggested;
};

/* dir holds models.json and the files it names. A wrong entry is QN_EINVAL with its path in the
 * document; a shipped file that is not there is QN_ENOTFOUND with the file's name. Blocking. */
qn_err qn_registry_open(const char *dir, struct qn_registry **out, struct qn_error *e);
void qn_registry_close(struct qn_registry *r); /* NULL allowed */

size_t qn_registry_count(const struct qn_registry *r);
const struct qn_registry_entry *qn_registry_at(const struct qn_registry *r, size_t i);

#endif
