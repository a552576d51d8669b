/* What hear.c shares with hear_chunk.c (streams of texts) and hear_whole.c (replies in one piece).
 */
#ifndef QN_BRIDGE_HEAR_PRIVATE_H
#define QN_BRIDGE_HEAR_PRIVATE_H

#include "bridge/hear.h"

void qn_hear_say(struct qn_hearing *h, const struct qn_event *ev);
int64_t qn_hear_choices(const struct qn_hearing *h); /* how many answers the job wants */
void qn_hear_usage(struct qn_hearing *h, const struct qn_jref *root);

/* One chunk of a streamed chat or completion, or the whole of one. Errors: e. */
qn_err qn_hear_chunk(struct qn_hearing *h, const struct qn_jref *root, bool whole,
                     struct qn_error *e);
/* A reply of any other task. */
qn_err qn_hear_whole(struct qn_hearing *h, const struct qn_jref *root, struct qn_error *e);

/* logprobs of OpenAI's two forms as the contract's array; NULL: none. Lent by out. */
const char *qn_hear_logprobs(const struct qn_jref *choice, struct qn_buf *out);

#endif
