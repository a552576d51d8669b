/* Handles an HTTP request that needs a model, in any dialect: parse it, wait for the model's child,
 * send the jobs, pass their events to the dialect. Independent of particular dialects. Loop thread
 * only. Requests of other origin are started with client.h. */
#ifndef QN_INFER_INFER_H
#define QN_INFER_INFER_H

#include "dialects/dialect.h"
#include "downloads/pull_request.h"
#include "http/serving.h"
#include "io/http_server.h"
#include "telemetry/telemetry.h"

/* A streaming client gets data at least this often; the response's head is held back as long, so
 * that a model that fails to load gives the proper status. */
enum { QN_INFER_BEAT_MS = 900 };

/* A stream whose client reads less than this in this time occupies a slot without progress once its
 * buffers are full: it is ended then if other requests wait for the model. */
enum { QN_INFER_UNREAD_MS = 5000, QN_INFER_UNREAD_BYTES = 32 * 1024 };

/* The environment of requests; outlives the loop. */
struct qn_inference {
    const struct qn_serving *serving;
    const struct qn_models *models;
    const struct qn_puller *puller;
    const struct qn_telemetry *telemetry;
    const struct qn_owner_key *owner_key; /* see access/owner_salt.h */
    int64_t request_timeout_ms;           /* limit of a request's duration; 0: none */
};

/* Takes the request over and responds to it, now or later. */
void qn_infer(const struct qn_inference *with, struct qn_http *h, const struct qn_dialect *dialect);

/* The same for a model that the caller has chosen, whatever the request names; model NULL: the
 * named one. path: of the route, which determines the form of errors. Both are lent for the life of
 * the request. */
void qn_infer_as(const struct qn_inference *with, struct qn_http *h,
                 const struct qn_dialect *dialect, const char *model, const char *path);

#endif
