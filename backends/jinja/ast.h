/* The syntax tree of a chat template. All kinds of nodes share one struct with a few generic
 * fields; the comment on each kind says what the fields hold. Nodes are allocated in the compiled
 * template and do not change after compiling. */
#ifndef QN_JINJA_AST_H
#define QN_JINJA_AST_H

#include "jinja/value.h"

enum {
    QN_TNODE_HEIGHT_MAX = 1000 /* maximum height of the tree, including long chains of operators */
};

enum qn_tkind {
    /* expressions */
    QN_N_LITERAL, /* val */
    QN_N_NAME,    /* val: the name; symbol; use; after resolving: hops and slot */
    QN_N_NSREF,   /* a: QN_N_NAME of a namespace; val: the member that is assigned */
    QN_N_LIST,    /* kids: items */
    QN_N_TUPLE,   /* kids: items */
    QN_N_DICT,    /* kids: key, value, key, value, ... */
    QN_N_SIGN,    /* a; op QN_OP_ADD or QN_OP_SUB */
    QN_N_NOT,     /* a */
    QN_N_AND,     /* a, b */
    QN_N_OR,      /* a, b */
    QN_N_BINARY,  /* a op b */
    QN_N_CONCAT,  /* kids joined by ~; flag: the result can be markup */
    QN_N_COMPARE, /* a; kids: QN_N_OPERAND ... */
    QN_N_OPERAND, /* op a */
    QN_N_TEST,    /* a is val(args) */
    QN_N_FILTER,  /* a | val(args); a NULL: applies to the text of a block */
    QN_N_CALL,    /* a(arguments) */
    QN_N_MEMBER,  /* a.val */
    QN_N_INDEX,   /* a[b] */
    QN_N_SLICE,   /* a : b : c, each may be NULL; only inside QN_N_INDEX */
    QN_N_TERNARY, /* a if b else c; c may be NULL */
    /* arguments of calls */
    QN_N_KEYWORD,   /* val=a */
    QN_N_SPREAD,    /* *a */
    QN_N_SPREAD_KW, /* **a */
    /* statements */
    QN_N_TEXT,   /* val */
    QN_N_OUTPUT, /* {{ a }}; escape */
    QN_N_IF,     /* kids: QN_N_BRANCH ...; other: else */
    QN_N_BRANCH, /* a: condition; kids: body */
    QN_N_FOR,    /* for a in b if c; kids: body; other: else; flag: recursive; loop; three scopes */
    QN_N_SET,    /* a = b */
    QN_N_SET_BLOCK,    /* a; b: filter or NULL; kids: body; scope */
    QN_N_MACRO,        /* a: QN_N_NAME; params; kids: body; scope */
    QN_N_CALL_BLOCK,   /* a: QN_N_CALL, or NULL for {% generation %}; params and kids: the macro
                          that caller() calls */
    QN_N_FILTER_BLOCK, /* a: QN_N_FILTER without operand; kids: body; scope */
    QN_N_WITH,         /* args: target, value, ...; kids: body; scope */
    QN_N_AUTOESCAPE,   /* a; kids: body; scope */
    QN_N_BLOCK,        /* val: name; kids: body; scope */
    QN_N_IMPORT,       /* a tag that needs other templates: val: the tag's name; kids: names that it
                          would set */
    QN_N_BREAK,
    QN_N_CONTINUE,
    QN_N_KINDS
};

enum qn_top {
    QN_OP_NONE,
    QN_OP_EQ,
    QN_OP_NE,
    QN_OP_LT,
    QN_OP_GT,
    QN_OP_LE,
    QN_OP_GE,
    QN_OP_IN,
    QN_OP_NOT_IN,
    QN_OP_ADD,
    QN_OP_SUB,
    QN_OP_MUL,
    QN_OP_DIV,
    QN_OP_FLOOR_DIV,
    QN_OP_MOD,
    QN_OP_POW
};

/* How a name is used. */
enum { QN_USE_LOAD, QN_USE_STORE, QN_USE_PARAM };

/* Whether output is escaped at a node's position in the template. */
enum { QN_ESCAPE_NO, QN_ESCAPE_YES, QN_ESCAPE_RUNTIME };

struct qn_tnodes {
    struct qn_tnode **v;
    size_t n;
};

/* How a variable is initialised when a scope is entered. */
struct qn_tload {
    enum { QN_LOAD_CONTEXT, QN_LOAD_ALIAS, QN_LOAD_MISSING, QN_LOAD_PARAM } how;
    uint32_t slot;
    uint32_t symbol;     /* for QN_LOAD_CONTEXT */
    uint16_t hops, from; /* for QN_LOAD_ALIAS */
};

struct qn_tscope {
    struct qn_tload *v;
    size_t n;
};

/* The body of a macro, call block, recursive loop or loop filter; each has its own frame of
 * variables. */
struct qn_tbody {
    uint32_t slots;
    struct qn_tnodes params;   /* QN_N_NAME nodes */
    struct qn_tnodes defaults; /* default values of the last parameters */
    bool takes_caller, takes_kwargs, takes_varargs;
    uint32_t caller, kwargs, varargs; /* slots of these variables */
    struct qn_tscope scope;
};

struct qn_tnode {
    enum qn_tkind kind;
    enum qn_top op;
    bool flag;
    uint8_t use, escape;
    uint16_t height; /* height of the subtree; 1 for a leaf */
    uint16_t hops, slot;
    uint32_t line;
    uint32_t symbol;
    struct qn_tnode *a, *b, *c;
    struct qn_tnodes kids, other, args;
    struct qn_tscope scope, else_scope;
    struct qn_tbody *body, *test; /* body: the body of a recursive loop; test: the loop's filter */
    bool has_loop, toplevel;
    uint16_t loop_slot;
    struct qn_tval val;
    const void *builtin; /* row of the filter or test; NULL: no filter or test has this name */
};

#endif
