/* The table of families, see family.h. The first matching row decides. */
#include "answers/family.h"

#include "answers/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static const char *const prefixes[] = {"/api/v1", "/api/v0", "/v1", "/v0"};

enum reach { ALONE, BELOW, TREE }; /* the path itself; paths below it; both */

static const struct {
    bool versioned; /* the path follows one of the four prefixes, else it is at the root */
    const char *path;
    enum reach reach;
    enum qn_family family;
} table[] = {
    {true, "/messages", TREE, QN_FAMILY_ANTHROPIC},
    {true, "/pull", ALONE, QN_FAMILY_STATUS},
    {true, "/load", ALONE, QN_FAMILY_STATUS},
    {true, "/unload", ALONE, QN_FAMILY_STATUS},
    {true, "/delete", ALONE, QN_FAMILY_STATUS},
    {true, "/install", TREE, QN_FAMILY_STATUS},
    {true, "/uninstall", ALONE, QN_FAMILY_STATUS},
    {true, "/models/register", ALONE, QN_FAMILY_STATUS},
    {true, "/sessions", TREE, QN_FAMILY_NUMBER},
    {true, "/documents", TREE, QN_FAMILY_NUMBER},
    {true, "/search", ALONE, QN_FAMILY_NUMBER},
    {true, "/tenants", TREE, QN_FAMILY_NUMBER},
    {true, "/aicore", BELOW, QN_FAMILY_NUMBER},
    {false, "/health", BELOW, QN_FAMILY_NUMBER},
    {false, "/nodes", TREE, QN_FAMILY_TEXT},
    {false, "/admin", BELOW, QN_FAMILY_TEXT},
    {false, "/metrics", BELOW, QN_FAMILY_TEXT},
    {false, "/sessions", BELOW, QN_FAMILY_TEXT},
    {false, "/engines", TREE, QN_FAMILY_ENGINES},
    {false, "/api", BELOW, QN_FAMILY_TEXT}, /* Ollama's, and /api/models */
};

const char *qn_path_unversioned(const char *path)
{
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t n = strlen(prefixes[i]);
        if (!strncmp(path, prefixes[i], n) && path[n] == '/')
            return path + n;
    }
    return NULL;
}

static bool reaches(enum reach reach, const char *row, const char *path)
{
    size_t n = strlen(row);
    if (strncmp(row, path, n) != 0)
        return false;
    return path[n] == '\0' ? reach != BELOW : path[n] == '/' && reach != ALONE;
}

static enum qn_family by_path(const char *path)
{
    const char *rest = qn_path_unversioned(path);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].versioned == (rest != NULL) &&
            reaches(table[i].reach, table[i].path, rest ? rest : path))
            return table[i].family;
    return QN_FAMILY_ERROR;
}

enum qn_family qn_family_of(const struct qn_profile *profile, const char *path)
{
    const char *rest = qn_path_unversioned(path);
    enum qn_family family = by_path(path);
    if (family != QN_FAMILY_ERROR)
        return family;
    return rest && reaches(TREE, "/chat", rest) ? profile->chat_family : profile->family;
}
