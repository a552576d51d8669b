/* Determines which files and folders the program of a stdio server may use (docs/apis.md, "Tools of
 * MCP servers"). */
#ifndef QN_MCP_PATHS_H
#define QN_MCP_PATHS_H

#include "base/arena.h"
#include "base/error.h"
#include "confine/confine.h"
#include "mcp/target.h"

#include <stddef.h>

enum { QN_PATHS_MAX = 3 * QN_TARGET_WORDS_MAX + 32 };

/* The paths that were allowed. Each has an open descriptor and is named /proc/self/fd/N, so that it
 * keeps referring to the file that was checked even if the path is replaced. */
struct qn_paths {
    struct qn_confine_path v[QN_PATHS_MAX];
    int fd[QN_PATHS_MAX];
    size_t n;
};

/* Opens all paths that the program may use. program: absolute path of the program. Paths that do
 * not exist are skipped. Returns QN_EINVAL if a path contains, or lies in, one of the target's
 * private folders; or if it is looked up through a folder that the server may change but resolves
 * to a file outside of all such folders, since the server may have made that symbolic link. The
 * caller must set *out to zeros first, and must call qn_paths_close afterwards, also after an
 * error. */
qn_err qn_paths_open(const struct qn_mcp_target *c, const char *program, struct qn_arena *arena,
                     struct qn_paths *out, struct qn_error *e);
void qn_paths_close(struct qn_paths *p);

#endif
