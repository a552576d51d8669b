/* Shared by ask.c and ask_media.c. Each function fills *out for one task. */
#ifndef QN_BRIDGE_ASK_PRIVATE_H
#define QN_BRIDGE_ASK_PRIVATE_H

#include "bridge/ask.h"

qn_err qn_ask_transcribe(const struct qn_job *job, const struct qn_ask_to *to,
                         struct qn_engine_call *out, struct qn_error *e);
qn_err qn_ask_speak(const struct qn_job *job, const struct qn_ask_to *to,
                    struct qn_engine_call *out, struct qn_error *e);
qn_err qn_ask_image(const struct qn_job *job, const struct qn_ask_to *to,
                    struct qn_engine_call *out, struct qn_error *e);

#endif
