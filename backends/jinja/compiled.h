/* A compiled template: its tree, and the names it uses, numbered. */
#ifndef QN_JINJA_COMPILED_H
#define QN_JINJA_COMPILED_H

#include "base/arena.h"
#include "jinja/ast.h"

struct qn_tsymbol {
    const char *s;
    size_t n;
};

struct qn_template {
    struct qn_arena *arena; /* holds everything below */
    const char *source;     /* with line ends made \n */
    size_t n;
    struct qn_tnodes nodes;
    struct qn_tbody body;
    struct qn_tsymbol *symbols;
    uint32_t symbols_n;
    uint32_t *buckets; /* open addressing; symbol number + 1, 0 is free; size a power of two */
    uint32_t buckets_n;
};

enum { QN_TSYMBOL_NONE = 0xFFFFFFFF };

/* The number of a name, or QN_TSYMBOL_NONE when the template never mentions it. */
uint32_t qn_tsymbol_find(const struct qn_template *t, const char *s, size_t n);

#endif
