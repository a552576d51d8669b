/* Registers a model that other machines compute: POST models/register with "recipe": "remote". */
#ifndef QN_API_REMOTE_H
#define QN_API_REMOTE_H

#include "api/topics.h"
#include "base/json.h"
#include "io/http_server.h"

bool qn_api_is_remote(const struct qn_jref *request);
void qn_api_remote(const struct qn_models_api *api, struct qn_http *h,
                   const struct qn_jref *request);

#endif
