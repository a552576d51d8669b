/* One rendering: its limits, memory, output and variables.
 *
 * Variables are bound dynamically, as in the reference interpreter: a macro sees the variables of
 * the place it is called from. So every name of the template has one current binding, and leaving a
 * scope puts back what the scope had covered. */
#ifndef QN_LLM_TEMPLATE_RUN_H
#define QN_LLM_TEMPLATE_RUN_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "llm/template_value.h"

struct qn_template;

enum {
    QN_TEMPLATE_FRAMES_MAX = 3000, /* evaluations within one another: bounds the C stack */
    QN_TEMPLATE_VALUE_DEPTH = 256  /* lists and dictionaries within one another, when printed */
};

struct qn_tbinding {
    struct qn_tval val; /* QN_T_ABSENT: not bound */
    uint32_t scope;     /* nesting number of the scope that owns it */
};

struct qn_tcovered {
    uint32_t symbol;
    struct qn_tbinding old;
};

struct qn_trun {
    const struct qn_template *t;
    struct qn_arena *arena;
    struct qn_error *e;
    qn_err code;       /* why it failed */
    struct qn_buf out; /* what was rendered, and on top of it the strings being built */
    int64_t wall_ms;
    uint32_t at;                  /* offset of the node being evaluated, for messages */
    uint64_t steps;               /* left */
    int frames, calls;            /* evaluations, macro calls within one another */
    struct qn_tbinding *bindings; /* one per symbol of the template */
    struct qn_tcovered *covered;
    size_t covered_n, covered_cap;
    uint32_t scope;
};

/* Records a message with line and column; returns QN_T_FAIL. The template itself is wrong. */
enum qn_tflow qn_trun_fail(struct qn_trun *run, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* The same for a limit. */
enum qn_tflow qn_trun_limit(struct qn_trun *run, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Counts n units of work: one node, one item ... */
enum qn_tflow qn_trun_charge(struct qn_trun *run, size_t n);
/* ... n bytes copied, compared or searched at once, n bytes looked at one character at a time. */
enum qn_tflow qn_trun_copied(struct qn_trun *run, size_t n);
enum qn_tflow qn_trun_walked(struct qn_trun *run, size_t n);

/* Zeroed memory that lives as long as the rendering. */
enum qn_tflow qn_trun_alloc(struct qn_trun *run, size_t n, void *out);

/* Appends to the output. */
enum qn_tflow qn_trun_put(struct qn_trun *run, const char *s, size_t n);
enum qn_tflow qn_trun_puts(struct qn_trun *run, const char *s);
enum qn_tflow qn_trun_fill(struct qn_trun *run, char c, double count);

/* A string is built on top of the output: remember run->out.len, put the pieces, take them off. */
enum qn_tflow qn_trun_take(struct qn_trun *run, size_t mark, struct qn_tval *out);
void qn_trun_cut(struct qn_trun *run, size_t mark);

/* Variables. A scope is left with the number that entering it gave. */
size_t qn_trun_enter(struct qn_trun *run);
void qn_trun_leave(struct qn_trun *run, size_t mark);
/* Puts the variables back as they were when covered_n was `home`, and afterwards forward again. In
 * between, scopes are entered and left as usual. */
size_t qn_trun_rewind(struct qn_trun *run, size_t home);
void qn_trun_replay(struct qn_trun *run, size_t home, size_t top);
enum qn_tflow qn_trun_bind(struct qn_trun *run, uint32_t symbol, const struct qn_tval *v);
struct qn_tval qn_trun_lookup(const struct qn_trun *run, uint32_t symbol);

#endif
