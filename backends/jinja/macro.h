/* Macros, and the bodies of call blocks, which templates use as values. */
#ifndef QN_JINJA_MACRO_H
#define QN_JINJA_MACRO_H

#include "jinja/value.h"

struct qn_tmacro {
    const struct qn_tnode *node; /* QN_N_MACRO or QN_N_CALL_BLOCK */
    struct qn_tframe *outer;     /* the frame in which it was defined */
};

enum qn_tflow qn_tmacro_call(struct qn_trun *run, const struct qn_tmacro *macro,
                             const struct qn_targs *args, struct qn_tval *out);
enum qn_tflow qn_tmacro_put(struct qn_trun *run, const struct qn_tmacro *macro); /* repr() */
/* *out remains QN_T_MISSING when there is no such attribute. */
enum qn_tflow qn_tmacro_member(struct qn_trun *run, const struct qn_tmacro *macro,
                               const struct qn_tval *name, struct qn_tval *out);

#endif
