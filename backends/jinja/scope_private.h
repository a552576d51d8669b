/* Shared by the files of the compiler: scope_table.c stores the names of scopes, scope_analyze.c
 * finds these names, scope.c assigns slots to nodes. */
#ifndef QN_JINJA_SCOPE_PRIVATE_H
#define QN_JINJA_SCOPE_PRIVATE_H

#include "jinja/scope.h"

struct qn_tc_body { /* while compiling: a body with its own frame of variables */
    struct qn_tc_body *outer;
    uint32_t slots;
};

struct qn_tc_place {
    uint32_t symbol, slot;
};

struct qn_tc_places { /* slots of a scope's names; shared by the copies of the scope that branches
                         make */
    struct qn_tc_place *v;
    size_t n, cap;
};

struct qn_tc_entry {
    struct qn_tload load;
    bool stored, is_set; /* is_set: the name is set here and not only recorded as stored by a
                            branch */
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
    struct qn_arena *arena; /* memory that is only used while compiling */
    struct qn_error *e;
    qn_err err;
    uint64_t work;
    struct qn_tc_scope *scope; /* the scope that is being analysed */
};

struct qn_tc_undeclared { /* a list of names, and which of them are read before they are set */
    const char *const *names;
    size_t n;
    bool gone[3], found[3];
};

/* Records an error for a template that jinja2 refuses to compile; returns false. */
bool qn_tcompile_fail(struct qn_tc_compiler *c, const struct qn_tnode *node, const char *what,
                      const struct qn_tval *name);

/* Allocates memory that is used while compiling; records an error when the limit is exceeded. */
void *qn_tcompile_get(struct qn_tc_compiler *c, size_t n);

/* Charges for n name comparisons. */
void qn_tcompile_count(struct qn_tc_compiler *c, size_t n);

/* The entry of a name in this scope only; NULL: none. */
struct qn_tc_entry *qn_tscope_own(struct qn_tc_compiler *c, struct qn_tc_scope *s, uint32_t symbol);

/* The entry of a name in this scope or an enclosing one; *hops is the number of frames between
 * them. */
struct qn_tc_entry *qn_tscope_find(struct qn_tc_compiler *c, struct qn_tc_scope *s, uint32_t symbol,
                                   uint16_t *hops);

/* Adds a name to this scope and gives it a slot. */
struct qn_tc_entry *qn_tscope_define(struct qn_tc_compiler *c, struct qn_tc_scope *s,
                                     uint32_t symbol);

/* Makes a name's initial value that of the same name in the enclosing scopes; false when no
 * enclosing scope has it. */
bool qn_tscope_load_outer(struct qn_tc_compiler *c, struct qn_tc_scope *s,
                          struct qn_tc_entry *entry);

/* Records that a name is set, is a parameter, or is read. */
void qn_tscope_store(struct qn_tc_compiler *c, struct qn_tc_scope *s, uint32_t symbol);
struct qn_tc_entry *qn_tscope_parameter(struct qn_tc_compiler *c, struct qn_tc_scope *s,
                                        uint32_t symbol);
void qn_tscope_load(struct qn_tc_compiler *c, struct qn_tc_scope *s, uint32_t symbol);

/* Makes a scope within a parent (NULL: none) whose variables are stored in the frame of `body`. */
struct qn_tc_scope *qn_tscope_new(struct qn_tc_compiler *c, struct qn_tc_scope *parent,
                                  struct qn_tc_body *body);
struct qn_tc_body *qn_tscope_body(struct qn_tc_compiler *c, struct qn_tc_body *outer);

/* Records the names of a scope: those of a list of nodes, of one node (NULL allowed), or of a
 * loop's targets. */
void qn_tscope_analyze(struct qn_tc_compiler *c, struct qn_tc_scope *s,
                       const struct qn_tnodes *nodes);
void qn_tscope_analyze_one(struct qn_tc_compiler *c, struct qn_tc_scope *s, struct qn_tnode *node);
void qn_tscope_declare(struct qn_tc_compiler *c, struct qn_tc_scope *s,
                       const struct qn_tnode *target);

/* Finds which of the given names the nodes read before they set them. */
void qn_tscope_undeclared(const struct qn_tnodes *nodes, struct qn_tc_undeclared *u);

/* Returns false when a node or its children set the variable `loop`. */
bool qn_tscope_no_loop_store(void *ctx, struct qn_tnode *node);

#endif
