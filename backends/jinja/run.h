/* The state of one rendering: limits, memory, output, and the reading of call arguments. */
#ifndef QN_JINJA_RUN_H
#define QN_JINJA_RUN_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "jinja/value.h"

struct qn_template;

enum {
    QN_TEMPLATE_FRAMES_MAX = 3000, /* nested evaluations; bounds the use of the C stack */
    QN_TEMPLATE_VALUE_DEPTH = 256  /* nesting depth of lists and dictionaries */
};

/* The variables of one call of a macro, recursive loop or loop filter; the template itself has one
 * frame. */
struct qn_tframe {
    struct qn_tval *slots;
    struct qn_tframe *outer; /* frame in which the function was defined */
};

struct qn_trun {
    const struct qn_template *t;
    struct qn_arena *arena;
    struct qn_error *e;
    qn_err code;       /* error code of the failure */
    struct qn_buf out; /* the rendered text, followed by strings that are being built */
    int64_t wall_ms;
    uint32_t at;       /* line of the statement being executed, for messages */
    uint64_t steps;    /* remaining units of work */
    int frames, calls; /* current nesting of evaluations and of macro calls */
    int depth;         /* nesting depth of the value that is being compared, hashed or printed */
    bool autoescape;   /* inside {% autoescape true %}; filters read it */
    struct qn_tval *context; /* [symbols] one per symbol: the values given to the template, and
                                those set at the template's top level */
    struct qn_tframe *frame;
};

/* Records an error of the template itself, with the line; returns QN_T_FAIL. */
enum qn_tflow qn_trun_fail(struct qn_trun *run, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* The same for a limit that was exceeded. */
enum qn_tflow qn_trun_limit(struct qn_trun *run, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Fails with the message for the use of an undefined value. */
enum qn_tflow qn_trun_undefined(struct qn_trun *run, const struct qn_tval *v);

/* Charges n units of work, such as nodes or items. */
enum qn_tflow qn_trun_charge(struct qn_trun *run, size_t n);
/* Charges for n bytes that are copied, compared or searched in one operation (copied), or that are
 * processed one character at a time (walked). */
enum qn_tflow qn_trun_copied(struct qn_trun *run, size_t n);
enum qn_tflow qn_trun_walked(struct qn_trun *run, size_t n);

/* Zeroed memory that is freed at the end of the rendering. */
enum qn_tflow qn_trun_alloc(struct qn_trun *run, size_t n, void *out);

/* Appends to the output. */
enum qn_tflow qn_trun_put(struct qn_trun *run, const char *s, size_t n);
enum qn_tflow qn_trun_puts(struct qn_trun *run, const char *s);
enum qn_tflow qn_trun_putv(struct qn_trun *run, const struct qn_tval *string);
enum qn_tflow qn_trun_fill(struct qn_trun *run, const char *s, size_t n, size_t count);

/* Strings are built at the end of the output: note run->out.len as the mark, append the pieces,
 * then move them from the output to a string with qn_trun_take. */
enum qn_tflow qn_trun_take(struct qn_trun *run, size_t mark, struct qn_tval *out);
enum qn_tflow qn_trun_copy(struct qn_trun *run, const char *s, size_t n, struct qn_tval *out);
enum qn_tflow qn_trun_fmt(struct qn_trun *run, struct qn_tval *out, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Assigns arguments to parameters by Python's rules. names is a list such as "width first blank";
 * out has one element per name, which is QN_T_MISSING when the argument is omitted. The first
 * `required` parameters must be given; names that begin with a slash are positional only. */
enum qn_tflow qn_trun_args(struct qn_trun *run, const struct qn_targs *args, const char *names,
                           size_t required, struct qn_tval *out);

#endif
