/* A request that needs a model, whoever's words it is in: parse, wait for the model's child, send
 * the jobs, pump their events to the dialect. Knows no dialect by name. Loop thread only. */
#ifndef QN_INFER_INFER_H
#define QN_INFER_INFER_H

#include "dialects/dialect.h"
#include "io/http_server.h"
#include "services/services.h"

/* A streaming client hears something at least so often; its head is held back as long for a model
 * that fails to load, so that the failure has its true status. */
enum { QN_INFER_BEAT_MS = 900 };

/* A stream whose client takes less than so much in so long holds a slot for nothing once its
 * buffers are full: it is ended if others wait for the model then. */
enum { QN_INFER_UNREAD_MS = 5000, QN_INFER_UNREAD_BYTES = 32 * 1024 };

/* Takes the request over and answers it, now or later. */
void qn_infer(struct qn_services *sv, struct qn_http *h, const struct qn_dialect *dialect);

/* The same for a model that the caller has chosen, whatever the request names; model NULL: as it
 * names. path: of the route, whose form errors have. Both are lent for the request. */
void qn_infer_as(struct qn_services *sv, struct qn_http *h, const struct qn_dialect *dialect,
                 const char *model, const char *path);

#endif
