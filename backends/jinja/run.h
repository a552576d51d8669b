/* One rendering: its limits, memory, output and the arguments of its calls. */
#ifndef QN_JINJA_RUN_H
#define QN_JINJA_RUN_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "jinja/value.h"

struct qn_template;

enum {
    QN_TEMPLATE_FRAMES_MAX = 3000, /* evaluations within one another: bounds the C stack */
    QN_TEMPLATE_VALUE_DEPTH = 256  /* lists and dictionaries within one another */
};

/* The variables of one call of a macro, recursive loop or loop filter; the template itself has one.
 */
struct qn_tframe {
    struct qn_tval *slots;
    struct qn_tframe *outer; /* where the function was defined */
};

struct qn_trun {
    const struct qn_template *t;
    struct qn_arena *arena;
    struct qn_error *e;
    qn_err code;       /* why it failed */
    struct qn_buf out; /* what was rendered, and on top of it the strings being built */
    int64_t wall_ms;
    uint32_t at;       /* line of the statement being executed, for messages */
    uint64_t steps;    /* left */
    int frames, calls; /* evaluations, macro calls within one another */
    int depth;         /* of the value being compared, hashed or printed */
    bool autoescape;   /* inside {% autoescape true %}, as filters see it */
    struct qn_tval
        *context; /* one per symbol: what the template was given, and what it sets on top */
    struct qn_tframe *frame;
};

/* Records a message with the line; returns QN_T_FAIL. The template itself is wrong. */
enum qn_tflow qn_trun_fail(struct qn_trun *run, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* The same for a limit. */
enum qn_tflow qn_trun_limit(struct qn_trun *run, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* The failure that using an undefined value is. */
enum qn_tflow qn_trun_undefined(struct qn_trun *run, const struct qn_tval *v);

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
enum qn_tflow qn_trun_putv(struct qn_trun *run, const struct qn_tval *string);
enum qn_tflow qn_trun_fill(struct qn_trun *run, const char *s, size_t n, size_t count);

/* A string is built on top of the output: remember run->out.len, put the pieces, take them off. */
enum qn_tflow qn_trun_take(struct qn_trun *run, size_t mark, struct qn_tval *out);
enum qn_tflow qn_trun_copy(struct qn_trun *run, const char *s, size_t n, struct qn_tval *out);
enum qn_tflow qn_trun_fmt(struct qn_trun *run, struct qn_tval *out, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts arguments where Python would: names is a list like "width first blank", out has one place
 * for each, QN_T_MISSING where nothing was given. The first `required` must be given; names that
 * begin with a slash cannot be given by name. */
enum qn_tflow qn_trun_args(struct qn_trun *run, const struct qn_targs *args, const char *names,
                           size_t required, struct qn_tval *out);

#endif
