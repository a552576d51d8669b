/* For body.c: the members of an answer's request that are not messages. */
#ifndef QN_ANSWERING_BODY_PARAMS_H
#define QN_ANSWERING_BODY_PARAMS_H

#include "answering/body.h"
#include "base/json.h"

/* Writes the parameters of the answer, then the chat's where the answer has none, and the tools.
 * QN_EINVAL, QN_EFORMAT. */
qn_err qn_answer_params_write(struct qn_jw *w, const struct qn_answer_ask *ask, struct qn_error *e);

#endif
