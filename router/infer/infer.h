/* A request that needs a model, whoever's words it is in: parse, wait for the model's child, send
 * the jobs, pump their events to the dialect. Knows no dialect by name. Loop thread only. */
#ifndef QN_INFER_INFER_H
#define QN_INFER_INFER_H

#include "dialects/dialect.h"
#include "downloads/pull_request.h"
#include "http/serving.h"
#include "io/http_server.h"
#include "telemetry/telemetry.h"

/* A streaming client hears something at least so often; its head is held back as long for a model
 * that fails to load, so that the failure has its true status. */
enum { QN_INFER_BEAT_MS = 900 };

/* A stream whose client takes less than so much in so long holds a slot for nothing once its
 * buffers are full: it is ended if others wait for the model then. */
enum { QN_INFER_UNREAD_MS = 5000, QN_INFER_UNREAD_BYTES = 32 * 1024 };

/* What requests are answered with; outlives the loop. */
struct qn_inference {
    const struct qn_serving *serving;
    const struct qn_models *models;
    const struct qn_puller *puller;
    const struct qn_telemetry *telemetry;
    const struct qn_owner_key *owner_key; /* see access/owner_salt.h */
    int64_t request_timeout_ms;           /* that an answer may take; 0: any */
};

/* Takes the request over and answers it, now or later. */
void qn_infer(const struct qn_inference *with, struct qn_http *h, const struct qn_dialect *dialect);

/* The same for a model that the caller has chosen, whatever the request names; model NULL: as it
 * names. path: of the route, whose form errors have. Both are lent for the request. */
void qn_infer_as(const struct qn_inference *with, struct qn_http *h,
                 const struct qn_dialect *dialect, const char *model, const char *path);

#endif
