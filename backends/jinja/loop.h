/* Loops, and the value of the variable `loop`. */
#ifndef QN_JINJA_LOOP_H
#define QN_JINJA_LOOP_H

#include "jinja/iter.h"
#include "jinja/value.h"

struct qn_tloop {
    const struct qn_tnode *node;
    struct qn_tframe *outer; /* for a recursive loop: the frame in which it was defined */
    struct qn_tcursor cursor;
    int64_t index0, depth0;
    bool has_length;
    size_t length;
    struct qn_tval after, current, before; /* QN_T_MISSING: not known */
    struct qn_tval changed;                /* the value of the last changed() call */
};

/* Returns the next item and advances the loop's index. */
enum qn_tflow qn_tloop_next(struct qn_trun *run, struct qn_tloop *loop, struct qn_tval *out,
                            bool *more);
/* Iteration over `loop` itself: yields pairs of item and loop. */
enum qn_tflow qn_tloop_next_pair(struct qn_trun *run, struct qn_tloop *loop, struct qn_tval *out,
                                 bool *more);
enum qn_tflow qn_tloop_length(struct qn_trun *run, struct qn_tloop *loop, size_t *out);
enum qn_tflow qn_tloop_member(struct qn_trun *run, struct qn_tloop *loop,
                              const struct qn_tval *name, struct qn_tval *out);
/* loop(items): runs the loop one level deeper. */
enum qn_tflow qn_tloop_call(struct qn_trun *run, struct qn_tloop *loop, const struct qn_targs *args,
                            struct qn_tval *out);
enum qn_tflow qn_tloop_put(struct qn_trun *run, struct qn_tloop *loop); /* repr() */

#endif
