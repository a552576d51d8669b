/* Shared by hear.c, hear_chunk.c (streamed text) and hear_whole.c (replies that are parsed as a
 * whole). */
#ifndef QN_BRIDGE_HEAR_PRIVATE_H
#define QN_BRIDGE_HEAR_PRIVATE_H

#include "bridge/hear.h"

void qn_hear_say(struct qn_hearing *h, const struct qn_event *ev);
int64_t qn_hear_choices(const struct qn_hearing *h); /* number of choices that the job asks for */
void qn_hear_usage(struct qn_hearing *h, const struct qn_jref *root);

/* Parses one chunk of a streamed chat or completion or, if `whole`, a complete reply that was not
 * streamed. Errors are stored in e. */
qn_err qn_hear_chunk(struct qn_hearing *h, const struct qn_jref *root, bool whole,
                     struct qn_error *e);
/* Parses a reply for any other task. */
qn_err qn_hear_whole(struct qn_hearing *h, const struct qn_jref *root, struct qn_error *e);

/* Converts logprobs of OpenAI's two forms to the contract's array; NULL: none. The result is
 * borrowed from out. */
const char *qn_hear_logprobs(const struct qn_jref *choice, struct qn_buf *out);

#endif
