/* The first line of the router: which server this is. */
#ifndef QN_MCP_TARGET_H
#define QN_MCP_TARGET_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    QN_TARGET_WORDS_MAX = 64, /* arguments, variables, paths */
    QN_TARGET_ARENA_MAX = 8 * 1024 * 1024
};

struct qn_words {
    const char *v[QN_TARGET_WORDS_MAX + 1]; /* ends in NULL */
    size_t n;
};

struct qn_mcp_target {
    bool stdio;
    int64_t start_ms;
    /* http */
    const char *url, *token; /* token "": none */
    bool public_only;        /* only public addresses are allowed */
    /* stdio */
    const char *command, *folder;           /* folder: of the server's own, which exists */
    struct qn_words args, env, read, write; /* env: NAME=VALUE */
    struct qn_words private;                /* quince's own folders, which it may not reach */
    int ports[QN_TARGET_WORDS_MAX];         /* quince's own ports, likewise */
    size_t n_ports;
};

/* Strings are copied to the arena. QN_EINVAL: the line is not of the router's form. */
qn_err qn_mcp_target_read(const char *line, size_t n, struct qn_arena *arena,
                          struct qn_mcp_target *out, struct qn_error *e);

#endif
