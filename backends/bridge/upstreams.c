/* See upstreams.h. */
#include "bridge/upstreams.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/str.h"
#include "bridge/hear.h"

#include <stdio.h>
#include <string.h>

enum { NAMES_ARENA_MAX = 1024 * 1024, MODEL_BYTES_MAX = 512, CONTEXT_MAX = 1 << 30 };

/* The name for messages: "https://host:8000/v1" becomes host:8000. */
static void name_host(const char *url, char out[static 256])
{
    const char *host = strstr(url, "://");
    host = host ? host + 3 : url;
    snprintf(out, 256, "%.*s", (int)strcspn(host, "/"), host);
}

void qn_upstreams_init(struct qn_ups *u, struct qn_exchanges *xs, const struct qn_remote *def)
{
    *u = (struct qn_ups){.xs = xs, .arena = qn_arena_new(NAMES_ARENA_MAX)};
    u->balance.n = def->n;
    for (size_t i = 0; i < def->n; i++) {
        const struct qn_remote_upstream *d = &def->v[i];
        bool asks = def->flavour == QN_FLAVOUR_AUTO;
        u->v[i] = (struct qn_up){
            .all = u,
            .url = d->url,
            .key = d->key,
            .ca_file = def->ca_file,
            .to = {.api = QN_API_OPENAI,
                   .flavour = asks ? QN_FLAVOUR_OPENAI : def->flavour,
                   .model = d->model},
            .asks_flavour = asks,
            .asks_model = d->model == NULL,
        };
        u->balance.v[i].weight = d->weight;
        name_host(d->url, u->v[i].who);
        qn_buf_init(&u->v[i].answer, QN_PROBE_BYTES_MAX);
        if (d->key && qn_str_starts(d->url, "http://") && !strstr(d->url, "//127.0.0.1") &&
            !strstr(d->url, "//localhost"))
            qn_warn("bridge",
                    "upstream=%s: its key is sent unencrypted because its address is http",
                    u->v[i].who);
    }
}

void qn_upstreams_deinit(struct qn_ups *u)
{
    for (size_t i = 0; i < u->balance.n; i++)
        qn_buf_deinit(&u->v[i].answer);
    qn_arena_free(u->arena);
}

static void step(struct qn_up *u, enum qn_breaker_event ev)
{
    struct qn_breaker *b = &u->all->balance.v[u - u->all->v].breaker;
    enum qn_breaker_state before = b->state;
    qn_breaker_step(b, ev, qn_now_ms());
    if (b->state != before)
        qn_info("bridge", "upstream=%s breaker=%s pause_ms=%lld%s%s", u->who,
                qn_breaker_state_name(b->state),
                (long long)(b->state == QN_BREAKER_OPEN ? b->pause_ms : 0),
                u->error.code ? " message=" : "", u->error.code ? u->error.message : "");
}

void qn_upstream_hide_key(const struct qn_up *u, struct qn_error *e)
{
    size_t n = u->key ? strlen(u->key) : 0;
    for (char *at = e->message; n && (at = strstr(at, u->key)); at += n)
        memset(at, '*', n);
}

void qn_upstream_note(struct qn_up *u, bool good, const struct qn_error *why)
{
    if (u->all->own)
        return;
    u->error = good || !why ? (struct qn_error){0} : *why;
    step(u, good ? QN_BREAKER_SUCCESS : QN_BREAKER_FAILURE);
}

/* ---- Lists of models ---- */

static const char *string_of(const struct qn_jref *at, const char *name)
{
    struct qn_jref v = qn_json_get(at, name);
    return qn_json_raw_str(&v);
}

/* The maximum context, in the forms that different servers use; 0: not reported. */
static int64_t context_of(const struct qn_jref *model)
{
    static const char *const members[] = {"max_model_len", "n_ctx", "context_length",
                                          "max_context_window", "n_ctx_train"};
    struct qn_jref meta = qn_json_get(model, "meta");
    const struct qn_jref *places[] = {model, &meta};
    for (size_t p = 0; p < 2; p++)
        for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
            struct qn_jref v = qn_json_get(places[p], members[i]);
            int64_t n;
            if (qn_json_type(&v) == QN_JSON_NUMBER && !qn_json_i64(&v, 1, CONTEXT_MAX, &n, NULL))
                return n;
        }
    return 0;
}

static qn_err choose_model(struct qn_up *u, const struct qn_jref *list, struct qn_jref *chosen,
                           struct qn_error *e)
{
    struct qn_jref it;
    struct qn_buf names;
    size_t n = qn_json_count(list);
    *chosen = (struct qn_jref){0};
    if (u->asks_model && n == 0)
        return qn_fail(e, QN_ENOTFOUND, "%s lists no models: say which one is meant (\"model\")",
                       u->who);
    qn_buf_init(&names, QN_ERROR_MESSAGE_MAX / 2);
    for (bool more = qn_json_first(list, &it); more; more = qn_json_next(&it)) {
        const char *id = string_of(&it, "id");
        qn_buf_fmt(&names, "%s%s", names.len ? ", " : "", id);
        if (u->asks_model ? n == 1 : qn_str_eq(id, u->to.model))
            *chosen = it;
    }
    qn_err err = QN_OK;
    if (u->asks_model && n > 1)
        err = qn_fail(e, QN_EINVAL, "%s has several models, say which one is meant (\"model\"): %s",
                      u->who, qn_buf_cstr(&names));
    if (!err && n && !chosen->node)
        qn_warn("bridge", "upstream=%s model=\"%s\": the server does not list this model", u->who,
                u->to.model);
    qn_buf_deinit(&names);
    return err;
}

static qn_err take_list(struct qn_up *u, struct qn_error *e)
{
    struct qn_json *doc = NULL;
    struct qn_error why = {0};
    if (qn_json_parse(qn_buf_cstr(&u->answer), u->answer.len, &doc, &why))
        return qn_fail(e, QN_EFORMAT, "%s sent a list of models that is not valid JSON: %.300s",
                       u->who, why.message);
    struct qn_jref root = qn_json_root(doc), list = qn_json_get(&root, "data"), model;
    qn_err err = choose_model(u, &list, &model, e);
    const char *id = string_of(&model, "id");
    if (!err && u->asks_model) {
        if (!*id || strlen(id) > MODEL_BYTES_MAX)
            err = qn_fail(e, QN_EFORMAT, "%s lists a model without a valid name", u->who);
        else if (!qn_str_eq(u->to.model, id))
            u->to.model = qn_arena_strdup(u->all->arena, id);
    }
    if (!err && u->asks_flavour)
        u->to.flavour = qn_flavour_of_owner(string_of(&model, "owned_by"));
    if (!err && model.node)
        u->context = context_of(&model);
    qn_json_free(doc);
    return err;
}

/* ---- Probes ---- */

static qn_err probe_data(void *ctx, int status, const char *content_type, const void *p, size_t n)
{
    struct qn_up *u = ctx;
    (void)status;
    (void)content_type;
    return qn_buf_add(&u->answer, p, n);
}

/* A server without a list of models is usable if its model's name is known. A server that is
 * unavailable or rejects the key is not. */
static qn_err judge(struct qn_up *u, int status, const struct qn_error *broken, struct qn_error *e)
{
    if (broken && u->answer.overflow)
        return qn_fail(e, QN_EFORMAT, "%s sent a list of models of more than %d MiB", u->who,
                       QN_PROBE_BYTES_MAX >> 20);
    if (broken)
        return qn_fail(e, broken->code, "%s: %.700s", u->who, broken->message);
    if (status == 200)
        return take_list(u, e);
    if ((status == 404 || status == 405 || status == 501) && u->to.model)
        return QN_OK;
    qn_err err = qn_hear_status(status, u->answer.data, u->answer.len, u->who, e);
    if (status == 401 || status == 403)
        err = e->code = QN_EINVAL; /* a retry would not help */
    return err;
}

static void probe_end(void *ctx, int status, const struct qn_error *broken)
{
    struct qn_up *u = ctx;
    struct qn_error why = {0};
    u->probe = NULL;
    qn_err err = judge(u, status, broken, &why);
    qn_buf_clear(&u->answer);
    qn_upstream_hide_key(u, &why);
    qn_upstream_note(u, err == QN_OK, &why);
}

void qn_upstream_probe(struct qn_up *u)
{
    static const struct qn_exchange_events events = {probe_data, probe_end};
    char url[QN_REMOTE_URL_MAX + 16];
    struct qn_error why = {0};
    snprintf(url, sizeof url, "%s/models", u->url);
    const struct qn_exchange_request rq = {
        .url = url,
        .key = u->key,
        .ca_file = u->ca_file,
        .connect_ms = QN_UPSTREAM_CONNECT_MS,
        .silence_ms = QN_PROBE_SILENCE_MS,
        .total_ms = QN_PROBE_TOTAL_MS,
    };
    qn_buf_clear(&u->answer);
    if (qn_exchange_begin(u->all->xs, &rq, &events, u, &u->probe, &why))
        qn_upstream_note(u, false, &why);
}

void qn_upstreams_probe_due(struct qn_ups *u, int64_t now_ms)
{
    for (size_t i = 0; i < u->balance.n; i++)
        if (qn_breaker_due(&u->balance.v[i].breaker, now_ms) && !u->v[i].probe) {
            step(&u->v[i], QN_BREAKER_PROBE);
            qn_upstream_probe(&u->v[i]);
        }
}

bool qn_upstreams_probing(const struct qn_ups *u)
{
    for (size_t i = 0; i < u->balance.n; i++)
        if (u->v[i].probe)
            return true;
    return false;
}
