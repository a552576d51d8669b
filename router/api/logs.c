/* GET logs?after=SEQ&lines=N: the server's log, in pieces. */
#include "router/logs.h"

#include "base/str.h"
#include "router/answer.h"
#include "router/api/api.h"

/* A number of the query; *out stays as it is when there is none. */
static qn_err query_i64(struct qn_http *h, const char *name, int64_t min, int64_t max, int64_t *out,
                        struct qn_error *e)
{
    const char *text = qn_http_query(h, name);
    int64_t v;
    if (!text)
        return QN_OK;
    if (!qn_parse_i64(text, &v) || v < min || v > max)
        return qn_fail_param(e, QN_EINVAL, name, "%s: expected a whole number from %lld to %lld",
                             name, (long long)min, (long long)max);
    *out = v;
    return QN_OK;
}

void qn_api_logs(struct qn_services *sv, struct qn_http *h, const char *id)
{
    int64_t after = 0, lines = 1000;
    struct qn_error e = {0};
    (void)id;
    if (query_i64(h, "after", 0, INT64_MAX - 1, &after, &e) ||
        query_i64(h, "lines", 0, INT32_MAX, &lines, &e)) {
        qn_answer_error(h, &e);
        return;
    }
    struct qn_buf body;
    qn_buf_init(&body, QN_LOGS_REPLY_MAX);
    struct qn_jw w = qn_jw_to(&body);
    qn_logs_write(sv->logs, after, (size_t)lines, &w);
    qn_answer_json(h, 200, &body);
    qn_buf_deinit(&body);
}
