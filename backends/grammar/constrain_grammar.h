/* A constraint's grammar while it is compiled: rules whose bodies are expressions over characters,
 * finished automata and other rules. gbnf.c and json_schema.c write it; constrain_fold.c turns its
 * regular parts into automata; constrain_program.c turns the rest into instructions for the
 * machine. */
#ifndef QN_GRAMMAR_CONSTRAIN_GRAMMAR_H
#define QN_GRAMMAR_CONSTRAIN_GRAMMAR_H

#include "base/arena.h"
#include "grammar/constrain_dfa.h"

#define QN_REPEAT_EVER UINT32_MAX

enum {
    QN_GRAMMAR_ARENA_MAX = 256 << 20, /* bytes of the arena for expressions */
    QN_GRAMMAR_NFA_MAX = 1 << 18,     /* states of one regular expression before it is made
                                         deterministic */
    QN_CODEPOINT_MAX = 0x10ffff
};

enum qn_gx_kind {
    QN_GX_EMPTY,  /* the empty text */
    QN_GX_NEVER,  /* nothing, not even the empty text */
    QN_GX_BYTES,  /* exactly these bytes */
    QN_GX_SET,    /* one character of a set */
    QN_GX_SEQ,    /* all elements of the list, in order */
    QN_GX_ALT,    /* one element of the list */
    QN_GX_REPEAT, /* the body, min to max times */
    QN_GX_BEGIN,  /* ^ of a regular expression */
    QN_GX_END,    /* $ of a regular expression */
    QN_GX_RULE,   /* the text that the rule allows */
    QN_GX_DFA     /* the text that the automaton accepts */
};

struct qn_range {
    uint32_t first, last; /* code points */
};

struct qn_gx {
    enum qn_gx_kind kind;
    union {
        struct {
            const char *s;
            size_t n;
        } bytes;
        struct {
            const struct qn_range *v; /* ascending and disjoint */
            size_t n;
        } set;
        struct {
            const struct qn_gx **v;
            size_t n;
        } list;
        struct {
            const struct qn_gx *body;
            uint32_t min, max;
        } repeat;
        uint32_t rule;
        uint32_t dfa;
    };
};

struct qn_grammar_rule {
    const char *name;         /* for error messages */
    const struct qn_gx *body; /* NULL: the rule is referred to but not defined */
};

struct qn_grammar {
    struct qn_arena *arena;
    struct qn_grammar_rule *rules; /* rule 0 is the start */
    uint32_t n_rules, cap_rules;
    struct qn_dfa *dfas;
    uint32_t n_dfas, cap_dfas;
    uint64_t states;                     /* states of all dfas together */
    struct qn_constraint_budget *budget; /* borrowed */
    bool full;                           /* a limit was met: everything made since then is
                                            incomplete */
};

/* All work on the grammar is charged to `budget`, which is borrowed. */
void qn_grammar_init(struct qn_grammar *g, struct qn_constraint_budget *budget);
void qn_grammar_deinit(struct qn_grammar *g);

/* Adds a rule without a body and returns its number. If there would be more than
 * QN_CONSTRAIN_RULES_MAX rules, sets g->full and returns 0. */
uint32_t qn_grammar_rule(struct qn_grammar *g, const char *name);
/* Adds an automaton, which the grammar owns from then on, and returns its number. If all automata
 * together would have more than QN_CONSTRAIN_STATES_MAX states, sets g->full. */
uint32_t qn_grammar_dfa(struct qn_grammar *g, struct qn_dfa *d);
/* QN_ELIMIT when a limit was met or the budget is used up. */
qn_err qn_grammar_check(const struct qn_grammar *g, struct qn_error *e);

/* Expressions are allocated in the arena; lists and texts are copied. */
const struct qn_gx *qn_gx_empty(struct qn_grammar *g);
const struct qn_gx *qn_gx_never(struct qn_grammar *g);
const struct qn_gx *qn_gx_bytes(struct qn_grammar *g, const char *s, size_t n);
const struct qn_gx *qn_gx_text(struct qn_grammar *g, const char *s);
/* The ranges may overlap and be in any order. */
const struct qn_gx *qn_gx_set(struct qn_grammar *g, const struct qn_range *v, size_t n);
const struct qn_gx *qn_gx_set_not(struct qn_grammar *g, const struct qn_range *v, size_t n);
const struct qn_gx *qn_gx_seq(struct qn_grammar *g, const struct qn_gx *const *v, size_t n);
const struct qn_gx *qn_gx_alt(struct qn_grammar *g, const struct qn_gx *const *v, size_t n);
const struct qn_gx *qn_gx_repeat(struct qn_grammar *g, const struct qn_gx *body, uint32_t min,
                                 uint32_t max);
const struct qn_gx *qn_gx_anchor(struct qn_grammar *g, enum qn_gx_kind kind);
const struct qn_gx *qn_gx_rule(struct qn_grammar *g, uint32_t rule);
const struct qn_gx *qn_gx_dfa(struct qn_grammar *g, uint32_t dfa);

/* A growable list of expressions. */
struct qn_gx_list {
    const struct qn_gx **v;
    size_t n, cap;
};
void qn_gx_push(struct qn_gx_list *l, const struct qn_gx *x);
void qn_gx_list_deinit(struct qn_gx_list *l);

/* How characters are encoded in the text. */
enum qn_gx_encoding {
    QN_GX_UTF8,
    QN_GX_JSON /* within a JSON string; each character has one form and is escaped only where JSON
                  requires it */
};
/* constrain_nfa.c: compiles an expression without rules and automata into an automaton, which never
 * accepts byte 0 or surrogates. QN_ELIMIT. */
qn_err qn_gx_compile(const struct qn_gx *x, enum qn_gx_encoding encoding,
                     struct qn_constraint_budget *budget, struct qn_dfa *out, struct qn_error *e);

/* Makes the automaton of all texts in which `marker` does not occur. QN_ELIMIT. */
qn_err qn_dfa_without(struct qn_grammar *g, const char *marker, struct qn_dfa *out,
                      struct qn_error *e);

/* constrain_fold.c: turns every regular part of every rule into an automaton and drops parts that
 * can allow no text. QN_EINVAL when the start rule allows no text or a rule is not defined. */
qn_err qn_grammar_fold(struct qn_grammar *g, struct qn_error *e);

#endif
