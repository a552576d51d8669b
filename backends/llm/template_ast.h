/* The syntax tree of a chat template. One node type with the same few slots for every kind: what a
 * kind keeps in which slot stands beside it. Nodes live in the compiled template and never change.
 */
#ifndef QN_LLM_TEMPLATE_AST_H
#define QN_LLM_TEMPLATE_AST_H

#include "llm/template_value.h"

enum {
    QN_TNODE_HEIGHT_MAX = 1000 /* nodes below one another, long chains of operators included */
};

enum qn_tkind {
    /* expressions */
    QN_N_LITERAL, /* val */
    QN_N_NAME,    /* symbol; val its text */
    QN_N_LIST,    /* kids: items */
    QN_N_TUPLE,   /* kids: items */
    QN_N_DICT,    /* kids: key, value, key, value, ... */
    QN_N_SIGN,    /* a; op QN_OP_ADD or QN_OP_SUB */
    QN_N_NOT,     /* a */
    QN_N_AND,     /* a, b */
    QN_N_OR,      /* a, b */
    QN_N_BINARY,  /* a op b */
    QN_N_TEST,    /* a is val; flag: is not */
    QN_N_FILTER,  /* a | val; kids: arguments; flag: with parentheses */
    QN_N_CALL,    /* a(kids) */
    QN_N_MEMBER,  /* a.val */
    QN_N_INDEX,   /* a[b], and a.0 */
    QN_N_SLICE,   /* a[kids[0] : kids[1] : kids[2]], each may be NULL */
    QN_N_TERNARY, /* a if b else c */
    QN_N_SELECT,  /* a if b: undefined when b is false; in a for loop: only items for which b holds
                   */
    /* arguments of calls */
    QN_N_KEYWORD,   /* val=a */
    QN_N_SPREAD,    /* *a */
    QN_N_SPREAD_KW, /* **a */
    /* statements */
    QN_N_TEXT,         /* val */
    QN_N_OUTPUT,       /* {{ a }} */
    QN_N_IF,           /* kids: QN_N_BRANCH ...; other: else */
    QN_N_BRANCH,       /* a: condition (NULL: always); kids: body */
    QN_N_FOR,          /* for a in b; kids: body; other: else; flag: `loop` is mentioned inside */
    QN_N_SET,          /* a = b */
    QN_N_SET_BLOCK,    /* a; kids: body */
    QN_N_MACRO,        /* symbol, val: name; params; kids: body */
    QN_N_CALL_BLOCK,   /* a: QN_N_CALL; params and kids: what caller() is */
    QN_N_FILTER_BLOCK, /* a: QN_N_FILTER without operand; kids: body */
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
    QN_OP_CONCAT,
    QN_OP_MUL,
    QN_OP_DIV,
    QN_OP_FLOOR_DIV,
    QN_OP_MOD,
    QN_OP_POW,
    QN_OPS
};

struct qn_tnodes {
    const struct qn_tnode **v;
    size_t n;
};

struct qn_tparams {
    struct qn_tparam {
        uint32_t symbol;
        struct qn_tval name;
        const struct qn_tnode *value; /* default, or NULL */
    } * v;
    size_t n;
    bool varargs, kwargs; /* the body asks for what no parameter takes */
};

struct qn_tnode {
    enum qn_tkind kind;
    enum qn_top op;
    bool flag;
    uint16_t height; /* 1 for a leaf */
    uint32_t at;     /* offset in the ready text */
    uint32_t symbol;
    const struct qn_tnode *a, *b, *c;
    struct qn_tnodes kids, other;
    const struct qn_tparams *params;
    struct qn_tval val;
};

#endif
