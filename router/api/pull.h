/* Shared by the endpoints that download: how errors are reported. */
#ifndef QN_API_PULL_H
#define QN_API_PULL_H

#include "downloads/pull_request.h"
#include "downloads/pulls.h"
#include "io/http_server.h"

/* The message for a priority above the default, 0. */
#define QN_API_PRIORITY_FOR_ADMINS                                                                 \
    "a priority above 0 takes the turn of others' downloads, which needs an admin key"

/* What a client can do instead that has too many streams (http/watchers.h). */
#define QN_API_PULL_INSTEAD                                                                        \
    "POST /v1/pull with \"subscribe\": false downloads without a stream, and GET /v1/downloads "   \
    "shows the progress"

/* Whether the error is due to the setting offline. */
bool qn_api_pull_offline(const struct qn_puller *puller, const struct qn_error *e);

/* Returns a word for programs: "disk_full", "lemond_offline", or the error's own name. */
const char *qn_api_pull_code(const struct qn_puller *puller, const struct qn_error *e);

/* Returns an error as it may be shown to the client: without folders of this machine, unless the
 * client is an admin. */
struct qn_error qn_api_pull_shown(const struct qn_http *h, const struct qn_error *e);

/* Writes a job as it may be shown to the client: without folders of this machine, unless the client
 * is an admin. */
void qn_api_pull_job(const struct qn_http *h, const struct qn_pull_view *v, struct qn_jw *w);

/* Answers with the error; model MAY be NULL. */
void qn_api_pull_refuse(const struct qn_puller *puller, struct qn_http *h, const char *model,
                        const struct qn_error *e);

#endif
