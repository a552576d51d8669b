/* The files that the program of a stdio server may use (docs/apis.md, "Tools of MCP servers"). */
#ifndef QN_MCP_PATHS_H
#define QN_MCP_PATHS_H

#include "base/arena.h"
#include "base/error.h"
#include "confine/confine.h"
#include "mcp/target.h"

#include <stddef.h>

enum { QN_PATHS_MAX = 3 * QN_TARGET_WORDS_MAX + 32 };

/* Each path is open, and named by its descriptor, so that it stays the file that was checked. */
struct qn_paths {
    struct qn_confine_path v[QN_PATHS_MAX];
    int fd[QN_PATHS_MAX];
    size_t n;
};

/* program: absolute path. Paths that do not exist are left out. QN_EINVAL: a path contains one of
 * the target's private folders, or lies in one; or it is reached through a folder that the server
 * may change, and lies outside of all of these: a symbolic link, which the server may have made.
 * In every case the caller calls qn_paths_close, and earlier initialises *out with zeros. */
qn_err qn_paths_open(const struct qn_mcp_target *c, const char *program, struct qn_arena *arena,
                     struct qn_paths *out, struct qn_error *e);
void qn_paths_close(struct qn_paths *p);

#endif
