/* What handlers of management requests share: reading the JSON object that a request carries, and
 * what depends on who asks. */
#include "api/api.h"

#include "access/auth.h"
#include "answers/answer.h"
#include "answers/members.h"
#include "api/waiting.h"
#include "base/buf.h"
#include "io/body.h"
#include "io/loop.h"

#include <stdlib.h>
#include <string.h>

enum { OPTION_MAX = 64 * 1024 };

qn_err qn_api_object(const char *text, size_t n, bool empty, struct qn_json **doc,
                     struct qn_error *e)
{
    struct qn_error why = {0};
    *doc = NULL;
    if (!n)
        return empty ? QN_OK
                     : qn_fail(e, QN_EFORMAT, "the request body is empty: a JSON object is needed");
    qn_err err = qn_json_parse(text, n, doc, &why);
    if (err)
        return qn_fail(e, QN_EFORMAT, "the request body is not valid JSON: %s", why.message);
    struct qn_jref root = qn_json_root(*doc);
    err = qn_json_type(&root) == QN_JSON_OBJECT
              ? qn_members_check(&root, e)
              : qn_fail(e, QN_EFORMAT, "the request body must be a JSON object");
    if (err) {
        qn_json_free(*doc);
        *doc = NULL;
    }
    return err;
}

qn_err qn_api_body(struct qn_http *h, bool empty, struct qn_json **doc, struct qn_error *e)
{
    size_t n;
    const char *body = qn_http_body(h, &n);
    *doc = NULL;
    if (n > QN_API_BODY_MAX)
        return qn_fail(e, QN_ELIMIT,
                       "the request body has %zu bytes: this endpoint takes at most %d", n,
                       QN_API_BODY_MAX);
    return qn_api_object(body, n, empty, doc, e);
}

/* A body in a worker's hands. */
struct large {
    const struct qn_serving *serving;
    const void *ctx;
    struct qn_waiting client;
    struct qn_body *body; /* its own */
    const char *text;     /* lent by body */
    size_t n;
    struct qn_json *doc;
    struct qn_error error;
    qn_api_body_fn fn;
};

static void read_large(void *ctx)
{
    struct large *x = ctx;
    (void)qn_api_object(x->text, x->n, false, &x->doc, &x->error); /* tell_large() sees it */
    qn_body_deinit(x->body);
}

static void free_large(void *ctx)
{
    struct large *x = ctx;
    qn_json_free(x->doc);
    free(x->body);
    free(x);
}

static void tell_large(void *ctx)
{
    struct large *x = ctx;
    struct qn_http *h = x->client.http;
    if (h) {
        qn_waiting_never_mind(&x->client);
        if (!x->error.code && x->serving->stopping)
            qn_fail(&x->error, QN_EBUSY, "the server is stopping");
        struct qn_jref root = {0};
        if (!x->error.code)
            root = qn_json_root(x->doc);
        x->fn(x->ctx, h, x->error.code ? NULL : &root, &x->error);
    }
    qn_loop_work(x->serving->loop, free_large, NULL, x);
}

void qn_api_large_body(const struct qn_serving *serving, struct qn_http *h, qn_api_body_fn fn,
                       const void *ctx)
{
    size_t n;
    qn_http_body(h, &n);
    if (n <= QN_API_BODY_MAX) {
        struct qn_json *doc;
        struct qn_error e = {0};
        struct qn_jref root = {0};
        qn_err err = qn_api_body(h, false, &doc, &e);
        if (!err)
            root = qn_json_root(doc);
        fn(ctx, h, err ? NULL : &root, &e);
        qn_json_free(doc);
        return;
    }
    struct large *x = qn_xcalloc(1, sizeof *x);
    x->serving = serving;
    x->ctx = ctx;
    x->fn = fn;
    qn_waiting_begin(&x->client, h);
    x->body = qn_http_body_take(h, &x->text, &x->n);
    qn_loop_work(serving->loop, read_large, tell_large, x);
}

bool qn_api_sees_paths(const struct qn_serving *serving, struct qn_http *h)
{
    struct qn_caller caller;
    qn_auth_caller(serving->auth, h, &caller);
    return caller.admin;
}

bool qn_api_need_admin(const struct qn_serving *serving, struct qn_http *h)
{
    bool admin = qn_api_sees_paths(serving, h);
    if (!admin)
        qn_answer_plain(h, qn_verdict_status(QN_NO_ADMIN), qn_verdict_type(QN_NO_ADMIN),
                        qn_verdict_text(QN_NO_ADMIN));
    return admin;
}

const char *qn_api_shown_path(const char *path, bool paths)
{
    return path && !paths && *path == '/' ? strrchr(path, '/') + 1 : path;
}

void qn_api_options_write(struct qn_jw *w, const char *options, bool paths)
{
    struct qn_json *doc;
    struct qn_jref it;
    struct qn_buf text;
    if (paths) {
        qn_jw_members(w, options);
        return;
    }
    if (qn_json_parse(options, strlen(options), &doc, NULL))
        return;
    struct qn_jref root = qn_json_root(doc);
    qn_buf_init(&text, OPTION_MAX);
    for (bool more = qn_json_first(&root, &it); more; more = qn_json_next(&it)) {
        qn_buf_clear(&text);
        if (qn_json_print(&it, &text) || strchr(qn_buf_cstr(&text), '/'))
            continue;
        qn_jw_key(w, it.key);
        qn_jw_value(w, &it);
    }
    qn_buf_deinit(&text);
    qn_json_free(doc);
}
