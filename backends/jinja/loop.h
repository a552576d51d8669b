/* Loops: `loop` as a value. */
#ifndef QN_JINJA_LOOP_H
#define QN_JINJA_LOOP_H

#include "jinja/iter.h"
#include "jinja/value.h"

struct qn_tloop {
    const struct qn_tnode *node;
    struct qn_tframe *outer; /* of a recursive loop: where it was defined */
    struct qn_tcursor cursor;
    int64_t index0, depth0;
    bool has_length;
    size_t length;
    struct qn_tval after, current, before; /* QN_T_MISSING: not known */
    struct qn_tval changed;                /* what changed() saw last */
};

/* The next item; the loop's index goes on. */
enum qn_tflow qn_tloop_next(struct qn_trun *run, struct qn_tloop *loop, struct qn_tval *out,
                            bool *more);
/* `loop` itself iterated over: pairs of item and loop. */
enum qn_tflow qn_tloop_next_pair(struct qn_trun *run, struct qn_tloop *loop, struct qn_tval *out,
                                 bool *more);
enum qn_tflow qn_tloop_length(struct qn_trun *run, struct qn_tloop *loop, size_t *out);
enum qn_tflow qn_tloop_member(struct qn_trun *run, struct qn_tloop *loop,
                              const struct qn_tval *name, struct qn_tval *out);
/* loop(items): goes one level deeper. */
enum qn_tflow qn_tloop_call(struct qn_trun *run, struct qn_tloop *loop, const struct qn_targs *args,
                            struct qn_tval *out);
enum qn_tflow qn_tloop_put(struct qn_trun *run, struct qn_tloop *loop); /* repr() */

#endif
