/* A query for lines of the log, the same for all requests that read the log: which lines the reader
 * asks for and may see. */
#ifndef QN_API_LOG_QUERY_H
#define QN_API_LOG_QUERY_H

#include "access/auth.h"
#include "api/topics.h"
#include "base/error.h"
#include "telemetry/logs.h"

/* The reader's parameters, unchecked; strings MAY be NULL. */
struct qn_log_wish {
    const char *model, *level, *log_id;
    int64_t after; /* the last number that the reader has; 0: none */
    int64_t lines; /* number of newest lines; < 0: all */
};

struct qn_log_query {
    struct qn_logs_filter filter;
    char *names[2]; /* names of the filter */
    int64_t next;   /* the number to begin with */
    int64_t lost;   /* lines between the reader's last one and the oldest in the ring */
};

/* Prepares a query. If wish->after comes from an earlier run of the server, it is ignored, and all
 * lines in the ring are sent. A client without admin rights gets only the lines about its own
 * requests, as others contain paths, names and times. caller is borrowed for the query's life.
 * QN_ENOTFOUND (param "model"): no such model; QN_EINVAL (param "level"). */
qn_err qn_log_query_init(const struct qn_watch_api *api, const struct qn_caller *caller,
                         const struct qn_log_wish *wish, struct qn_log_query *q,
                         struct qn_error *e);
void qn_log_query_deinit(struct qn_log_query *q);

/* Reads the members of a query: after_seq (or after), log_id, model, level, lines. `get` returns
 * the value of a member, or NULL if it is absent. Before the call *wish has the defaults of `after`
 * and `lines`; absent texts become NULL. QN_EINVAL, with the member in the message. */
qn_err qn_log_wish_read(const char *(*get)(void *ctx, const char *name), void *ctx,
                        struct qn_log_wish *wish, struct qn_error *e);

#endif
