/* Shared by handlers of management requests: parsing a request's JSON object, and what depends on
 * the client's rights. */
#include "api/api.h"

#include "access/auth.h"
#include "answers/answer.h"
#include "answers/members.h"
#include "base/buf.h"

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
