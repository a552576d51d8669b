/* Iteration over any value, and generators: values whose items are computed when they are asked
 * for. */
#ifndef QN_JINJA_ITER_H
#define QN_JINJA_ITER_H

#include "jinja/value.h"

/* A walk over a value; lives on the stack or in a generator. */
struct qn_tcursor {
    struct qn_tval over;
    size_t at, size; /* size: members of a dictionary when the walk began */
};

/* Fails for what cannot be iterated over. */
enum qn_tflow qn_titer_begin(struct qn_trun *run, const struct qn_tval *v, struct qn_tcursor *c);
/* *more is false at the end; *out is untouched then. Counts one unit of work. */
enum qn_tflow qn_titer_next(struct qn_trun *run, struct qn_tcursor *c, struct qn_tval *out,
                            bool *more);
bool qn_tval_iterable(const struct qn_tval *v);

/* All items as a new list. */
enum qn_tflow qn_titer_list(struct qn_trun *run, const struct qn_tval *v, struct qn_tlist **out);

/* A generator. next puts the next item and sets *more; it is called until it says false, once more
 * never. */
struct qn_titer {
    enum qn_tflow (*next)(struct qn_trun *run, struct qn_titer *it, struct qn_tval *out,
                          bool *more);
    const char *name; /* what it is called when it is shown */
    struct qn_tval source;
    struct qn_tcursor cursor;
    void *state; /* next's own */
    bool started, ended;
};

enum qn_tflow qn_titer_new(struct qn_trun *run, struct qn_titer **it, struct qn_tval *out);

/* reversed(): a list, tuple, string, dictionary, range or undefined value from its end. */
enum qn_tflow qn_titer_reversed(struct qn_trun *run, const struct qn_tval *v, struct qn_tval *out);
bool qn_tval_reversible(const struct qn_tval *v);

#endif
