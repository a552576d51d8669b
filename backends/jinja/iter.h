/* Iteration over any value, and generators, which compute their items on demand. */
#ifndef QN_JINJA_ITER_H
#define QN_JINJA_ITER_H

#include "jinja/value.h"

/* An iteration over a value; stored on the stack or in a generator. */
struct qn_tcursor {
    struct qn_tval over;
    size_t at, size; /* size: number of the dictionary's members when the iteration began */
};

/* Begins an iteration; fails for values that cannot be iterated. */
enum qn_tflow qn_titer_begin(struct qn_trun *run, const struct qn_tval *v, struct qn_tcursor *c);
/* Yields the next item. At the end *more is false and *out is unchanged. Counts one unit of
 * work. */
enum qn_tflow qn_titer_next(struct qn_trun *run, struct qn_tcursor *c, struct qn_tval *out,
                            bool *more);
bool qn_tval_iterable(const struct qn_tval *v);

/* Collects all items in a new list. */
enum qn_tflow qn_titer_list(struct qn_trun *run, const struct qn_tval *v, struct qn_tlist **out);

/* A generator. `next` stores the next item and sets *more. It is not called again after it has set
 * *more to false. */
struct qn_titer {
    enum qn_tflow (*next)(struct qn_trun *run, struct qn_titer *it, struct qn_tval *out,
                          bool *more);
    const char *name; /* the name that repr() shows */
    struct qn_tval source;
    struct qn_tcursor cursor;
    void *state; /* private data of `next` */
    bool started, ended;
};

enum qn_tflow qn_titer_new(struct qn_trun *run, struct qn_titer **it, struct qn_tval *out);

/* reversed(): iterates over a list, tuple, string, dictionary, range or undefined value from the
 * end. */
enum qn_tflow qn_titer_reversed(struct qn_trun *run, const struct qn_tval *v, struct qn_tval *out);
bool qn_tval_reversible(const struct qn_tval *v);

#endif
