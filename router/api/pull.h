/* What the endpoints that download have in common: how their errors are said. */
#ifndef QN_API_PULL_H
#define QN_API_PULL_H

#include "downloads/pull_request.h"
#include "downloads/pulls.h"
#include "io/http_server.h"

/* The refusal of a priority above the default, 0. */
#define QN_API_PRIORITY_FOR_ADMINS                                                                 \
    "a priority above 0 takes the turn of others' downloads, which needs an admin key"

/* An error because nothing may be asked for now. */
bool qn_api_pull_offline(const struct qn_puller *puller, const struct qn_error *e);

/* A word for programs: "disk_full", "lemond_offline", or the error's own name. */
const char *qn_api_pull_code(const struct qn_puller *puller, const struct qn_error *e);

/* An error as the client may read it: without folders of this machine, unless it is an admin. */
struct qn_error qn_api_pull_shown(const struct qn_http *h, const struct qn_error *e);

/* Writes a job the same way. */
void qn_api_pull_job(const struct qn_http *h, const struct qn_pull_view *v, struct qn_jw *w);

/* Answers with it; model MAY be NULL. */
void qn_api_pull_refuse(const struct qn_puller *puller, struct qn_http *h, const char *model,
                        const struct qn_error *e);

#endif
