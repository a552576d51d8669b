/* GET logs?after=SEQ&lines=N&model=NAME&level=LEVEL: lines of the server's log. */
#include "telemetry/logs.h"

#include "answers/answer.h"
#include "api/api.h"
#include "api/log_query.h"
#include "api/waiting.h"
#include "base/buf.h"

#include <stdlib.h>

enum {
    LINES_DEFAULT = 1000,
    ENTRY_MAX = 2 * (QN_LOGS_LINE_MAX + QN_LOGS_TAG_MAX) + 200,
    PIECE_BYTES = 64 * 1024
};

static const char *query_of(void *ctx, const char *name)
{
    return qn_http_query(ctx, name);
}

/* One request. The first piece is read on the loop, because most readers ask for new lines only.
 * Further pieces are read by a worker, one by one, because the log is locked while one is read. */
struct asked {
    struct qn_waiting client;
    const struct qn_watch_api *api;
    struct qn_caller caller; /* borrowed by the query */
    struct qn_log_query query;
    struct qn_logs_range kept;
    struct qn_buf body;
    struct qn_jw w;
    size_t piece_end; /* end of the piece in the body */
};

static bool write_entry(void *ctx, const struct qn_logs_entry *entry)
{
    struct asked *a = ctx;
    qn_logs_entry_write(&a->w, entry);
    return a->body.len < a->piece_end;
}

/* Reads one piece; any thread. False: all lines have been read, or as many as surely fit; a reader
 * continues after the last line that it got. */
static bool read_piece(struct asked *a)
{
    const size_t most = QN_LOGS_REPLY_MAX - 2 * ENTRY_MAX;
    a->piece_end = a->body.len + PIECE_BYTES < most ? a->body.len + PIECE_BYTES : most;
    qn_logs_read(a->api->telemetry->logs, &a->query.next, a->kept.last, &a->query.filter,
                 write_entry, a);
    return a->query.next <= a->kept.last && a->body.len < most;
}

static void read_rest(void *ctx)
{
    while (read_piece(ctx))
        ;
}

static void asked_free(struct asked *a)
{
    qn_buf_deinit(&a->body);
    qn_log_query_deinit(&a->query);
    free(a);
}

static void answer(void *ctx)
{
    struct asked *a = ctx;
    if (qn_waiting_end(&a->client, NULL)) {
        qn_jw_arr_end(&a->w);
        qn_jw_ki64(&a->w, "first_seq", a->kept.first);
        qn_jw_ki64(&a->w, "last_seq", a->query.next - 1);
        qn_jw_kstr(&a->w, "log_id", qn_logs_id(a->api->telemetry->logs));
        qn_jw_obj_end(&a->w);
        qn_http_reply_taking(a->client.http, 200, "application/json", &a->body);
    }
    asked_free(a);
}

void qn_api_logs(const struct qn_watch_api *api, struct qn_http *h, const char *id)
{
    struct qn_log_wish wish = {.lines = LINES_DEFAULT};
    struct qn_error e = {0};
    struct asked *a = qn_xcalloc(1, sizeof *a);
    (void)id;
    a->api = api;
    qn_buf_init(&a->body, QN_LOGS_REPLY_MAX);
    qn_auth_caller(api->serving->auth, h, &a->caller);
    if (qn_log_wish_read(query_of, h, &wish, &e) ||
        qn_log_query_init(api, &a->caller, &wish, &a->query, &e)) {
        qn_answer_error(h, &e);
        asked_free(a);
        return;
    }
    a->w = qn_jw_to(&a->body);
    a->kept = qn_logs_range(api->telemetry->logs);
    qn_jw_obj(&a->w);
    qn_jw_key(&a->w, "entries");
    qn_jw_arr(&a->w);
    qn_waiting_begin(&a->client, h);
    if (read_piece(a))
        qn_loop_work(api->serving->loop, read_rest, answer, a);
    else
        answer(a);
}
