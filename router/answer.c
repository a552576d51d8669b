/* Error codes as HTTP, see answer.h. */
#include "router/answer.h"

#include "base/str.h"

/* One row per error code. The first status and code hold for a request, the second status for the
 * same error met while its model was being loaded. */
static const struct {
    int status;
    const char *type, *code; /* code NULL: null in the body */
    int loading;
} table[QN_ERR_COUNT] = {
    [QN_OK] = {200, "", NULL, 200},
    [QN_EINVAL] = {400, "invalid_request_error", "invalid_value", 500},
    [QN_EFORMAT] = {400, "invalid_request_error", "invalid_json", 500},
    [QN_EUNSUPPORTED] = {400, "invalid_request_error", "unsupported", 500},
    [QN_ENOTFOUND] = {404, "not_found", "not_found", 500},
    [QN_ECONFLICT] = {409, "conflict", "conflict", 409},
    [QN_ELIMIT] = {413, "invalid_request_error", "too_large", 500},
    [QN_ECONTEXT] = {400, "invalid_request_error", "context_length_exceeded", 500},
    [QN_ENOMEM] = {503, "server_error", "out_of_memory", 503},
    [QN_EIO] = {500, "server_error", "io_error", 500},
    [QN_EBUSY] = {503, "overloaded", "overloaded", 503},
    [QN_ETIMEOUT] = {504, "server_error", "timeout", 504},
    [QN_ECHILD] = {502, "server_error", "model_process_failed", 500},
    [QN_ECANCELLED] = {503, "server_error", "cancelled", 503},
    [QN_EINTERNAL] = {500, "server_error", "internal_error", 500},
};

enum { BODY_MAX = 64 * 1024 };

static qn_err code_of(const struct qn_problem *p)
{
    return p->error->code < QN_ERR_COUNT ? p->error->code : QN_EINTERNAL;
}

int qn_problem_status(const struct qn_problem *p)
{
    return p->loading ? table[code_of(p)].loading : table[code_of(p)].status;
}

void qn_problem_write(const struct qn_problem *p, struct qn_jw *w)
{
    bool load_error = p->loading && qn_problem_status(p) == 500;
    const char *param = load_error ? "model" : p->error->param;
    const char *type = table[code_of(p)].type, *code = table[code_of(p)].code;
    if (load_error)
        type = code = "model_load_error";
    else if (code_of(p) == QN_ENOTFOUND && qn_str_eq(param, "model"))
        type = code = "model_not_found";
    qn_jw_obj(w);
    qn_jw_kstr(w, "message", p->error->message);
    qn_jw_kstr(w, "type", type);
    qn_jw_kstr(w, "param", *param ? param : NULL);
    qn_jw_kstr(w, "code", code);
    if (p->model && (p->loading || qn_str_eq(p->error->param, "model")))
        qn_jw_kstr(w, "requested_model", p->model);
    qn_jw_obj_end(w);
}

static void open_body(struct qn_jw *w, enum qn_family family, const char *message)
{
    qn_jw_obj(w);
    if (family == QN_FAMILY_STATUS) {
        qn_jw_kstr(w, "status", "error");
        qn_jw_kstr(w, "message", message);
    }
    qn_jw_key(w, "error");
}

void qn_problem_body(const struct qn_problem *p, enum qn_family family, struct qn_buf *out)
{
    struct qn_jw w = qn_jw_to(out);
    open_body(&w, family, p->error->message);
    qn_problem_write(p, &w);
    qn_jw_obj_end(&w);
}

void qn_answer_problem(struct qn_http *h, enum qn_family family, const struct qn_problem *p)
{
    struct qn_buf body;
    qn_buf_init(&body, BODY_MAX);
    qn_problem_body(p, family, &body);
    int status = qn_problem_status(p);
    if (status == 503 || status == 429)
        qn_http_set_header(h, "Retry-After", "1");
    qn_answer_json(h, status, &body);
    qn_buf_deinit(&body);
}

void qn_answer_error(struct qn_http *h, enum qn_family family, const struct qn_error *e)
{
    qn_answer_problem(h, family, &(struct qn_problem){.error = e});
}

void qn_answer_json(struct qn_http *h, int status, const struct qn_buf *body)
{
    static const char cut[] =
        "{\"error\":{\"message\":\"the answer is too long to be sent\",\"type\":"
        "\"server_error\",\"param\":null,\"code\":\"internal_error\"}}";
    if (body->overflow) { /* half an object helps nobody */
        qn_http_reply(h, 500, "application/json", cut, sizeof cut - 1);
        return;
    }
    qn_http_reply(h, status, "application/json", body->len ? body->data : "", body->len);
}

void qn_plain_body(enum qn_family family, const char *type, const char *message, const char *path,
                   struct qn_buf *out)
{
    struct qn_jw w = qn_jw_to(out);
    open_body(&w, family, message);
    qn_jw_obj(&w);
    qn_jw_kstr(&w, "message", message);
    qn_jw_kstr(&w, "type", type);
    qn_jw_knull(&w, "param");
    qn_jw_kstr(&w, "code", type);
    if (path)
        qn_jw_kstr(&w, "path", path);
    qn_jw_obj_end(&w);
    qn_jw_obj_end(&w);
}

void qn_answer_plain(struct qn_http *h, enum qn_family family, int status, const char *type,
                     const char *message)
{
    struct qn_buf body;
    qn_buf_init(&body, BODY_MAX);
    qn_plain_body(family, type, message, status == 404 ? qn_http_path(h) : NULL, &body);
    qn_answer_json(h, status, &body);
    qn_buf_deinit(&body);
}
