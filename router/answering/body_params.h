/* For body.c: writes the members of an answer's request other than the messages. */
#ifndef QN_ANSWERING_BODY_PARAMS_H
#define QN_ANSWERING_BODY_PARAMS_H

#include "answering/body.h"
#include "base/json.h"

/* Writes the parameters of the answer, the parameters of the chat that the answer does not
 * override, and the member "tools". QN_EINVAL, QN_EFORMAT. */
qn_err qn_answer_params_write(struct qn_jw *w, const struct qn_answer_ask *ask, struct qn_error *e);

#endif
