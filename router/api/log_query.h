/* Which lines of the log a reader asks for, however it says so. */
#ifndef QN_API_LOG_QUERY_H
#define QN_API_LOG_QUERY_H

#include "access/auth.h"
#include "api/topics.h"
#include "base/error.h"
#include "telemetry/logs.h"

/* As it was said; strings MAY be NULL. */
struct qn_log_wish {
    const char *model, *level, *log_id;
    int64_t after; /* the last number the reader has; 0: none */
    int64_t lines; /* newest ones of what there is; < 0: all */
};

struct qn_log_query {
    struct qn_logs_filter filter;
    char *names[2]; /* the filter's */
    int64_t next;   /* the number to begin with */
    int64_t lost;   /* lines between the reader's last one and the oldest that is kept */
};

/* A number of another run of the server means nothing here: then all that is kept comes.
 * Who is no admin gets the lines about its own requests alone: others tell of paths, names and
 * times that are not its business. caller is lent for the query's life.
 * QN_ENOTFOUND (param "model"): there is no such model; QN_EINVAL (param "level"). */
qn_err qn_log_query_init(const struct qn_watch_api *api, const struct qn_caller *caller,
                         const struct qn_log_wish *wish, struct qn_log_query *q,
                         struct qn_error *e);
void qn_log_query_deinit(struct qn_log_query *q);

/* Reads the members of a query: after_seq (or after), log_id, model, level, lines. get: the value
 * of one, NULL where it is absent. *wish has the defaults. QN_EINVAL names the member. */
qn_err qn_log_wish_read(const char *(*get)(void *ctx, const char *name), void *ctx,
                        struct qn_log_wish *wish, struct qn_error *e);

#endif
