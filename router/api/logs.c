/* GET logs?after=SEQ&lines=N&model=NAME&level=LEVEL: the server's log, in pieces. */
#include "telemetry/logs.h"

#include "answers/answer.h"
#include "api/api.h"
#include "api/log_query.h"

enum { LINES_DEFAULT = 1000, ENTRY_MAX = 2 * (QN_LOGS_LINE_MAX + QN_LOGS_TAG_MAX) + 200 };

static const char *query_of(void *ctx, const char *name)
{
    return qn_http_query(ctx, name);
}

/* As many as surely fit; a reader goes on behind the last one it has got. */
static bool write_entry(void *ctx, const struct qn_logs_entry *entry)
{
    struct qn_jw *w = ctx;
    qn_logs_entry_write(w, entry);
    return w->out->len < QN_LOGS_REPLY_MAX - 2 * ENTRY_MAX;
}

void qn_api_logs(struct qn_services *sv, struct qn_http *h, const char *id)
{
    struct qn_log_wish wish = {.lines = LINES_DEFAULT};
    struct qn_log_query q;
    struct qn_error e = {0};
    struct qn_caller caller;
    (void)id;
    qn_auth_caller(sv->auth, h, &caller);
    if (qn_log_wish_read(query_of, h, &wish, &e) || qn_log_query_init(sv, &caller, &wish, &q, &e)) {
        qn_answer_error(h, &e);
        return;
    }
    struct qn_buf body;
    qn_buf_init(&body, QN_LOGS_REPLY_MAX);
    struct qn_jw w = qn_jw_to(&body);
    struct qn_logs_range kept = qn_logs_range(sv->logs);
    qn_jw_obj(&w);
    qn_jw_key(&w, "entries");
    qn_jw_arr(&w);
    qn_logs_read(sv->logs, &q.next, kept.last, &q.filter, write_entry, &w);
    qn_jw_arr_end(&w);
    qn_jw_ki64(&w, "first_seq", kept.first);
    qn_jw_ki64(&w, "last_seq", q.next - 1);
    qn_jw_kstr(&w, "log_id", qn_logs_id(sv->logs));
    qn_jw_obj_end(&w);
    qn_answer_json(h, 200, &body);
    qn_buf_deinit(&body);
    qn_log_query_deinit(&q);
}
