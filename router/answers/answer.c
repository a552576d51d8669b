/* Maps error codes to HTTP, see answer.h. */
#include "answers/answer.h"

#include "access/auth.h"
#include "answers/hide_paths.h"
#include "base/rand.h"
#include "base/str.h"

#include <stdio.h>
#include <string.h>

/* One row per error code. status, type and code: for an error of the request itself. loading: the
 * status if the error occurred while the request's model was being loaded. */
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

/* Anthropic's types by status, https://docs.anthropic.com/en/api/errors. */
static const struct {
    int status;
    const char *type;
} anthropic_types[] = {
    {401, "authentication_error"}, {402, "billing_error"},     {403, "permission_error"},
    {404, "not_found_error"},      {413, "request_too_large"}, {429, "rate_limit_error"},
    {503, "overloaded_error"},     {504, "timeout_error"},     {529, "overloaded_error"},
};

enum { BODY_MAX = 64 * 1024, MODEL_SHOWN_MAX = 1024 };

/* An error with all values that error bodies can have; each family (family.h) writes some of
 * them. */
struct saying {
    int status;
    const char *type, *code, *message;
    const char *param, *model, *path, *id; /* NULL: none */
    const char *words; /* the message for families that have room for one string only */
    const struct qn_crash_report *crash_report; /* NULL: none */
};

static qn_err code_of(const struct qn_problem *p)
{
    return p->error->code < QN_ERR_COUNT ? p->error->code : QN_EINTERNAL;
}

/* A load that fails because of one of the model's options: the model itself may be valid. */
static bool is_about_option(const struct qn_problem *p)
{
    return p->loading && *p->error->param && !qn_str_eq(p->error->param, "model") &&
           table[code_of(p)].loading == 500 && table[code_of(p)].status < 500;
}

int qn_problem_status(const struct qn_problem *p)
{
    if (p->status)
        return p->status;
    if (is_about_option(p))
        return table[QN_ECONFLICT].status;
    return p->loading ? table[code_of(p)].loading : table[code_of(p)].status;
}

void qn_problem_adapt(struct qn_problem *p, const struct qn_profile *profile, enum qn_family family)
{
    if (p->status || p->loading || (family != profile->family && family != profile->chat_family))
        return;
    for (size_t i = 0; i < QN_PROFILE_STATUSES_MAX && profile->statuses[i].error; i++)
        if (profile->statuses[i].error == p->error->code) {
            p->status = profile->statuses[i].status;
            p->code = profile->statuses[i].code;
        }
}

void qn_problem_words(const struct qn_problem *p, char out[static QN_CRASH_REPORT_WORDS_MAX])
{
    qn_crash_report_words(p->crash_report, p->error, out);
}

static const char *anthropic_type(int status)
{
    for (size_t i = 0; i < sizeof anthropic_types / sizeof *anthropic_types; i++)
        if (anthropic_types[i].status == status)
            return anthropic_types[i].type;
    return status < 500 ? "invalid_request_error" : "api_error";
}

static const char *openai_type(int status)
{
    if (status >= 500)
        return "server_error";
    return status == 404 ? "not_found_error" : "invalid_request_error";
}

static void write_anthropic(const struct saying *s, struct qn_jw *w)
{
    char id[QN_REQUEST_ID_DIGITS + 1], whole[QN_REQUEST_ID_DIGITS + 8];
    if (!s->id)
        qn_random_hex(id, QN_REQUEST_ID_DIGITS);
    snprintf(whole, sizeof whole, "req_%.*s", QN_REQUEST_ID_DIGITS, s->id ? s->id : id);
    qn_jw_kstr(w, "type", "error");
    qn_jw_key(w, "error");
    qn_jw_obj(w);
    qn_jw_kstr(w, "type", anthropic_type(s->status));
    /* Clients search for these words to detect that the conversation is too long. */
    if (qn_str_eq(s->code, "context_length_exceeded")) {
        char text[QN_ERROR_MESSAGE_MAX + 32];
        snprintf(text, sizeof text, "prompt is too long: %s", s->message);
        qn_jw_kstr(w, "message", text);
    } else {
        qn_jw_kstr(w, "message", s->words);
    }
    qn_jw_obj_end(w);
    qn_jw_kstr(w, "request_id", whole);
}

static void write_error(const struct saying *s, enum qn_family family, struct qn_jw *w)
{
    qn_jw_obj(w);
    qn_jw_kstr(w, "message", s->message);
    qn_jw_kstr(w, "type", family == QN_FAMILY_ENGINES ? openai_type(s->status) : s->type);
    qn_jw_kstr(w, "param", s->param);
    if (family == QN_FAMILY_NUMBER)
        qn_jw_ki64(w, "code", s->status);
    else
        qn_jw_kstr(w, "code", s->code);
    if (s->model)
        qn_jw_kstr(w, "requested_model", s->model);
    if (s->path)
        qn_jw_kstr(w, "path", s->path);
    if (s->crash_report) {
        qn_jw_key(w, "details");
        qn_jw_obj(w);
        qn_crash_report_members(s->crash_report, w);
        qn_jw_obj_end(w);
    }
    qn_jw_obj_end(w);
}

static void write_body(const struct saying *s, enum qn_family family, struct qn_buf *out)
{
    struct qn_jw w = qn_jw_to(out);
    qn_jw_obj(&w);
    if (family == QN_FAMILY_ANTHROPIC) {
        write_anthropic(s, &w);
    } else if (family == QN_FAMILY_TEXT) {
        qn_jw_kstr(&w, "error", s->words);
    } else {
        if (family == QN_FAMILY_STATUS) {
            qn_jw_kstr(&w, "status", "error");
            qn_jw_kstr(&w, "message", s->message);
        }
        qn_jw_key(&w, "error");
        write_error(s, family, &w);
    }
    qn_jw_obj_end(&w);
}

/* Lemonade's clients tell by these codes what prevents a load: pinned models, or the rules of a
 * group. */
static void name_conflict(struct saying *s)
{
    static const struct {
        const char *param, *code;
    } known[] = {{"pinned", "slots_pinned_error"}, {"groups", "router_residency_conflict"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (qn_str_eq(s->param, known[i].param))
            s->type = s->code = known[i].code;
    s->param = "model";
}

void qn_problem_body(const struct qn_problem *p, enum qn_family family, struct qn_buf *out)
{
    qn_err code = is_about_option(p) ? QN_ECONFLICT : code_of(p);
    char words[QN_CRASH_REPORT_WORDS_MAX];
    qn_problem_words(p, words);
    struct saying s = {
        .status = qn_problem_status(p),
        .type = table[code].type,
        .code = table[code].code,
        .message = p->error->message,
        .words = words,
        .crash_report = p->crash_report,
        .param = *p->error->param ? p->error->param : NULL,
        .id = p->id,
    };
    bool load_error = p->loading && s.status == 500;
    bool about_model = p->loading || qn_str_eq(s.param, "model");
    if (load_error) {
        s.param = "model";
        s.type = s.code = "model_load_error";
    } else if (code == QN_ENOTFOUND && about_model) {
        s.type = s.code = "model_not_found";
    } else if (p->error->code == QN_ECONFLICT && p->loading) {
        name_conflict(&s);
    }
    if (p->type)
        s.type = p->type;
    if (p->code)
        s.code = p->code;
    if (about_model && p->model && strlen(p->model) <= MODEL_SHOWN_MAX)
        s.model = p->model;
    write_body(&s, family, out);
}

void qn_plain_body(enum qn_family family, int status, const char *type, const char *message,
                   const char *path, struct qn_buf *out)
{
    struct saying s = {.status = status,
                       .type = type,
                       .code = type,
                       .message = message,
                       .words = message,
                       .path = path};
    write_body(&s, family, out);
}

const struct qn_profile *qn_request_profile(const struct qn_http *h)
{
    const char *name = qn_http_header(h, "X-API-Profile");
    const struct qn_profile *p = name ? qn_profile_find(name) : NULL;
    return p ? p : qn_profile_at(qn_http_tag(h));
}

enum qn_family qn_request_family(const struct qn_http *h)
{
    enum qn_family family = qn_family_of(qn_request_profile(h), qn_http_path(h));
    /* /v1/models is a path of both APIs: OpenAI's family is the default, and this header shows that
     * a client expects Anthropic's. */
    if (family == QN_FAMILY_ERROR && qn_http_header(h, "anthropic-version"))
        family = QN_FAMILY_ANTHROPIC;
    return family;
}

void qn_problem_hide(struct qn_problem *p, struct qn_problem_hidden *h)
{
    h->error = *p->error;
    qn_hide_paths(p->error->message, h->error.message, sizeof h->error.message);
    p->error = &h->error;
    if (!p->crash_report)
        return;
    h->crash_report = *p->crash_report;
    h->crash_report.error = h->error;
    h->crash_report.log[0] = '\0';
    p->crash_report = &h->crash_report;
}

void qn_answer_problem(struct qn_http *h, const struct qn_problem *problem)
{
    struct qn_problem shown = *problem;
    struct qn_problem_hidden hidden;
    const struct qn_problem *p = &shown;
    struct qn_buf body;
    if (!qn_auth_sees_inside(h))
        qn_problem_hide(&shown, &hidden);
    qn_buf_init(&body, BODY_MAX);
    qn_problem_body(p, qn_request_family(h), &body);
    int status = qn_problem_status(p);
    if (status == 503 || status == 429)
        qn_http_set_header(h, "Retry-After", "1");
    qn_answer_json(h, status, &body);
    qn_buf_deinit(&body);
}

void qn_answer_error(struct qn_http *h, const struct qn_error *e)
{
    qn_answer_problem(h, &(struct qn_problem){.error = e});
}

void qn_answer_json(struct qn_http *h, int status, const struct qn_buf *body)
{
    static const char cut[] =
        "{\"error\":{\"message\":\"the answer is too long to be sent\",\"type\":"
        "\"server_error\",\"param\":null,\"code\":\"internal_error\"}}";
    if (body->overflow) { /* a truncated object is useless to a client */
        qn_http_reply(h, 500, "application/json", cut, sizeof cut - 1);
        return;
    }
    qn_http_reply(h, status, "application/json", body->len ? body->data : "", body->len);
}

void qn_answer_plain(struct qn_http *h, int status, const char *type, const char *message)
{
    struct qn_buf body;
    qn_buf_init(&body, BODY_MAX);
    qn_plain_body(qn_request_family(h), status, type, message,
                  status == 404 ? qn_http_path(h) : NULL, &body);
    qn_answer_json(h, status, &body);
    qn_buf_deinit(&body);
}
