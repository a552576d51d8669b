/* Parses the first line that the router sends: it describes the MCP server. */
#ifndef QN_MCP_TARGET_H
#define QN_MCP_TARGET_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    QN_TARGET_WORDS_MAX = 64, /* maximum number of arguments, variables or paths */
    QN_TARGET_ARENA_MAX = 8 * 1024 * 1024
};

struct qn_words {
    const char *v[QN_TARGET_WORDS_MAX + 1]; /* terminated by NULL */
    size_t n;
};

struct qn_mcp_target {
    bool stdio;
    int64_t start_ms;
    /* HTTP servers: */
    const char *url, *token; /* token "": no token is sent */
    bool public_only;        /* connect only to public addresses */
    /* stdio servers: */
    const char *command, *folder;           /* folder: of this server; created if missing */
    struct qn_words args, env, read, write; /* env: NAME=VALUE; read, write: paths */
    struct qn_words private;                /* folders of quince that the server must not reach */
    int ports[QN_TARGET_WORDS_MAX]; /* ports of quince that the server must not connect to */
    size_t n_ports;
};

/* Parses the line; strings are copied to the arena. Returns QN_EINVAL if the line is not a valid
 * start record. */
qn_err qn_mcp_target_read(const char *line, size_t n, struct qn_arena *arena,
                          struct qn_mcp_target *out, struct qn_error *e);

#endif
