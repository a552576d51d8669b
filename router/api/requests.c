/* GET internal/requests and internal/requests/{id}: inference requests that have ended, a client's
 * own, for admins all. POST internal/requests/capture: whether their texts are captured. */
#include "telemetry/requests.h"

#include "access/auth.h"
#include "answers/answer.h"
#include "api/api.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"
#include "telemetry/logs.h"

enum { LIMIT_DEFAULT = 200 };

/* The owner whose requests the client may see; NULL: all. */
static const char *owner_of(const struct qn_caller *caller)
{
    return caller->admin ? NULL : caller->owner;
}

static void write_ms(struct qn_jw *w, const char *key, int64_t ms)
{
    if (ms < 0)
        qn_jw_knull(w, key);
    else
        qn_jw_ki64(w, key, ms);
}

static void write_text(struct qn_jw *w, const char *key, const char *text)
{
    qn_jw_kstr(w, key, *text ? text : NULL);
}

static void write_facts(struct qn_jw *w, const struct qn_request_facts *f, bool captured)
{
    qn_jw_ki64(w, "seq", f->seq);
    qn_jw_kstr(w, "id", f->id);
    qn_jw_kstr(w, "client", f->client);
    qn_jw_kstr(w, "path", f->path);
    qn_jw_kstr(w, "task", f->task);
    write_text(w, "model", f->model);
    qn_jw_kbool(w, "stream", f->stream);
    qn_jw_kstr(w, "end", qn_request_end_name(f->end));
    if (f->status)
        qn_jw_ki64(w, "status", f->status);
    else
        qn_jw_knull(w, "status");
    write_text(w, "error", f->error);
    qn_jw_ki64(w, "arrived", f->arrived_ms);
    qn_jw_ki64(w, "ms", f->ms);
    write_ms(w, "queued_ms", f->queued_ms);
    write_ms(w, "first_ms", f->first_ms);
    qn_jw_ki64(w, "prompt", f->prompt);
    qn_jw_ki64(w, "cached", f->cached);
    qn_jw_ki64(w, "output", f->output);
    qn_jw_kf64(w, "tokens_s", f->tokens_s);
    qn_jw_kbool(w, "captured", captured);
}

static void write_capture(struct qn_jw *w, struct qn_requests *list)
{
    struct qn_capture_state s = qn_requests_capture_state(list, qn_now_ms());
    qn_jw_obj(w);
    qn_jw_kbool(w, "on", s.on);
    qn_jw_ki64(w, "bytes", s.limit);
    qn_jw_ki64(w, "used", s.used);
    qn_jw_ki64(w, "left_ms", s.left_ms);
    qn_jw_ki64(w, "stays_ms", s.stays_ms);
    qn_jw_obj_end(w);
}

static qn_err read_number(struct qn_http *h, const char *name, int64_t min, int64_t max,
                          int64_t *out, struct qn_error *e)
{
    const char *text = qn_http_query(h, name);
    if (text && (!qn_parse_i64(text, out) || *out < min || *out > max))
        return qn_fail_param(e, QN_EINVAL, name, "%s: expected a whole number from %lld to %lld",
                             name, (long long)min, (long long)max);
    return QN_OK;
}

/* The number after which the newest `limit` requests of this owner begin, at least `after`. */
static int64_t newest(struct qn_requests *list, const char *owner, int64_t after, int64_t limit)
{
    int64_t seq = qn_requests_last(list), now_ms = qn_now_ms();
    int64_t least = seq - QN_REQUESTS_KEPT > after ? seq - QN_REQUESTS_KEPT : after;
    for (; seq > least && limit > 0; seq--)
        limit -= qn_requests_at(list, seq, owner, NULL, NULL, now_ms) != NULL;
    return seq;
}

static void answer_list(const struct qn_watch_api *api, struct qn_http *h, const char *owner,
                        int64_t after, int64_t limit)
{
    struct qn_requests *list = api->telemetry->requests;
    int64_t last = qn_requests_last(list), now_ms = qn_now_ms();
    struct qn_buf body;
    qn_buf_init(&body, QN_API_REPLY_MAX);
    struct qn_jw w = qn_jw_to(&body);
    qn_jw_obj(&w);
    qn_jw_key(&w, "requests");
    qn_jw_arr(&w);
    for (int64_t seq = newest(list, owner, after, limit) + 1; seq <= last; seq++) {
        struct qn_captured text, reply;
        const struct qn_request_facts *f =
            qn_requests_at(list, seq, owner, &text, &reply, now_ms);
        if (!f)
            continue;
        qn_jw_obj(&w);
        write_facts(&w, f, text.text || reply.text);
        qn_jw_obj_end(&w);
    }
    qn_jw_arr_end(&w);
    qn_jw_ki64(&w, "last_seq", last);
    qn_jw_kstr(&w, "log_id", qn_logs_id(api->telemetry->logs));
    qn_jw_key(&w, "capture");
    write_capture(&w, list);
    qn_jw_obj_end(&w);
    qn_answer_json(h, 200, &body);
    qn_buf_deinit(&body);
}

void qn_api_requests(const struct qn_watch_api *api, struct qn_http *h, const char *id)
{
    struct qn_caller caller;
    struct qn_error e = {0};
    int64_t after = 0, limit = LIMIT_DEFAULT;
    (void)id;
    qn_auth_caller(api->serving->auth, h, &caller);
    if (read_number(h, "after", 0, INT64_MAX - 1, &after, &e) ||
        read_number(h, "limit", 0, QN_REQUESTS_KEPT, &limit, &e))
        qn_answer_error(h, &e);
    else
        answer_list(api, h, owner_of(&caller), after, limit);
}

/* Writes a captured text: without its characters if it is not UTF-8, such as sound. */
static void write_captured(struct qn_jw *w, const char *key, const struct qn_captured *c)
{
    size_t n = c->text ? qn_utf8_whole(c->text, c->n) : 0;
    qn_jw_key(w, key);
    qn_jw_obj(w);
    if (c->text && qn_utf8_valid(c->text, n)) {
        qn_jw_key(w, "text");
        qn_jw_strn(w, c->text, n);
    } else {
        qn_jw_knull(w, "text");
    }
    qn_jw_ki64(w, "bytes", c->bytes);
    qn_jw_kbool(w, "cut", (int64_t)n < c->bytes);
    qn_jw_obj_end(w);
}

void qn_api_request(const struct qn_watch_api *api, struct qn_http *h, const char *id)
{
    struct qn_requests *list = api->telemetry->requests;
    struct qn_caller caller;
    struct qn_captured text, reply;
    struct qn_error e = {0};
    qn_auth_caller(api->serving->auth, h, &caller);
    int64_t seq = qn_requests_find(list, id);
    const struct qn_request_facts *f =
        seq ? qn_requests_at(list, seq, owner_of(&caller), &text, &reply, qn_now_ms()) : NULL;
    if (!f) {
        qn_fail_param(&e, QN_ENOTFOUND, "id",
                      "there is no request '%.40s' among the last %d that have ended", id,
                      QN_REQUESTS_KEPT);
        qn_answer_error(h, &e);
        return;
    }
    struct qn_buf body;
    qn_buf_init(&body, QN_API_REPLY_MAX);
    struct qn_jw w = qn_jw_to(&body);
    qn_jw_obj(&w);
    write_facts(&w, f, text.text || reply.text);
    if (text.text || reply.text) {
        write_captured(&w, "body", &text);
        write_captured(&w, "reply", &reply);
    }
    qn_jw_obj_end(&w);
    qn_http_set_header(h, "Cache-Control", "no-store");
    qn_answer_json(h, 200, &body);
    qn_buf_deinit(&body);
}

/* A switch of capturing, as requested. */
struct wish {
    bool on;
    int64_t bytes, minutes;
};

static qn_err read_wish(const struct qn_json *doc, struct wish *wish, struct qn_error *e)
{
    struct qn_jref root = qn_json_root(doc), it;
    *wish = (struct wish){.bytes = QN_REQUESTS_BYTES_DEFAULT,
                          .minutes = QN_REQUESTS_MINUTES_DEFAULT};
    for (bool more = qn_json_first(&root, &it); more; more = qn_json_next(&it))
        if (!qn_str_eq(it.key, "on") && !qn_str_eq(it.key, "bytes") &&
            !qn_str_eq(it.key, "minutes"))
            return qn_json_fail(&it, e, "is unknown: expected on, bytes, minutes");
    struct qn_jref on = qn_json_get(&root, "on"), bytes = qn_json_get(&root, "bytes"),
                   minutes = qn_json_get(&root, "minutes");
    qn_err err = qn_json_bool(&on, &wish->on, e);
    if (!err)
        err = qn_json_i64_opt(&bytes, QN_REQUESTS_BYTES_MIN, QN_REQUESTS_BYTES_MAX, &wish->bytes,
                              e);
    if (!err)
        err = qn_json_i64_opt(&minutes, 1, QN_REQUESTS_MINUTES_MAX, &wish->minutes, e);
    return err;
}

void qn_api_requests_capture(const struct qn_watch_api *api, struct qn_http *h, const char *id)
{
    struct qn_requests *list = api->telemetry->requests;
    struct qn_json *doc;
    struct qn_error e = {0};
    struct wish wish;
    (void)id;
    qn_err err = qn_api_body(h, false, &doc, &e);
    if (!err)
        err = read_wish(doc, &wish, &e);
    qn_json_free(doc);
    if (err) {
        qn_answer_error(h, &e);
        return;
    }
    if (wish.on)
        qn_requests_capture_on(list, wish.bytes, wish.minutes, qn_now_ms());
    else
        qn_requests_capture_off(list);
    qn_info("requests", "capture=%s bytes=%lld minutes=%lld", wish.on ? "on" : "off",
            wish.on ? (long long)wish.bytes : 0, wish.on ? (long long)wish.minutes : 0);
    struct qn_buf body;
    qn_buf_init(&body, QN_API_REPLY_MAX);
    struct qn_jw w = qn_jw_to(&body);
    write_capture(&w, list);
    qn_answer_json(h, 200, &body);
    qn_buf_deinit(&body);
}
