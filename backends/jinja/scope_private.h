/* What the files of the compiler share: scope_table.c keeps the names of scopes, scope_analyze.c
 * finds which they are, scope.c gives every node its places. */
#ifndef QN_JINJA_SCOPE_PRIVATE_H
#define QN_JINJA_SCOPE_PRIVATE_H

#include "jinja/scope.h"

struct qn_tc_body { /* what has variables of its own, while it is compiled */
    struct qn_tc_body *outer;
    uint32_t slots;
};

struct qn_tc_place {
    uint32_t symbol, slot;
};

struct qn_tc_places { /* where a scope keeps its names; shared by the copies that branches make */
    struct qn_tc_place *v;
    size_t n, cap;
};

struct qn_tc_entry {
    struct qn_tload load;
    bool stored, is_set; /* is_set: the name has a place here, rather than only being stored */
    uint32_t symbol;
};

struct qn_tc_scope {
    struct qn_tc_scope *parent;
    struct qn_tc_body *body;
    struct qn_tc_places *places;
    struct qn_tc_entry *v;
    size_t n, cap;
};

struct qn_tc_compiler {
    struct qn_template *t;
    struct qn_arena *arena; /* of the compiler itself */
    struct qn_error *e;
    qn_err err;
    uint64_t work;
    struct qn_tc_scope *scope; /* of the analysis */
};

struct qn_tc_undeclared { /* names, and which of them are read before they are set */
    const char *const *names;
    size_t n;
    bool gone[3], found[3];
};

/* Records what jinja2 refuses to compile; false. */
bool qn_tcompile_fail(struct qn_tc_compiler *c, const struct qn_tnode *node, const char *what,
                      const struct qn_tval *name);

/* Memory of the compiler; records the limit when there is no more. */
void *qn_tcompile_get(struct qn_tc_compiler *c, size_t n);

/* Counts names compared. */
void qn_tcompile_count(struct qn_tc_compiler *c, size_t n);

/* The entry of a name in this scope alone; NULL: it has none. */
struct qn_tc_entry *qn_tscope_own(struct qn_tc_compiler *c, struct qn_tc_scope *s, uint32_t symbol);

/* The entry of a name here or further out; counts the bodies on the way. */
struct qn_tc_entry *qn_tscope_find(struct qn_tc_compiler *c, struct qn_tc_scope *s, uint32_t symbol,
                                   uint16_t *hops);

/* Gives a name a place in this scope. */
struct qn_tc_entry *qn_tscope_define(struct qn_tc_compiler *c, struct qn_tc_scope *s,
                                     uint32_t symbol);

/* Lets a name begin as what it covers further out; false when it covers nothing. */
bool qn_tscope_load_outer(struct qn_tc_compiler *c, struct qn_tc_scope *s,
                          struct qn_tc_entry *entry);

/* A name that is set, given as a parameter, read. */
void qn_tscope_store(struct qn_tc_compiler *c, struct qn_tc_scope *s, uint32_t symbol);
struct qn_tc_entry *qn_tscope_parameter(struct qn_tc_compiler *c, struct qn_tc_scope *s,
                                        uint32_t symbol);
void qn_tscope_load(struct qn_tc_compiler *c, struct qn_tc_scope *s, uint32_t symbol);

/* A scope within a parent (NULL: none), whose variables live in a body. */
struct qn_tc_scope *qn_tscope_new(struct qn_tc_compiler *c, struct qn_tc_scope *parent,
                                  struct qn_tc_body *body);
struct qn_tc_body *qn_tscope_body(struct qn_tc_compiler *c, struct qn_tc_body *outer);

/* Finds the names of a scope: of nodes, of one node (NULL allowed), of a loop's targets. */
void qn_tscope_analyze(struct qn_tc_compiler *c, struct qn_tc_scope *s,
                       const struct qn_tnodes *nodes);
void qn_tscope_analyze_one(struct qn_tc_compiler *c, struct qn_tc_scope *s, struct qn_tnode *node);
void qn_tscope_declare(struct qn_tc_compiler *c, struct qn_tc_scope *s,
                       const struct qn_tnode *target);

/* Which of some names nodes read before they set them. */
void qn_tscope_undeclared(const struct qn_tnodes *nodes, struct qn_tc_undeclared *u);

/* False when something within a node sets `loop`. */
bool qn_tscope_no_loop_store(void *ctx, struct qn_tnode *node);

#endif
