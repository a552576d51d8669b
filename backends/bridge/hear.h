/* Converts the replies of an OpenAI-style server to events. The server is not trusted: a reply that
 * is malformed or exceeds a limit ends with an error. Pure except for reading the clock.
 *
 * One hearing per job. A job with inputs needs one request per batch, and a request that failed
 * before the first event may be repeated; each request begins with qn_hearing_begin. */
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
    QN_HEAR_BODY_MAX = 512 * 1024 * 1024,   /* bytes of one reply that is parsed as a whole */
    QN_HEAR_ERROR_MAX = 64 * 1024           /* bytes of one reply whose status is not 200 */
};

typedef void (*qn_hear_send)(void *ctx, const struct qn_event *ev);

struct qn_hearing {
    const struct qn_job *job;
    qn_hear_send send;
    void *ctx;
    bool spoken;     /* an event has been sent, so the request cannot be repeated */
    size_t answered; /* EMBED, RERANK: number of inputs whose result has been sent */
    /* State of the current request. */
    size_t first, inputs;
    enum { QN_HEAR_NOTHING, QN_HEAR_EVENTS, QN_HEAR_WHOLE, QN_HEAR_BYTES } form;
    struct qn_sse sse;
    struct qn_buf whole;
    size_t bytes;
    struct qn_error error; /* set when a stream is malformed or contains an error event */
    struct {
        bool done;
        bool thinking;                     /* reasoning that is sent as part of the text has
                                              begun */
        int64_t call;                      /* index of the current tool call; < 0: none */
        int64_t upstream;                  /* its index on the server */
        char id[QN_EVENT_CALL_ID_MAX + 1]; /* its id on the server; "": none */
    } choices[QN_JOB_CHOICES_MAX];
    int64_t begun_ms, first_ms, last_ms; /* first_ms 0: no event has been sent */
    int64_t pieces;                      /* number of text pieces received */
    struct {
        int64_t prompt, cached, output, reasoning;
        double prompt_ms, output_ms; /* < 0: not reported */
    } usage;
    double audio_s;
    char language[QN_JOB_LANGUAGE_MAX + 1];
};

void qn_hearing_init(struct qn_hearing *h, const struct qn_job *job, qn_hear_send send, void *ctx);
void qn_hearing_deinit(struct qn_hearing *h);

void qn_hearing_begin(struct qn_hearing *h, const struct qn_engine_call *ask);
/* Receives bytes of the reply. Any result other than QN_OK: the rest of the reply is not needed. */
qn_err qn_hearing_data(struct qn_hearing *h, int status, const char *content_type, const void *p,
                       size_t n);
/* True when every choice of a stream is complete; only the usage may follow. */
bool qn_hearing_complete(const struct qn_hearing *h);
/* Ends the reply. broken: the connection's error, or NULL if the reply is complete; an error is
 * ignored if all choices of a stream were complete. Returns QN_OK for a valid reply, else the
 * reason, prefixed by `who` (the host's name). *passing: another server, or the same one a little
 * later, might succeed. */
qn_err qn_hearing_end(struct qn_hearing *h, int status, const struct qn_error *broken,
                      const char *who, bool *passing, struct qn_error *e);
/* Called when all requests of the job have succeeded: sends DONE if it has not been sent, then
 * USAGE and END. */
void qn_hearing_finish(struct qn_hearing *h);

/* Converts an error reply (body NULL: none) to an error whose message is one sentence. */
qn_err qn_hear_status(int status, const char *body, size_t n, const char *who, struct qn_error *e);

#endif
