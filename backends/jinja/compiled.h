/* A compiled template: its syntax tree and the table of the names that it uses. */
#ifndef QN_JINJA_COMPILED_H
#define QN_JINJA_COMPILED_H

#include "base/arena.h"
#include "jinja/ast.h"

struct qn_tsymbol {
    const char *s;
    size_t n;
};

struct qn_template {
    struct qn_arena *arena; /* owns everything below */
    const char *source;     /* with all line ends converted to \n */
    size_t n;
    struct qn_tnodes nodes;
    struct qn_tbody body;
    struct qn_tsymbol *symbols;
    uint32_t symbols_n;
    uint32_t *buckets; /* open addressing; symbol number + 1, 0 is free; size a power of two */
    uint32_t buckets_n;
};

enum { QN_TSYMBOL_NONE = 0xFFFFFFFF };

/* The number of a name; QN_TSYMBOL_NONE when the template never mentions it. */
uint32_t qn_tsymbol_find(const struct qn_template *t, const char *s, size_t n);

#endif
