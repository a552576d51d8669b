/* An OpenAI-style server's replies become events. What it sends is foreign: whatever breaks the
 * form or a limit ends the reply with an error. Pure but for the clock.
 *
 * One hearing per job. A job of inputs takes a request for each batch, and one that failed before
 * the first event may be asked again: each begins with qn_hearing_begin. */
#ifndef QN_BRIDGE_HEAR_H
#define QN_BRIDGE_HEAR_H

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "bridge/ask.h"
#include "contract/event.h"
#include "contract/job.h"
#include "formats/sse.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    QN_HEAR_STREAM_MAX = 256 * 1024 * 1024, /* bytes of one streamed reply */
    QN_HEAR_BODY_MAX = 512 * 1024 * 1024,   /* of one that is read whole */
    QN_HEAR_ERROR_MAX = 64 * 1024           /* of one that is not 200 */
};

typedef void (*qn_hear_send)(void *ctx, const struct qn_event *ev);

struct qn_hearing {
    const struct qn_job *job;
    qn_hear_send send;
    void *ctx;
    bool spoken;     /* an event has been sent: nothing can be taken back */
    size_t answered; /* EMBED, RERANK: inputs that have their result */
    /* of the present request */
    size_t first, inputs;
    enum { QN_HEAR_NOTHING, QN_HEAR_EVENTS, QN_HEAR_WHOLE, QN_HEAR_BYTES } form;
    struct qn_sse sse;
    struct qn_buf whole;
    size_t bytes;
    struct qn_error error; /* of a stream whose words make no sense, or that says so itself */
    struct {
        bool done;
        bool thinking;                     /* reasoning that stays in the text has begun */
        int64_t call;                      /* the call that is being said; < 0: none yet */
        int64_t upstream;                  /* its number there */
        char id[QN_EVENT_CALL_ID_MAX + 1]; /* that it has there; "": none */
    } choices[QN_JOB_CHOICES_MAX];
    int64_t begun_ms, first_ms, last_ms; /* first_ms 0: nothing has been said */
    int64_t pieces;                      /* of text that came */
    struct {
        int64_t prompt, cached, output, reasoning;
        double prompt_ms, output_ms; /* < 0: not told */
    } usage;
    double audio_s;
    char language[QN_JOB_LANGUAGE_MAX + 1];
};

void qn_hearing_init(struct qn_hearing *h, const struct qn_job *job, qn_hear_send send, void *ctx);
void qn_hearing_deinit(struct qn_hearing *h);

void qn_hearing_begin(struct qn_hearing *h, const struct qn_engine_call *ask);
/* Bytes of the reply. Anything but QN_OK: no more is wanted. */
qn_err qn_hearing_data(struct qn_hearing *h, int status, const char *content_type, const void *p,
                       size_t n);
/* True when every choice of a stream is complete: what may still come is its usage. */
bool qn_hearing_complete(const struct qn_hearing *h);
/* The reply is over. broken: the connection's error, NULL: it came whole; of an answer that is
 * complete that is the server's own affair. QN_OK: it was good. Else
 * why not, said by who (a host's name); *passing: another server, or the same a little later, might
 * answer. */
qn_err qn_hearing_end(struct qn_hearing *h, int status, const struct qn_error *broken,
                      const char *who, bool *passing, struct qn_error *e);
/* All requests of the job are over and were good: DONE where it has not been said, USAGE, END. */
void qn_hearing_finish(struct qn_hearing *h);

/* An error's body, or NULL where there is none, as one sentence. */
qn_err qn_hear_status(int status, const char *body, size_t n, const char *who, struct qn_error *e);

#endif
